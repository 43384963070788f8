"""The rules that make one label of several verdicts."""

from __future__ import annotations

import polars as pl
import pytest

from labeling.consensus import majority, rule_named


@pytest.mark.parametrize(
    ("relevant", "not_relevant", "cannot_judge", "needed", "label", "outcome"),
    [
        (1, 0, 0, 1, 1, "final"),  # one verdict where one is needed
        (0, 1, 0, 1, 0, "final"),
        (2, 1, 0, 3, 1, "final"),
        (1, 2, 0, 3, 0, "final"),
        (2, 1, 0, 1, 1, "final"),  # extra verdicts vote too
        (1, 1, 0, 1, None, "tie"),  # and may undo a majority
        (1, 1, 0, 2, None, "tie"),
        (2, 0, 0, 3, None, "not_final"),  # a majority that a third voice cannot turn still waits for it
        (1, 0, 1, 2, None, "not_final"),  # "can't judge" does not vote
        (0, 0, 1, 1, None, "not_final"),
        (0, 0, 2, 1, None, "cannot_judge"),
        (1, 0, 2, 1, 1, "final"),
        (1, 0, 2, 2, None, "cannot_judge"),
    ],
)
def test_the_majority_of_enough_verdicts_is_the_label(
    relevant: int, not_relevant: int, cannot_judge: int, needed: int, label: int | None, outcome: str
) -> None:
    counts = {
        "relevant": relevant,
        "not_relevant": not_relevant,
        "cannot_judge": cannot_judge,
        "needed": needed,
    }
    decided = majority(pl.DataFrame([counts])).row(0, named=True)
    assert (decided["label"], decided["outcome"]) == (label, outcome)


def test_no_votes_make_no_labels() -> None:
    columns = dict.fromkeys(("relevant", "not_relevant", "cannot_judge", "needed"), pl.Int64)
    decided = majority(pl.DataFrame(schema=columns))
    assert decided.schema["label"] == pl.Int32
    assert decided.is_empty()


def test_an_unknown_rule_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="Choose one of majority"):
        rule_named("coin")
