"""Two runs compared by facts: the difference of their fact recall, its interval, and exact bounds.

The bounds hold for every verdict on the pairs that nobody judged. A document in the first K of both runs
moves both sides at once: it can give a fact to the two of them, and to none alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypedDict

from evaluation.facts.table import FactTable
from evaluation.measures.significance import IntervalSettings, difference_intervals
from pooling.heavy import Booleans, Floats, Integers, np, npt, pl

_PAIR = ["query", "document_id"]


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


@dataclass(frozen=True)
class ComparedRun:
    """One run for a comparison. place: (F,) of the first support of each fact of all queries, infinite where
    none is retrieved. top: query (its number), document_id, position and open (a bit for each fact of the
    query that the document may still support) of the first K of the largest K.
    """

    place: Floats
    top: pl.DataFrame


def open_facts(table: FactTable) -> pl.DataFrame:
    """query, document_id, open: see `ComparedRun`, of the documents that somebody judged for a fact."""
    bits = [row.tobytes() for one in table.queries for row in _packed(one.is_open)]
    documents = table.documents.sort("query", "row").select(_PAIR)
    return documents.with_columns(pl.Series("open", bits, dtype=pl.Binary))


def top_of(table: FactTable, known: pl.DataFrame, ordered: pl.DataFrame, deepest: int) -> pl.DataFrame:
    """`ComparedRun.top` of a run. known: of `open_facts`; a document that it lacks may support every fact."""
    numbers = pl.DataFrame(
        {
            "query_id": list(table.query_ids),
            "query": range(len(table.query_ids)),
            "every": [_packed(np.ones((1, len(some)), dtype=np.bool_)).tobytes() for some in table.facts],
        },
        schema={"query_id": pl.String, "query": pl.Int64, "every": pl.Binary},
    )
    rows = ordered.filter(pl.col("position") <= deepest).join(numbers, on="query_id")
    rows = rows.join(known, on=_PAIR, how="left")
    return rows.select(*_PAIR, pl.col("position").cast(pl.Int64), open=pl.coalesce("open", "every"))


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
    anybody judged a document for the fact; a query without such a fact is in no mean.
    """
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
        "low": _plain(limits[0][0]),
        "high": _plain(limits[1][0]),
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
    found = np.zeros((count, width), dtype=np.uint8)
    padded = b"".join(bits.ljust(width, b"\0") for bits in top["open"].to_list())
    rows = np.frombuffer(padded, dtype=np.uint8).reshape(-1, width)
    np.bitwise_or.at(found, top["query"].to_numpy(), rows)
    is_open: Booleans = np.unpackbits(found, axis=1, bitorder="little")[query, column] > 0
    return is_open


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
