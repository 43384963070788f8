"""Two runs of a report on one query: both lists with labels and texts, what one found and one missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from evaluation.failures.missed_documents import Text, finders_of, texts_of
from evaluation.failures.stored_breakdown import value_rows
from evaluation.models import Report
from evaluation.report_store.completing import complete_queries
from evaluation.report_store.files import check_measure, check_runs, relevant_of, run_names, stored_runs
from labeling.qrels.releases import read_release
from pooling.formats.query_facts import tags_of, weight_in
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.interface.results import PAGE_ONLY
from pooling.models import Query
from pooling.pools.serializers import Finder
from pooling.ranking.ranking import order_run
from pooling.runs.stored import read_stored_query

RELEVANT, NOT_RELEVANT, UNJUDGED = "relevant", "not_relevant", "unjudged"
# A page shows no more places of a list.
MOST_PLACES = 100


@dataclass(frozen=True)
class Place:
    """One document in a run's list."""

    rank: int
    document_id: str
    title: str
    text: Annotated[str | None, PAGE_ONLY]
    label: Annotated[str, Literal["relevant", "not_relevant", "unjudged"]]
    relevance: int | None
    # None: not retrieved there.
    rank_in_other: int | None
    only_here: Annotated[bool, "Not in the first K of the other."]


@dataclass(frozen=True)
class ListOfRun:
    """The first places of a run, at most 100."""

    run: str
    # At K; None where the query does not count.
    recall: float | None
    found: int
    # How many documents the run returns.
    depth: Annotated[int | None, "Null: the run is no longer stored."]
    documents: Sequence[Place]
    # Whether the documents at K and behind it have equal scores.
    tied_at_k: bool


@dataclass(frozen=True)
class Relevant:
    """A relevant document and where it came."""

    document_id: str
    title: str
    text: Annotated[str | None, PAGE_ONLY]
    relevance: int
    rank_a: int | None
    rank_b: int | None
    found_by: Annotated[Sequence[Finder], "Others that have it in their first K."]


class RelevantParts(TypedDict):
    """Relevant documents by which of the two has them in its first K."""

    only_a: Sequence[Relevant]
    only_b: Sequence[Relevant]
    both: Sequence[Relevant]
    neither: Sequence[Relevant]


class QueryResult(TypedDict):
    """The query of two lists."""

    id: str
    text: str
    tags: list[str]
    weight: float | None


class SideBySideResult(TypedDict):
    """Two runs on one query."""

    query: QueryResult
    k: int
    a: ListOfRun
    b: ListOfRun
    relevant: RelevantParts


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
        return sum(len(part) for part in (self.only_a, self.only_b, self.both, self.neither))

    def to_dict(self) -> SideBySideResult:
        """Plain values, without texts."""
        return {
            "query": {"id": self.query_id, "text": self.text, "tags": list(self.tags), "weight": self.weight},
            "k": self.k,
            "a": self.a,
            "b": self.b,
            "relevant": {
                "only_a": self.only_a,
                "only_b": self.only_b,
                "both": self.both,
                "neither": self.neither,
            },
        }


def side_by_side(
    report: Report, query_id: str, k: int, *, a: str | None = None, b: str | None = None
) -> SideBySide:
    """Two runs on a query at a K of the report; constant database queries.

    Where only one is named, the other run with the highest recall of the query is shown next to it; where
    none is, the first run is. `InputError` for a run or K that the report does not have; it is `missing` for
    a query without labels.
    """
    check_measure(report, "recall", k)
    check_runs(report, [a] if a else [], "a")
    check_runs(report, [b] if b else [], "b")
    recalls = _recalls(report, query_id, k)
    first, second = _two_runs(report, recalls, a, b)
    rows = relevant_of(report, [query_id]).to_dicts()
    labels = _labels(report, query_id)
    orders = {run: _order(report, run, query_id) for run in dict.fromkeys((first, second))}
    documents = {row["document_id"] for row in rows}
    for order in orders.values():
        if order is not None:
            documents |= set(order["document_id"].head(min(k, MOST_PLACES)).to_list())
    if query_id in complete_queries(report.release):
        labels = {**dict.fromkeys(documents, 0), **labels}
    facts = _Facts(report, k, recalls, labels, rows, orders, texts_of(report, documents))
    query = Query.objects.filter(collection_id=report.collection_id, external_id=query_id).first()
    metadata = query.metadata if query else {}
    return SideBySide(
        query_id=query_id,
        text=query.text if query else "",
        narrative=query.narrative if query else "",
        tags=tags_of(metadata),
        weight=weight_in(metadata),
        k=k,
        a=facts.list_of(first, second),
        b=facts.list_of(second, first),
        **facts.relevant_by_finder(first, second),
    )


def _recalls(report: Report, query_id: str, k: int) -> dict[str, float | None]:
    rows = value_rows(report, "recall", k, run_names(report)).filter(pl.col("query_id") == query_id)
    recalls = dict(rows.select("run", "value").collect().iter_rows())
    if not recalls:
        raise InputError(f"No query “{query_id}” of this report has a label.", field="query", missing=True)
    return recalls


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
    labels = read_release(report.release).filter(pl.col("query_id") == query_id)
    return dict(labels.select("document_id", "relevance").iter_rows())


def _order(report: Report, name: str, query_id: str) -> pl.DataFrame | None:
    """The run's whole list for the query in the report's order; None where the run is no longer stored."""
    run = stored_runs(report).get(name)
    if run is None:
        return None
    conventions = report.options["conventions"]
    return order_run(read_stored_query(run, query_id), ties=conventions["ties"], scores=conventions["scores"])


@dataclass(frozen=True)
class _Facts:
    """Input of both lists, all read: (run -> recall), (document -> label), rows of the relevant documents as
    `relevant_of` has them, (run -> its order), (document -> title and text)."""

    report: Report
    k: int
    recalls: Mapping[str, float | None]
    labels: Mapping[str, int]
    rows: Sequence[Mapping[str, Any]]
    orders: Mapping[str, pl.DataFrame | None]
    texts: Mapping[str, Text]

    def list_of(self, run: str, other: str) -> ListOfRun:
        recall, own, k = self.recalls[run], self._rank(run), self.k
        relevant_count = sum(1 for row in self.rows if row[own] and row[own] <= k)
        order, compared = self.orders[run], self.orders[other]
        if order is None:
            return ListOfRun(run, recall, relevant_count, None, (), tied_at_k=False)
        elsewhere = {} if compared is None else dict(compared.select("document_id", "position").iter_rows())
        first = order.head(min(k, MOST_PLACES)).select("document_id", "position")
        places = [
            self._place(document, position, elsewhere.get(document))
            for document, position in first.iter_rows()
        ]
        by_score = self.report.options["conventions"]["ties"] != "rank"
        is_tied = by_score and order.height > k and bool(order["score"][k - 1] == order["score"][k])
        return ListOfRun(run, recall, relevant_count, order.height, places, is_tied)

    def _place(self, document: str, position: int, there: int | None) -> Place:
        relevance, text = self.labels.get(document), self.texts.get(document, Text("", None))
        return Place(
            rank=position,
            document_id=document,
            title=text.title,
            text=text.text,
            label=_label(relevance, self.report.options["conventions"]["min_relevance"]),
            relevance=relevance,
            rank_in_other=there,
            only_here=there is None or there > self.k,
        )

    def relevant_by_finder(self, first: str, second: str) -> RelevantParts:
        """The relevant documents by who has them in the first k, highest label first, then best rank."""
        documents = [self._relevant(row, first, second) for row in self.rows]
        documents.sort(key=lambda one: (-one.relevance, _best(one), one.document_id))
        parts: dict[tuple[bool, bool], list[Relevant]] = {}
        for one in documents:
            in_a, in_b = (bool(rank and rank <= self.k) for rank in (one.rank_a, one.rank_b))
            parts.setdefault((in_a, in_b), []).append(one)
        return {
            "only_a": parts.get((True, False), []),
            "only_b": parts.get((False, True), []),
            "both": parts.get((True, True), []),
            "neither": parts.get((False, False), []),
        }

    def _relevant(self, row: Mapping[str, Any], first: str, second: str) -> Relevant:
        text = self.texts.get(row["document_id"], Text("", None))
        return Relevant(
            document_id=row["document_id"],
            title=text.title,
            text=text.text,
            relevance=row["relevance"],
            rank_a=row[self._rank(first)],
            rank_b=row[self._rank(second)],
            found_by=finders_of(row, run_names(self.report), self.k, (first, second)),
        )

    def _rank(self, run: str) -> str:
        return f"rank_{run_names(self.report).index(run)}"


def _label(relevance: int | None, least: int) -> str:
    if relevance is None or relevance < 0:  # pooled, but not judged
        return UNJUDGED
    return RELEVANT if relevance >= least else NOT_RELEVANT


def _best(one: Relevant) -> float:
    return min((rank for rank in (one.rank_a, one.rank_b) if rank), default=float("inf"))
