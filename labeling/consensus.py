"""From the verdicts on a pair to its one label: rules on plain counts, without Django."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

# As many people who cannot judge a pair end its way to a label.
CANNOT_JUDGE_LIMIT = 2

Rule = Callable[[pl.DataFrame], pl.DataFrame]


def majority(votes: pl.DataFrame) -> pl.DataFrame:
    """Label each pair by the strict majority of its relevant and not relevant verdicts, if there are enough.

    Takes integer columns `relevant`, `not_relevant`, `cannot_judge` (verdicts on the pair) and `needed`;
    other columns stay. Adds `label` (Int32: 1, 0, or null without one) and `outcome`: `final`, `tie` (enough
    verdicts, no majority), `cannot_judge` (too few, and two people could not judge), `not_final` (too few).
    A verdict of "can't judge" does not vote.

    >>> votes = {"relevant": [2, 1], "not_relevant": [1, 1], "cannot_judge": [0, 0], "needed": [3, 2]}
    >>> majority(pl.DataFrame(votes))["outcome"].to_list()
    ['final', 'tie']
    """
    relevant, not_relevant = pl.col("relevant"), pl.col("not_relevant")
    enough = relevant + not_relevant >= pl.col("needed")
    is_final = enough & (relevant != not_relevant)
    return votes.with_columns(
        label=pl.when(is_final).then((relevant > not_relevant).cast(pl.Int32)),
        outcome=pl.when(is_final)
        .then(pl.lit("final"))
        .when(enough)
        .then(pl.lit("tie"))
        .when(pl.col("cannot_judge") >= CANNOT_JUDGE_LIMIT)
        .then(pl.lit("cannot_judge"))
        .otherwise(pl.lit("not_final")),
    )


RULES: dict[str, Rule] = {"majority": majority}


def rule_named(name: str) -> Rule:
    """The rule of this name; `ValueError` lists the known ones."""
    if name not in RULES:
        raise ValueError(f"There is no rule “{name}”. Choose one of {', '.join(RULES)}.")
    return RULES[name]
