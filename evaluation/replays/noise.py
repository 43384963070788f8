"""Share of wrong labels in a replay; for the form, the interfaces and the command alike."""

from __future__ import annotations


def noise_problem(noise: float) -> str:
    """The error of a share of wrong labels; empty if it will do.

    >>> noise_problem(0.1)
    ''
    """
    if 0 <= noise < 0.5:
        return ""
    return (
        f"The noise is {noise:g}; it must be a share of wrong labels from 0 to below 0.5. With half of "
        "them wrong, labels say nothing; with more, they say the opposite."
    )
