"""Signs of somebody's care in the stream of their verdicts, before any gold answer. Pure.

Verdicts are a frame, a row for each: `annotator`, `query_id`, `document_id`, `at` (Datetime), `relevant`
(Boolean, null for "can't judge"), `active_ms` (Int64, null where it was not measured). Nothing here blocks
anybody: each figure is a reason to look, and says from how many verdicts it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from labeling.consensus.shares import wilson
from labeling.items.reading import is_implausible, least_ms
from pooling.heavy import np, npt, pl

PAIR = ["query_id", "document_id"]

# A new session begins after a gap as long as this.
SESSION_GAP = timedelta(minutes=30)
# Places in a session: first, and the last of each group; the rest is one group.
GROUPS = ((1, 10), (11, 25), (26, 50), (51, 100))

RECENT = 20
# A spread below it is none.
ROUNDING = 1e-9

# One in a thousand honest annotators has so long a streak.
STREAK_CHANCE = 0.001
# A query that many people cannot judge is a bad query; fewer verdicts say nothing of it.
BAD_QUERY_SHARE = 0.2
BAD_QUERY_VERDICTS = 5


@dataclass(frozen=True)
class Streak:
    """The longest run of one verdict, and the chance of one as long."""

    length: int
    relevant: bool | None
    chance: float

    @property
    def is_odd(self) -> bool:
        return self.chance < STREAK_CHANCE


@dataclass(frozen=True)
class Speed:
    """Middle active time, and how many verdicts were faster than anybody can read what was shown."""

    median_ms: float | None
    recent: int
    too_fast: int
    timed: Annotated[int, "Verdicts with a measured time."]
    all_too_fast: Annotated[int, "Of the timed."]

    @property
    def has_collapsed(self) -> Annotated[bool, "Too many of the recent ones."]:
        """The last ones cannot have been read."""
        return is_implausible(self.too_fast, self.recent)

    @property
    def is_implausible(self) -> Annotated[bool, "Too many of the recent, or of all timed ones."]:
        """The last ones, or all of them, cannot have been read."""
        return self.has_collapsed or is_implausible(self.all_too_fast, self.timed)


def leniency(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Difference of each annotator's share of relevant from that of others on the same pairs.

    Columns: annotator, pairs (shared with others) of how many queries, own (share of relevant), others (mean
    share of relevant of the others on those pairs), difference, low and high (95 %, normal; null below two
    pairs). Pairs of one query have its reading in common: the variance is that over queries (Liang & Zeger,
    1986) where it is wider than that over pairs. Where every pair differs alike, no spread is seen, and what
    Wilson's interval leaves open of the share of others (of queries, if there are several) stands for it.

    >>> rows = [("ben", "d1", True), ("cleo", "d1", False), ("ben", "d2", True), ("cleo", "d2", True)]
    >>> frame = pl.DataFrame(rows, schema=["annotator", "document_id", "relevant"], orient="row")
    >>> leniency(frame.with_columns(query_id=pl.lit("q")))["difference"].to_list()
    [0.5, -0.5]
    """
    votes = verdicts.drop_nulls("relevant").with_columns(vote=pl.col("relevant").cast(pl.Float64))
    shared = votes.filter(pl.len().over(PAIR) >= 2)
    others = (pl.col("vote").sum().over(PAIR) - pl.col("vote")) / (pl.len().over(PAIR) - 1)
    compared = shared.with_columns(others=others).with_columns(step=pl.col("vote") - pl.col("others"))
    off = pl.col("step") - pl.col("step").mean().over("annotator")
    clusters = (
        compared.with_columns(off=off).group_by("annotator", "query_id").agg(pl.col("off").sum())
    ).group_by("annotator")
    spread = clusters.agg(queries=pl.len(), squares=(pl.col("off") ** 2).sum())
    many = pl.col("queries")
    over_queries = (pl.col("squares") * many / (many - 1)).sqrt() / pl.col("pairs")
    table = (
        compared.group_by("annotator")
        .agg(
            pairs=pl.len(),
            own=pl.col("vote").mean(),
            others=pl.col("others").mean(),
            difference=pl.col("step").mean(),
            error=pl.col("step").std() / pl.len().sqrt(),
        )
        .join(spread, on="annotator")
        .with_columns(
            unseen=pl.when(many > 1)
            .then(many)
            .otherwise("pairs")
            .map_elements(lambda cases: wilson(0, cases)[1], return_dtype=pl.Float64)
        )
        .with_columns(
            error=pl.when(many > 1).then(pl.max_horizontal("error", over_queries)).otherwise(pl.col("error"))
        )
        .with_columns(
            reach=pl.when(pl.col("error") > ROUNDING)
            .then(1.96 * pl.col("error"))
            .when(pl.col("error").is_not_null())
            .then((1 + pl.col("difference").abs()) * pl.col("unseen"))
        )
        .drop("error", "squares", "unseen")
    )
    low, high = pl.col("difference") - pl.col("reach"), pl.col("difference") + pl.col("reach")
    ends = {"low": low.clip(lower_bound=-1), "high": high.clip(upper_bound=1)}
    return table.with_columns(**ends).drop("reach").sort("annotator")


def longest_streak(verdicts: Sequence[bool], relevant_share: float) -> Streak:
    """The longest run in verdicts in the order in which they were given; "can't judge" left out.

    `relevant_share` is the share of relevant among everybody's verdicts. The chance is that of at least so
    long a run among as many verdicts that are each relevant with that share, one independent of the other: an
    upper bound, by the places where a run may begin. Pairs come shuffled within a query, so a long run is
    rarely the pool's doing; but a query without a relevant document does it, so look before you judge.
    """
    votes = np.asarray(verdicts, dtype=bool)
    if not len(votes):
        return Streak(0, None, 1.0)
    begins = np.flatnonzero(np.concatenate(([True], votes[1:] != votes[:-1])))
    lengths = np.diff(np.concatenate((begins, [len(votes)])))
    longest = int(lengths.argmax())
    length, relevant = int(lengths[longest]), bool(votes[begins[longest]])
    share = relevant_share if relevant else 1 - relevant_share
    chance = share**length * (1 + (len(votes) - length) * (1 - share))
    return Streak(length, relevant, min(1.0, chance))


def speed(active_ms: Sequence[int], characters: Sequence[int]) -> Speed:
    """Speed of somebody's answers, (n,) each in their order: active time, and length of what was shown."""
    times: npt.NDArray[np.float64] = np.asarray(active_ms, dtype=np.float64)
    if not len(times):
        return Speed(None, 0, 0, 0, 0)
    least = np.array([least_ms(length) for length in characters])
    fast = times < least
    recent = fast[-RECENT:]
    return Speed(float(np.median(times)), len(recent), int(recent.sum()), len(times), int(fast.sum()))


def relevant_by_position(verdicts: pl.DataFrame) -> pl.DataFrame:
    """The share of relevant by place in a session, over all annotators: tiredness and first impressions.

    Columns: first, last (place in the session, counted from 1; last is null in the open group), verdicts,
    share, low and high (Wilson, 95 %). A session ends with a pause of half an hour.
    """
    ordered = verdicts.drop_nulls("relevant").sort("annotator", "at")
    is_new = (pl.col("at").diff() > SESSION_GAP).fill_null(True).over("annotator")
    numbered = ordered.with_columns(session=is_new.cum_sum().over("annotator"))
    placed = numbered.with_columns(place=pl.int_range(1, pl.len() + 1).over("annotator", "session"))
    rows = []
    for first, last in (*GROUPS, (GROUPS[-1][1] + 1, None)):
        inside = placed.filter(pl.col("place").is_between(first, last or pl.col("place").max()))
        many, yes = inside.height, int(inside["relevant"].sum())
        low, high = wilson(yes, many) if many else (None, None)
        rows.append((first, last, many, yes / many if many else None, low, high))
    numbers, shares = ("first", "last", "verdicts"), ("share", "low", "high")
    table = pl.DataFrame(rows, schema=[*numbers, *shares], orient="row")
    return table.cast({**dict.fromkeys(numbers, pl.Int64), **dict.fromkeys(shares, pl.Float64)})


def hard_queries(verdicts: pl.DataFrame) -> pl.DataFrame:
    """query_id, verdicts, cannot_judge, share, is_bad (a fifth or more of five or more), the worst first."""
    could_not = pl.col("relevant").is_null()
    table = verdicts.group_by("query_id").agg(verdicts=pl.len(), cannot_judge=could_not.sum())
    share = pl.col("cannot_judge") / pl.col("verdicts")
    is_bad = (share >= BAD_QUERY_SHARE) & (pl.col("verdicts") >= BAD_QUERY_VERDICTS)
    named = table.with_columns(share=share, is_bad=is_bad).filter(pl.col("cannot_judge") > 0)
    return named.sort("share", "query_id", descending=[True, False])
