"""The one order of a run: pooling, queues and evaluation all take it from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pooling.heavy import Integers, np, npt, pl

Ties = Literal["docid", "docid-asc", "file", "rank"]
Scores = Literal["float64", "float32"]

#: The names, and how a form shows them.
TIES: dict[str, str] = {
    "docid": "document id, falling (as trec_eval)",
    "docid-asc": "document id, rising",
    "file": "order of the file",
    "rank": "the file's rank",
}
SCORES: dict[str, str] = {"float64": "double", "float32": "single (as trec_eval 9)"}


#: The constant of reciprocal rank fusion.
RRF_K = 60


def order_run(
    frame: pl.DataFrame, *, ties: str = "docid", scores: str = "float64", depth: int | None = None
) -> pl.DataFrame:
    """Sort a run and number its documents: the same rows plus `position` (UInt32, 1-based in each query).

    Queries keep the order of their first rows; inside a query the score falls. Equal scores are settled by
    `ties`:

    - `docid`: document id falling, compared bytewise (trec_eval)
    - `docid-asc`: document id rising, bytewise
    - `file`: the order of the rows
    - `rank`: the score is not looked at; `rank` rises, then as `docid`

    `scores="float32"` compares scores in single precision (trec_eval 9, pytrec_eval). `depth` keeps the first
    documents of each query. Raises ValueError for unknown options and for `rank` without that column.

    >>> import polars as pl
    >>> run = pl.DataFrame({"query_id": ["1", "1"], "document_id": ["a", "b"], "score": [2.0, 2.0]})
    >>> order_run(run)["document_id"].to_list()
    ['b', 'a']
    """
    if ties not in TIES:
        raise ValueError(f"Unknown ties {ties!r}; known are {', '.join(TIES)}.")
    if scores not in SCORES:
        raise ValueError(f"Unknown scores {scores!r}; known are {', '.join(SCORES)}.")
    if ties == "rank" and "rank" not in frame.columns:
        raise ValueError("Ties by rank need the column rank; read the run with_rank=True.")
    starts = query_starts(frame)
    if len(starts) > 1 and frame["query_id"][starts].n_unique() < len(starts):
        frame = group_queries(frame)
        starts = query_starts(frame)
    score = compared_scores(frame, scores).to_numpy()
    if not in_order(score, starts, ties, lambda rows: compare_with_next(frame["document_id"], rows)):
        frame = sort_rows(frame, starts, ties, scores)
    return with_positions(frame, starts, depth)


def query_starts(frame: pl.DataFrame) -> Integers:
    """Row numbers where a query begins, for rows that stand together by query."""
    query = frame["query_id"]
    changes = query.slice(1) != query.head(max(frame.height - 1, 0))
    starts = np.flatnonzero(changes.to_numpy()) + 1
    return np.concatenate((np.zeros(min(frame.height, 1), dtype=np.int64), starts))


def group_queries(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of each query together, queries in the order of their first rows."""
    first = pl.col("_row").min().over("query_id")
    return frame.with_row_index("_row").sort(first, "_row").drop("_row")


def compared_scores(frame: pl.DataFrame, scores: str) -> pl.Series:
    return frame["score"].cast(pl.Float32) if scores == "float32" else frame["score"]


def in_order(
    score: npt.NDArray[np.floating[Any]],
    starts: Integers,
    ties: str,
    compare: Callable[[Integers], npt.NDArray[np.int8]],
) -> bool:
    """True where the rows are in the wanted order already: nearly all run files are, and sorting is dear.

    `compare(rows)` is -1, 0 or 1: whether the document id of a row is below, equal to or above the next one.
    """
    if ties == "rank":
        return False
    falls = score[1:] <= score[:-1]
    falls[starts[1:] - 1] = True
    if not bool(falls.all()):
        return False
    if ties == "file":
        return True
    equal = score[1:] == score[:-1]
    equal[starts[1:] - 1] = False
    if not equal.any():
        return True
    sign = compare(np.flatnonzero(equal))
    return bool((sign >= 0).all() if ties == "docid" else (sign <= 0).all())


def compare_with_next(document_ids: pl.Series, rows: Integers) -> npt.NDArray[np.int8]:
    """As `in_order` wants it. Polars compares strings bytewise in UTF-8, as strcmp does."""
    upper, lower = document_ids.gather(rows), document_ids.gather(rows + 1)
    sign: npt.NDArray[np.int8] = (upper > lower).to_numpy().view(np.int8) - (upper < lower).to_numpy().view(
        np.int8
    )
    return sign


def sort_rows(frame: pl.DataFrame, starts: Integers, ties: str, scores: str) -> pl.DataFrame:
    """Sort inside each query, leaving the queries where they are."""
    lengths = np.diff(np.append(starts, frame.height))
    number = pl.Series("_query", np.repeat(np.arange(len(starts), dtype=np.uint32), lengths))
    # Polars compares strings bytewise in UTF-8, as strcmp does.
    keys = {
        "docid": (["_query", "_score", "document_id"], [False, True, True]),
        "docid-asc": (["_query", "_score", "document_id"], [False, True, False]),
        "file": (["_query", "_score"], [False, True]),
        "rank": (["_query", "rank", "document_id"], [False, False, True]),
    }
    by, descending = keys[ties]
    keyed = frame.with_columns(number, compared_scores(frame, scores).alias("_score"))
    return keyed.sort(by, descending=descending, maintain_order=True).drop("_query", "_score")


def with_positions(frame: pl.DataFrame, starts: Integers, depth: int | None) -> pl.DataFrame:
    """Number the rows of each query from 1, and cut at `depth`."""
    lengths = np.diff(np.append(starts, frame.height))
    position = np.arange(1, frame.height + 1, dtype=np.uint32)
    position -= np.repeat(starts.astype(np.uint32), lengths)
    numbered = frame.with_columns(pl.Series("position", position))
    if depth is None or lengths.max(initial=0) <= depth:
        return numbered
    return numbered.filter(pl.col("position") <= depth)
