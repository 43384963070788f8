"""Pairs that would decide which of two runs of a report is better, by the labels now; and a queue of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from django.contrib.auth.models import User
from django.core.cache import cache

from evaluation.comparisons.deciding import Standing, can_decide, deciding_set, expected_share
from evaluation.comparisons.stored import (
    PAIR,
    UNJUDGED,
    chosen_comparisons,
    compared,
    comparison_of,
    counted_queries,
)
from evaluation.models import Report
from evaluation.report_store.completing import complete_queries
from evaluation.report_store.files import run_names, scan_beside, scan_per_query, scan_relevant
from labeling.models import Item, Queue
from labeling.qrels.labels import judged_labels, state_of_labels
from labeling.qrels.releases import read_release
from labeling.queues.opening import open_or_start, redundancy_of
from labeling.queues.options import QueueOptions
from pooling.formats.wording import counted
from pooling.heavy import np, pl
from pooling.interface.problems import InputError
from pooling.models import Job, Pool
from pooling.pools.building import pooled_pairs
from pooling.pools.picking import numbered_name, pick_pool

KEPT_SECONDS = 600


class WantedPair(TypedDict):
    """A pair, by the collection's own ids."""

    query_id: str
    document_id: str


class DecisionResult(TypedDict):
    """How two runs stand by the labels as they are now."""

    first: str
    second: str
    k: int
    leader: Annotated[
        str | None, "The better run on these queries, whatever else is relevant in the pool; or null."
    ]
    left: Annotated[int, "Unjudged documents that only one of the two has."]
    new: Annotated[int, "Labels of such documents since the report."]
    bounds: Annotated[list[float] | None, "Of first minus second."]
    pairs: Annotated[list[WantedPair], "To judge next; empty where it is decided."]
    sentence: str


@dataclass(frozen=True)
class Decision:
    """Two runs of a report at K, by the labels as they are now.

    bounds: of first - second, on the queries that the report counts; None without one. leader: the better
    run on these whatever the unjudged documents of the pool turn out to be, or None. wanted: query_id,
    document_id, rank of the pairs to judge next. left: the unjudged documents that only one of the two has.
    new: labels of such documents since the report. is_enough: whether those left are expected to decide it.
    queries_needed: where the queries are too few for the difference as labelled, how many it takes.
    other_queries: whether another choice of queries could reverse it, in a sentence, where it is decided.
    """

    first: str
    second: str
    k: int
    bounds: tuple[float, float] | None
    leader: str | None
    wanted: pl.DataFrame
    left: int
    new: int
    is_enough: bool = True
    queries_needed: int | None = None
    other_queries: str = ""

    def to_dict(self) -> DecisionResult:
        """Plain values, with the pairs as rows."""
        return {
            "first": self.first,
            "second": self.second,
            "k": self.k,
            "leader": self.leader,
            "left": self.left,
            "new": self.new,
            "bounds": None if self.bounds is None else list(self.bounds),
            "pairs": [
                {"query_id": query, "document_id": document}
                for query, document in self.wanted.select(PAIR).iter_rows()
            ],
            "sentence": self.sentence,
        }

    @property
    def count(self) -> int:
        return self.wanted.height

    @property
    def sentence(self) -> str:
        if self.bounds is None:
            return "No query counts for both runs, so there is nothing to decide."
        if self.leader is not None:
            return (
                f"Decided on these queries: {self.leader} is better, whatever the labels of the unjudged "
                f"documents in the pool. {self.other_queries}"
            )
        if not self.left:
            return (
                "Undecided, although every document that only one of the two has is labelled: the "
                f"difference is too small given what the rest of the pool may contain.{self._of_queries()}"
            )
        left = f"{counted(self.left, 'unjudged document')} that only one of the two has"
        if not self.is_enough:
            beginning = f"Open: it may take all labels of the {left}, and may stay open then."
            return f"{beginning}{self._of_queries()}"
        beginning = f"Open: {counted(self.count, 'label')} can be expected to decide it, of {left}."
        return f"{beginning}{self._of_queries()}"

    def _of_queries(self) -> str:
        if self.queries_needed is None:
            return ""
        return (
            " Labels decide it for these queries alone, which are too few to tell of others: a difference "
            f"this small takes about {self.queries_needed:,}."
        )


def decision(report: Report, first: str, second: str, k: int) -> Decision:
    """Labels that the report's release had count as they were there."""
    state = state_of_labels(report.collection)
    key = f"deciding-{report.pk}-{report.created_at.timestamp()}-{state}-{k}-{hash((first, second))}"
    current: Decision | None = cache.get(key)
    if current is None or (current.first, current.second) != (first, second):
        current = _decision(report, first, second, k)
        cache.set(key, current, KEPT_SECONDS)
    return current


def _decision(report: Report, first: str, second: str, k: int) -> Decision:
    ranks = [pl.col(f"rank_{run_names(report).index(name)}") for name in (first, second)]
    in_top = [(rank <= k).fill_null(False) for rank in ranks]
    rank = pl.when(in_top[0]).then(ranks[0]).otherwise(ranks[1])
    columns = {"mine": in_top[0], "other": in_top[1], "rank": rank}
    queries, judged = _counted(report, first, second, k)
    relevant = scan_relevant(report).select(*PAIR, **columns).collect()
    open_pairs = _open_pairs(report, columns, k)
    new = _new_labels(report)
    informative = open_pairs.join(new, on=PAIR).filter(pl.col("mine") != pl.col("other"))
    labelled = open_pairs.join(new.filter("is_relevant"), on=PAIR)
    elsewhere = new.filter("is_relevant").join(open_pairs, on=PAIR, how="anti")
    relevant_pairs = pl.concat(
        [
            relevant.select(*PAIR, "mine", "other"),
            labelled.select(*PAIR, "mine", "other"),
            elsewhere.select(*PAIR, mine=pl.lit(False), other=pl.lit(False)),
        ]
    )
    by_query = relevant_pairs.group_by("query_id").agg(
        relevant=pl.len().cast(pl.Float64),
        ahead=pl.col("mine").sum().cast(pl.Float64) - pl.col("other").sum().cast(pl.Float64),
    )
    left = open_pairs.join(new, on=PAIR, how="anti")
    is_alone = pl.col("mine") != pl.col("other")
    further = left.filter(~is_alone).group_by("query_id").agg(further=pl.len().cast(pl.Float64))
    table = (
        queries.join(by_query, on="query_id", how="left", maintain_order="left")
        .join(further, on="query_id", how="left", maintain_order="left")
        .fill_null(0.0)
        .with_row_index("query")
    )
    alone = left.filter(is_alone).join(table.select("query_id", "query"), on="query_id")
    standing = Standing(
        table["query_id"].to_list(),
        table["ahead"].to_numpy(),
        table["relevant"].to_numpy(),
        table["further"].to_numpy(),
        alone.select("query", "document_id", pl.col("mine").alias("is_first"), "rank").sort(
            "query", "rank", "document_id"
        ),
        table["weight"].to_numpy(),
    )
    hits = float(np.sum(relevant["mine"].to_numpy()) + np.sum(relevant["other"].to_numpy()))
    chance = expected_share(hits, judged, int(informative["is_relevant"].sum()), informative.height)
    wanted = deciding_set(standing, chance).join(
        table.select("query", "query_id"), on="query", maintain_order="left"
    )
    leader = {1: first, -1: second}.get(standing.decided)
    return Decision(
        *(first, second, k, standing.bounds(), leader),
        wanted=wanted.select(*PAIR, "rank"),
        left=alone.height,
        new=informative.height,
        is_enough=can_decide(standing, chance),
        queries_needed=standing.queries_needed(),
        other_queries="" if leader is None else _other_queries(report, first, second, k, leader=leader),
    )


def _other_queries(report: Report, first: str, second: str, k: int, *, leader: str) -> str:
    """Labels cannot answer it; what can is the difference in the report, where it has the same sign."""
    comparisons = compared(report)
    one = None if comparisons is None else comparison_of(comparisons.pair(first, second, k))
    if one is None or not one.difference or one.p_value is None:
        return "Another choice of queries could reverse it: these are too few to tell."
    if leader != (one.first if one.difference > 0 else one.second):
        return (
            "The labels of the report said otherwise: measure a new release to see whether another choice of "
            "queries could reverse it."
        )
    return one.of_queries("By the labels of the report, another").strip()


def _counted(report: Report, first: str, second: str, k: int) -> tuple[pl.DataFrame, float]:
    """The queries that count for both runs, their weights, and the judged documents of both first k."""
    values = scan_per_query(report).filter(pl.col("run").is_in([first, second]), pl.col("k") == k)
    shares = values.filter(pl.col("measure") == "judged").select(pl.col("value").sum()).collect()
    return counted_queries(report, first, second, k).sort("query_id"), float(shares.item() or 0) * k


def _open_pairs(report: Report, columns: Mapping[str, pl.Expr], k: int) -> pl.DataFrame:
    """The pairs without a label in the report: in the first k of the two runs, and in the pool at k, that is
    in the pools of the report, or without one in the first k of all its runs."""
    places = pl.min_horizontal([f"rank_{at}" for at in range(len(run_names(report)))])
    tops = scan_beside(report, UNJUDGED).select(*PAIR, **columns, best=places).collect()
    pooled = pooled_pairs(report.collection.pools.filter(name__in=report.options.get("pools", [])))
    if pooled is None:
        return tops.filter(pl.col("best") <= k).drop("best")
    judged = read_release(report.release).filter(pl.col("relevance") >= 0)
    left = pooled.join(judged, on=PAIR, how="anti")
    left = left.filter(~pl.col("query_id").is_in(sorted(complete_queries(report.release))))
    inside = tops.filter(pl.col("mine") | pl.col("other")).drop("best")
    more = left.join(inside, on=PAIR, how="anti").select(
        *PAIR, mine=False, other=False, rank=pl.lit(None, dtype=tops.schema["rank"])
    )
    return pl.concat([inside, more])


def _new_labels(report: Report) -> pl.DataFrame:
    """Labels of pairs that had none in the report's release: query_id, document_id, is_relevant."""
    before = read_release(report.release).filter(pl.col("relevance") >= 0)
    now = judged_labels(report.collection, report.release.rule)
    least = report.options["conventions"]["min_relevance"]
    new = now.join(before, on=PAIR, how="anti")
    return new.select(*PAIR, is_relevant=pl.col("relevance") >= least)


def open_deciding_queue(
    report: Report, first: str, second: str, k: int, *, user: User | None = None
) -> Queue | Job:
    """A pool and a queue of the pairs expected to decide; `InputError` if decided, exhausted or open."""
    chosen_comparisons(report, first, second, k)
    now = decision(report, first, second, k)
    if now.wanted.is_empty():
        raise InputError(now.sentence, conflict=True)
    if waiting := next((queue for queue in queues_of(report, first, second, k) if _waits(queue)), None):
        raise InputError(
            f"Queue “{waiting.name}” still holds pairs that would decide it. Judge or close it first.",
            conflict=True,
        )
    collection = report.collection
    provenance = {
        "report": report.pk,
        "report_name": report.name,
        "release": report.release.name,
        "measure": "recall",
        "k": k,
        "runs": [first, second],
        "bounds": list(now.bounds or ()),
    }
    name = numbered_name(collection, "Deciding")
    pool = pick_pool(
        collection, now.wanted, strategy=Pool.DECIDING, provenance=provenance, name=name, user=user
    )
    latest = collection.queues.order_by("-pk").first()
    needed: dict[str, Any] = {} if latest is None else redundancy_of(latest)
    try:
        return open_or_start(pool, QueueOptions(**needed), name=name, user=user)
    except InputError:
        pool.delete()
        raise


def decision_of(queue: Queue) -> tuple[Report, Decision] | None:
    """The report and the two runs of a deciding queue; None where the report is gone."""
    provenance = queue.pool.provenance
    rows = Report.objects.select_related("collection", "release").filter(
        pk=provenance.get("report"), collection=queue.collection_id
    )
    if queue.pool.strategy != Pool.DECIDING or (report := rows.first()) is None:
        return None
    first, second = provenance["runs"]
    return report, decision(report, first, second, provenance["k"])


def queues_of(report: Report, first: str, second: str, k: int) -> list[Queue]:
    """The queues that were opened to decide these two, the newest first."""
    queues = report.collection.queues.filter(pool__strategy=Pool.DECIDING, pool__provenance__report=report.pk)
    return [
        queue
        for queue in queues.select_related("pool").order_by("-pk")
        if queue.pool.provenance["k"] == k and set(queue.pool.provenance["runs"]) == {first, second}
    ]


def _waits(queue: Queue) -> bool:
    return queue.state != Queue.State.CLOSED and queue.items.filter(state=Item.State.OPEN).exists()
