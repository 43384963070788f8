"""Two runs compared by facts: the difference of their fact recall, its interval, and exact bounds.

The bounds hold for every verdict on the pairs that nobody judged. A document in the first K of both runs
moves both sides at once: it can give a fact to the two of them, and to none alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, TypedDict

from evaluation.facts.results import FactEvaluation
from evaluation.facts.table import FactTable, RunPlaces
from evaluation.measures.intervals import IntervalSettings, difference_intervals
from evaluation.measures.significance import plain
from pooling.heavy import Booleans, Floats, Integers, np, npt, pl

_PAIR = ["query", "document_id"]
#: From more runs on, pairs are too many to be read.
MOST_RUNS = 10


class FactDifference(TypedDict):
    """Fact recall at one K of a run, of another, and the first less the second; None without a query."""

    k: int
    run: Annotated[float | None, "Fact recall of the run."]
    other: Annotated[float | None, "Fact recall of the run that it is compared with."]
    difference: Annotated[float | None, "The first less the second."]
    low: Annotated[float | None, "Interval over queries, drawn in pairs."]
    high: float | None
    bound_low: Annotated[float | None, "Whatever the verdicts on pairs that nobody judged."]
    bound_high: float | None
    queries: int


class FactComparison(FactDifference):
    """Two runs compared, with their names: `run` is of the first, `other` of the second."""

    first: Annotated[str, "The name of the run."]
    second: Annotated[str, "The name of the run that is subtracted."]


@dataclass(frozen=True)
class ComparedRun:
    """One run for a comparison. place: (F,) of the first support of each fact of all queries, infinite where
    none is retrieved. top: query (its number), document_id, position and open (a bit for each fact of the
    query that the document may still support) of the first K of the largest K."""

    place: Floats
    top: pl.DataFrame


def open_facts(table: FactTable) -> pl.DataFrame:
    """query, document_id, open: see `ComparedRun`, of the documents that somebody judged for a fact."""
    bits = [row.tobytes() for one in table.queries for row in _packed(one.is_open)]
    documents = table.documents.sort("query", "row").select(_PAIR)
    return documents.with_columns(pl.Series("open", bits, dtype=pl.Binary))


def top_of(table: FactTable, judged: pl.DataFrame, run: RunPlaces) -> pl.DataFrame:
    """`ComparedRun.top` of a run. judged: of `open_facts`; a document it lacks may support every fact."""
    every = [_packed(np.ones((1, len(some)), dtype=np.bool_)).tobytes() for some in table.facts]
    numbers = pl.DataFrame(
        {"query": range(len(every)), "every": every}, schema={"query": pl.Int64, "every": pl.Binary}
    )
    rows = run.top.join(judged, on=_PAIR, how="left", maintain_order="left")
    rows = rows.join(numbers, on="query", maintain_order="left")
    return rows.select(*_PAIR, "position", open=pl.coalesce("open", "every"))


def fact_comparisons(evaluation: FactEvaluation) -> list[FactComparison]:
    """Every pair of runs at each K of fact recall; of more than MOST_RUNS, each run with the first. Empty
    where there are no bounds, as for findable facts, and where a mean is not that of strict fact recall."""
    table, conventions = evaluation.table, evaluation.conventions
    counts_nothing = evaluation.order.zero_relevant == "zero" and evaluation.without_facts
    if conventions.denominator != "all" or conventions.partial or counts_nothing:
        return []
    judged = open_facts(table)
    runs = {
        name: ComparedRun(_first_supports(table, run), top_of(table, judged, run))
        for name, run in evaluation.placed.items()
    }
    pairs = list(combinations(runs, 2))
    pairs = pairs[: len(runs) - 1] if len(runs) > MOST_RUNS else pairs
    is_judged = table.fact_frame["judged"].to_numpy()
    return [
        {
            "first": first,
            "second": second,
            **compared_facts(
                (runs[first], runs[second]),
                k,
                evaluation.interval,
                query=table.fact_queries,
                is_judged=is_judged,
                skips_missing=evaluation.order.missing == "skip",
            ),
        }
        for first, second in pairs
        for name, k in evaluation.keys
        if name == "fact_recall" and k is not None
    ]


def _first_supports(table: FactTable, run: RunPlaces) -> Floats:
    """(F,) as in `ComparedRun`."""
    first: Floats = np.concatenate(
        [
            np.min(np.where(one.supports, places[:, None], np.inf), axis=0, initial=np.inf)
            for one, places in zip(table.queries, run.places, strict=True)
        ]
    )
    return first


def _packed(is_open: Booleans) -> npt.NDArray[np.uint8]:
    packed: npt.NDArray[np.uint8] = np.packbits(is_open, axis=1, bitorder="little")
    return packed


def compared_facts(
    runs: tuple[ComparedRun, ComparedRun],
    k: int,
    made: IntervalSettings,
    *,
    query: Integers,
    is_judged: Booleans,
    skips_missing: bool = False,
) -> FactDifference:
    """The difference at one K. query: (F,) the number of each fact's query, rising. is_judged: (F,) whether
    anybody judged a document for the fact; a query without such a fact is in no mean."""
    count = int(query[-1]) + 1 if len(query) else 0
    total = np.bincount(query, minlength=count).astype(np.float64)
    kept = np.bincount(query, weights=is_judged, minlength=count) > 0
    if skips_missing:
        for one in runs:
            kept &= np.isin(np.arange(count), one.top["query"].to_numpy())
    ours, theirs = (one.place <= k for one in runs)
    first, second = (one.top.filter(pl.col("position") <= k) for one in runs)
    only_ours = _open(first.join(second, on=_PAIR, how="anti"), query)
    only_theirs = _open(second.join(first, on=_PAIR, how="anti"), query)
    shared = _open(first.join(second, on=_PAIR, how="semi"), query)
    high, low = _most(ours, theirs, only_ours, shared), -_most(theirs, ours, only_theirs, shared)

    def means(values: Floats | Booleans) -> Floats:
        """(Q,) by query, of those that count."""
        sums = np.bincount(query, weights=values, minlength=count)[kept]
        result: Floats = sums / total[kept]
        return result

    differences = means(ours) - means(theirs)
    limits = difference_intervals(
        differences[:, None], samples=made["samples"], seed=made["seed"], level=made["level"]
    )
    return {
        "k": k,
        "run": _mean(means(ours)),
        "other": _mean(means(theirs)),
        "difference": _mean(differences),
        "low": plain(limits[0][0]),
        "high": plain(limits[1][0]),
        "bound_low": _mean(means(low)),
        "bound_high": _mean(means(high)),
        "queries": len(differences),
    }


def _most(ours: Booleans, theirs: Booleans, alone: Booleans, shared: Booleans) -> Floats:
    """(F,) the largest difference of a fact: 1 is held by the first alone, -1 by the second alone.

    An open document of the first alone gives it the fact and leaves the other as it is. One of both gives it
    to both, which helps where the second holds it alone.
    """
    most: Floats = np.where(ours | alone, 1.0 - theirs, np.where(shared, 0.0, -1.0 * theirs))
    return most


def _open(top: pl.DataFrame, query: Integers) -> Booleans:
    """(F,) whether one of these documents may still support the fact."""
    starts = np.searchsorted(query, query, side="left")
    column = np.arange(len(query)) - starts
    width = int(column.max(initial=0)) // 8 + 1
    count = int(query[-1]) + 1 if len(query) else 0
    merged = np.zeros((count, width), dtype=np.uint8)
    padded = b"".join(bits.ljust(width, b"\0") for bits in top["open"].to_list())
    rows = np.frombuffer(padded, dtype=np.uint8).reshape(-1, width)
    np.bitwise_or.at(merged, top["query"].to_numpy(), rows)
    is_open: Booleans = np.unpackbits(merged, axis=1, bitorder="little")[query, column] > 0
    return is_open


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
