"""How many labels a replay may tell wrong; for the form, the interfaces and the command alike."""

from __future__ import annotations


def noise_problem(noise: float) -> str:
    """What is wrong with a share of labels told wrong; nothing where it will do.

    >>> noise_problem(0.1)
    ''
    """
    if 0 <= noise < 0.5:
        return ""
    return (
        f"The noise is {noise:g}; it is a share of labels told wrong, 0 or more and below 0.5: with half of "
        "them wrong, labels say nothing, and with more the opposite."
    )
