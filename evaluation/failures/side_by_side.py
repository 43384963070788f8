"""Two runs of a report on one query: both lists with labels and texts, what one found and one missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluation.failures.missed_documents import Text, found_by, texts_of
from evaluation.failures.stored_breakdown import check_measure, check_runs, value_rows
from evaluation.models import Report
from evaluation.report_store.files import relevant_of, run_names
from labeling.qrels.releases import read_release
from pooling.formats.query_facts import known_weight, tags_of
from pooling.interface.problems import InputError
from pooling.models import Query
from pooling.runs.stored import read_stored_query

if TYPE_CHECKING:
    import polars as pl

RELEVANT, NOT_RELEVANT, UNJUDGED = "relevant", "not_relevant", "unjudged"
# A page shows no more places of a list.
MOST_PLACES = 100


@dataclass(frozen=True)
class Place:
    """One document in a list: its label, and its place in the other list (None: not retrieved there)."""

    rank: int
    document_id: str
    title: str
    text: str | None
    label: str
    relevance: int | None
    other: int | None
    only_here: bool


@dataclass(frozen=True)
class ListOfRun:
    """A run's first places for the query.

    recall: of the query at K, None where it does not count. depth: how many documents the run returns, None
    where the run is no longer stored. is_tied: whether the documents at K and behind it have equal scores.
    """

    run: str
    recall: float | None
    found: int
    depth: int | None
    places: Sequence[Place]
    is_tied: bool


@dataclass(frozen=True)
class Relevant:
    """A relevant document, where each of the two has it, and which other runs have it in their first K."""

    document_id: str
    title: str
    text: str | None
    relevance: int
    rank_a: int | None
    rank_b: int | None
    others: Sequence[tuple[str, int]]


@dataclass(frozen=True)
class SideBySide:
    """Two runs on one query at K; relevant documents by who has them in the first K."""

    query_id: str
    text: str
    narrative: str
    tags: Sequence[str]
    weight: float | None
    k: int
    a: ListOfRun
    b: ListOfRun
    only_a: Sequence[Relevant]
    only_b: Sequence[Relevant]
    both: Sequence[Relevant]
    neither: Sequence[Relevant]

    @property
    def relevant(self) -> int:
        """All relevant documents of the query."""
        return sum(len(part) for part in (self.only_a, self.only_b, self.both, self.neither))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without texts."""
        parts = ("only_a", "only_b", "both", "neither")
        return {
            "query": {
                "id": self.query_id,
                "text": self.text,
                "tags": list(self.tags),
                "weight": self.weight,
            },
            "k": self.k,
            "a": _plain_list(self.a),
            "b": _plain_list(self.b),
            "relevant": {name: [_plain_relevant(one) for one in getattr(self, name)] for name in parts},
        }


def side_by_side(report: Report, query_id: str, a: str | None, b: str | None, k: int) -> SideBySide:
    """Two runs on a query at a K of the report; constant database queries.

    Where only one is named, the other run with the highest recall of the query stands beside it; where none
    is, the first run is. `InputError` for a run or K that the report does not have; it is `missing` for a
    query without labels.
    """
    check_measure(report, "recall", k)
    check_runs(report, [a] if a else [], "a")
    check_runs(report, [b] if b else [], "b")
    recalls = _recalls(report, query_id, k)
    first, second = _two_runs(report, recalls, a, b)
    rows = relevant_of(report, [query_id]).to_dicts()
    labels = _labels(report, query_id)
    orders = {run: _order(report, run, query_id) for run in dict.fromkeys((first, second))}
    shown = {row["document_id"] for row in rows}
    for order in orders.values():
        if order is not None:
            shown |= set(order["document_id"].head(min(k, MOST_PLACES)).to_list())
    texts = texts_of(report, shown)
    lists = [
        _list_of(report, run, other, orders, recalls[run], labels, texts, rows, k)
        for run, other in ((first, second), (second, first))
    ]
    query = Query.objects.filter(collection_id=report.collection_id, external_id=query_id).first()
    metadata = query.metadata if query else {}
    parts = _parted(report, rows, first, second, texts, k)
    return SideBySide(
        query_id=query_id,
        text=query.text if query else "",
        narrative=query.narrative if query else "",
        tags=tags_of(metadata),
        weight=known_weight(metadata),
        k=k,
        a=lists[0],
        b=lists[1],
        **parts,
    )


def _recalls(report: Report, query_id: str, k: int) -> dict[str, float | None]:
    import polars as pl

    rows = value_rows(report, "recall", k, run_names(report)).filter(pl.col("query_id") == query_id)
    found = dict(rows.select("run", "value").collect().iter_rows())
    if not found:
        raise InputError(f"No query “{query_id}” of this report has a label.", field="query", missing=True)
    return found


def _two_runs(
    report: Report, recalls: Mapping[str, float | None], a: str | None, b: str | None
) -> tuple[str, str]:
    def best_but(left_out: str) -> str:
        others = [name for name in run_names(report) if name != left_out]
        return max(others, key=lambda name: recalls[name] or 0.0, default=left_out)

    if a and b and a != b:
        return a, b
    if b and not a:
        return best_but(b), b
    first = a or run_names(report)[0]
    return first, best_but(first)


def _labels(report: Report, query_id: str) -> dict[str, int]:
    import polars as pl

    held = read_release(report.release).filter(pl.col("query_id") == query_id)
    return dict(held.select("document_id", "relevance").iter_rows())


def _order(report: Report, name: str, query_id: str) -> pl.DataFrame | None:
    """The run's whole list for the query in the report's order; None where the run is no longer stored."""
    from pooling.ranking.ranking import order_run

    run = report.runs.filter(name=name).first()
    if run is None:
        return None
    conventions = report.options["conventions"]
    return order_run(read_stored_query(run, query_id), ties=conventions["ties"], scores=conventions["scores"])


def _list_of(
    report: Report,
    run: str,
    other: str,
    orders: Mapping[str, pl.DataFrame | None],
    recall: float | None,
    labels: Mapping[str, int],
    texts: Mapping[str, Text],
    rows: Sequence[Mapping[str, Any]],
    k: int,
) -> ListOfRun:
    own = f"rank_{run_names(report).index(run)}"
    found = sum(1 for row in rows if row[own] and row[own] <= k)
    order, compared = orders[run], orders[other]
    if order is None:
        return ListOfRun(run, recall, found, None, (), is_tied=False)
    elsewhere = {} if compared is None else dict(compared.select("document_id", "position").iter_rows())
    least = report.options["conventions"]["min_relevance"]
    places = []
    for document, position in order.head(min(k, MOST_PLACES)).select("document_id", "position").iter_rows():
        relevance, there = labels.get(document), elsewhere.get(document)
        held = texts.get(document, Text("", None))
        places.append(
            Place(
                rank=position,
                document_id=document,
                title=held.title,
                text=held.text,
                label=_label(relevance, least),
                relevance=relevance,
                other=there,
                only_here=there is None or there > k,
            )
        )
    by_score = report.options["conventions"]["ties"] != "rank"
    is_tied = by_score and order.height > k and bool(order["score"][k - 1] == order["score"][k])
    return ListOfRun(run, recall, found, order.height, places, is_tied)


def _label(relevance: int | None, least: int) -> str:
    if relevance is None or relevance < 0:  # pooled, but not judged
        return UNJUDGED
    return RELEVANT if relevance >= least else NOT_RELEVANT


def _parted(
    report: Report,
    rows: Sequence[Mapping[str, Any]],
    first: str,
    second: str,
    texts: Mapping[str, Text],
    k: int,
) -> dict[str, list[Relevant]]:
    """The relevant documents by who has them in the first k, highest label first, then best rank."""
    names = run_names(report)
    own, other = (f"rank_{names.index(run)}" for run in (first, second))
    parts: dict[str, list[Relevant]] = {"only_a": [], "only_b": [], "both": [], "neither": []}
    for row in rows:
        held = texts.get(row["document_id"], Text("", None))
        one = Relevant(
            document_id=row["document_id"],
            title=held.title,
            text=held.text,
            relevance=row["relevance"],
            rank_a=row[own],
            rank_b=row[other],
            others=found_by(row, names, k, (first, second)),
        )
        in_a, in_b = (bool(rank and rank <= k) for rank in (one.rank_a, one.rank_b))
        parts[("both" if in_b else "only_a") if in_a else ("only_b" if in_b else "neither")].append(one)
    for part in parts.values():
        part.sort(key=lambda one: (-one.relevance, _best(one), one.document_id))
    return parts


def _best(one: Relevant) -> float:
    return min((rank for rank in (one.rank_a, one.rank_b) if rank), default=float("inf"))


def _plain_list(held: ListOfRun) -> dict[str, Any]:
    return {
        "run": held.run,
        "recall": held.recall,
        "found": held.found,
        "depth": held.depth,
        "tied_at_k": held.is_tied,
        "documents": [
            {
                "rank": place.rank,
                "document_id": place.document_id,
                "title": place.title,
                "label": place.label,
                "relevance": place.relevance,
                "rank_in_other": place.other,
                "only_here": place.only_here,
            }
            for place in held.places
        ],
    }


def _plain_relevant(one: Relevant) -> dict[str, Any]:
    return {
        "document_id": one.document_id,
        "title": one.title,
        "relevance": one.relevance,
        "rank_a": one.rank_a,
        "rank_b": one.rank_b,
        "found_by": [{"run": run, "rank": rank} for run, rank in one.others],
    }
