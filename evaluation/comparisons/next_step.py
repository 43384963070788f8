"""The most valuable thing to do after a report, by how the collection stands now, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, Exists, OuterRef
from django.urls import reverse
from django.utils.http import urlencode

from evaluation.comparisons.answer import Answer, judge_sentence
from evaluation.comparisons.deciding_queue import decision, queues_of
from evaluation.comparisons.stored import compared
from evaluation.models import Report
from evaluation.scoring.estimate_figures import LABELS
from evaluation.scoring.wording import usual_cutoff
from labeling.models import Item, Queue
from labeling.progress.of_collection import seconds_taken
from labeling.qrels.labels import judged_labels, state_of_labels
from labeling.qrels.releases import read_release
from labeling.queues.costs import prices_of
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.merging.choice import usual_reach
from pooling.pools.building import choice_of
from pooling.pools.uncovered import newest_merged_pool

SECONDS_PER_HOUR, SECONDS_PER_MINUTE = 3_600, 60
KEPT_SECONDS = 3_600
# Of what is drawn for each query to estimate the rest; how deep, where no pool says so.
AUDIT_EACH, USUAL_DEPTH = 10, 10
PAIR = ["query_id", "document_id"]


@dataclass(frozen=True)
class NextMove:
    """kind: `release`, `report`, `decide`, `deeper`, `judge`, `queries`, `estimate`. price: time and money,
    as far as known. address, button: where it is done, and the word for it. posts: what a form sends there;
    without it the address is a link."""

    kind: str
    sentence: str
    address: str
    button: str
    price: str = ""
    posts: tuple[tuple[str, str], ...] = ()


def next_move(report: Report, answer: Answer) -> NextMove | None:
    """The next step by its value: what is known already first, then labels, then queries."""
    return (
        _newer(report)
        or _decide(report)
        or _deeper(report, answer)
        or _judge(report, answer)
        or _queries(report, answer)
    )


def estimate_move(report: Report, answer: Answer) -> NextMove | None:
    """A pool of the same runs and depth with only the audit left to judge, where none is on its way."""
    if answer.basis != LABELS:
        return None
    pool = newest_merged_pool(report.collection)
    if pool is not None and choice_of(pool).has_audit:
        return None
    runs, depth = list(report.runs.all()), USUAL_DEPTH if pool is None else pool.depth
    pairs = report.release.pair_count if pool is None else pool.pair_count
    audit = AUDIT_EACH * (report.release.query_count if pool is None else pool.query_count)
    share = min(1.0, math.ceil(100 * audit / max(pairs, 1)) / 100)
    judgments = math.ceil(share * pairs)
    price = price_of(report, judgments)
    parameters: dict[str, str | list[int]] = {
        "runs": [run.pk for run in runs],
        "depth": f"{depth}",
        "strategy": "rrf",
        "audit_share": f"{share:g}",
        "reach": f"{usual_reach(depth)}",
    }
    address = f"{reverse('pool_new', args=[report.collection.slug])}?{urlencode(parameters, doseq=True)}"
    sentence = f"Estimate the rest: {counted(judgments, 'judgment')}{price and f', {price}'}"
    return NextMove("estimate", sentence, address, sentence, price)


def _decide(report: Report) -> NextMove | None:
    """The pairs without a decision of a queue of which nothing else is left, where an audit lacks answers."""
    sample, pool = report.result["estimates"]["sample"], report.result["estimates"]["pool"]
    if sample is None or pool is None or not (sample["waiting"] or sample["awaited"]):
        return None
    left = Item.objects.filter(queue=OuterRef("queue"), state=Item.State.OPEN, order_key__gt=0)
    listed = Queue.objects.listed().filter(collection=report.collection_id, pool__name=pool["name"])
    undecided = Item.objects.filter(queue__in=listed, state=Item.State.ADJUDICATION).exclude(Exists(left))
    row = undecided.order_by().values("queue").annotate(many=Count("pk")).order_by("-many", "-queue").first()
    if row is None:
        return None
    sentence = f"Decide {counted(row['many'], 'pair')} without a majority: the estimate waits for them."
    return NextMove("decide", sentence, reverse("adjudication", args=[row["queue"]]), "Decide")


def _deeper(report: Report, answer: Answer) -> NextMove | None:
    """A deeper pool, where the number had to be that of a smaller K because nobody judged as deep."""
    cutoffs = report.options["k"]
    pool = None if answer.k >= usual_cutoff(cutoffs) else newest_merged_pool(report.collection)
    if pool is None:
        return None
    return deeper_move(report.collection.slug, (pool.pk, pool.depth), cutoffs, answer.k)


def deeper_move(slug: str, pool: tuple[int, int], cutoffs: Sequence[int], k: int) -> NextMove | None:
    """A deeper pool than this one (key, depth), for the values of K that were asked for and the answer's."""
    wanted, (key, depth) = usual_cutoff(cutoffs), pool
    if k >= wanted or depth >= wanted:
        return None
    address = f"{reverse('pool_extend', args=[slug, key])}?depth={wanted}"
    sentence = f"Go deeper: the pool ends at depth {depth:,}, which says little of Recall@{wanted}."
    return NextMove("deeper", sentence, address, "Extend the pool")


def _newer(report: Report) -> NextMove | None:
    """A newer report or release, or labels that no release has."""
    collection = report.collection
    newer = collection.reports.filter(created_at__gt=report.created_at).only("pk", "name", "collection_id")
    if (latest := newer.order_by("-created_at", "-pk").first()) is not None:
        sentence = f"There is a newer report: {latest.name}."
        return NextMove("report", sentence, latest.get_absolute_url(), "Open it")
    release = collection.releases.only("pk", "name", "collection_id").first()
    if release is not None and release.pk != report.release_id:
        address = reverse("report_new", args=[collection.slug])
        sentence = f"Release {release.name} is newer than the labels of this report."
        return NextMove("release", sentence, address, "Measure it")
    count = new_labels(report)
    if not count:
        return None
    sentence = f"Release again: {counted(count, 'new label')} since this report."
    return NextMove("release", sentence, reverse("measure", args=[collection.slug]), "Release and measure")


def new_labels(report: Report) -> int:
    """Number of pairs with a label now that had none in the report's release."""
    since, collection = report.release.released_at, report.collection
    judged = collection.judgment_events.filter(created_at__gt=since)
    imported = collection.imported_labels.filter(imported_at__gt=since)
    if not (judged.exists() or imported.exists()):
        return 0
    key = f"new-labels-{report.release_id}-{state_of_labels(collection)}"
    count: int | None = cache.get(key)
    if count is None:
        before = read_release(report.release).filter(pl.col("relevance") >= 0)
        count = judged_labels(collection, report.release.rule).join(before, on=PAIR, how="anti").height
        cache.set(key, count, KEPT_SECONDS)
    return count


def _judge(report: Report, answer: Answer) -> NextMove | None:
    """The pairs that can be expected to decide between the best run and the next."""
    rival = answer.rival
    if rival is None or answer.next is None or answer.next.kind != "judge":
        return None
    comparisons = compared(report)
    if comparisons is None or not {answer.run, rival.run} <= set(comparisons.runs):
        return None
    now = decision(report, answer.run, rival.run, answer.k)
    if not now.count:
        return None
    pair = {"a": answer.run, "b": rival.run, "k": str(answer.k)}
    price = price_of(report, now.count)
    sentence = judge_sentence(now.count, now.left, answer.k)
    waiting = next(
        (one for one in queues_of(report, answer.run, rival.run, answer.k) if one.state != "closed"), None
    )
    if waiting is not None:
        return NextMove("judge", sentence, waiting.get_absolute_url(), f"Open {waiting.name}", price)
    address = reverse("report_decide", args=[report.pk])
    return NextMove("judge", sentence, address, "Open a queue of them", price, tuple(pair.items()))


def _queries(report: Report, answer: Answer) -> NextMove | None:
    if answer.next is None or answer.next.kind != "queries":
        return None
    address = f"{reverse('queries', args=[report.collection.slug])}#import"
    return NextMove("queries", answer.next.sentence, address, "Import queries")


def price_of(report: Report, pairs: int) -> str:
    """Time of people for this many pairs, and money, as far as the collection tells."""
    latest = Queue.objects.filter(collection=report.collection_id).order_by("-pk").first()
    judgments = pairs * (latest.judgments_per_item if latest else 1)
    parts = []
    if (pace := seconds_taken(report.collection)) is not None:
        parts.append(f"about {in_time(pace * judgments)}")
    if latest is not None and (prices := prices_of(latest)).price:
        money = prices.price * (1 + prices.overhead) * judgments
        parts.append(f"{money:,.2f} {prices.currency}".strip())
    return ", ".join(parts)


def in_time(seconds: float) -> str:
    """A time of work in minutes or hours."""
    if seconds >= SECONDS_PER_HOUR:
        return counted(round(seconds / SECONDS_PER_HOUR), "hour")
    return counted(max(1, round(seconds / SECONDS_PER_MINUTE)), "minute")
