"""The most valuable thing to do after a report, by how the collection stands now, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.urls import reverse

from evaluation.comparisons.deciding_queue import decision, queues_of
from evaluation.comparisons.stored import compared
from evaluation.models import Report
from labeling.models import Queue
from labeling.progress.experience import seconds_taken
from labeling.qrels.labels import judged_labels, state_of_labels
from labeling.qrels.releases import read_release
from labeling.queues.costs import prices_of
from pooling.formats.wording import counted

if TYPE_CHECKING:
    from evaluation.comparisons.answer import Answer

SECONDS_PER_HOUR, SECONDS_PER_MINUTE = 3_600, 60
KEPT_SECONDS = 3_600
PAIR = ["query_id", "document_id"]


@dataclass(frozen=True)
class NextMove:
    """What to do. kind: `release`, `report`, `judge`, `queries`. price: time and money, as far as known.
    address, button: where it is done, and the word for it. posts: what a form sends there; without it the
    address is a link."""

    kind: str
    sentence: str
    address: str
    button: str
    price: str = ""
    posts: tuple[tuple[str, str], ...] = ()


def next_move(report: Report, answer: Answer) -> NextMove | None:
    """The next step by its value: what is known already first, then labels, then queries."""
    return _newer(report) or _judge(report, answer) or _queries(report, answer)


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
    """How many pairs have a label now that had none in the report's release."""
    since, collection = report.release.released_at, report.collection
    judged = collection.judgment_events.filter(created_at__gt=since)
    imported = collection.imported_labels.filter(imported_at__gt=since)
    if not (judged.exists() or imported.exists()):
        return 0
    key = f"new-labels-{report.release_id}-{state_of_labels(collection)}"
    known: int | None = cache.get(key)
    if known is None:
        import polars as pl

        before = read_release(report.release).filter(pl.col("relevance") >= 0)
        known = judged_labels(collection, report.release.rule).join(before, on=PAIR, how="anti").height
        cache.set(key, known, KEPT_SECONDS)
    return known


def _judge(report: Report, answer: Answer) -> NextMove | None:
    """The pairs that can be expected to decide between the best run and the next."""
    from evaluation.comparisons.answer import judge_sentence

    rival = answer.rival
    if rival is None or answer.next is None or answer.next.kind != "judge":
        return None
    found = compared(report)
    if found is None or not {answer.run, rival.run} <= set(found.runs):
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
    """How long people take to judge this many pairs, and what that costs, as far as the collection tells."""
    latest = Queue.objects.filter(collection=report.collection_id).order_by("-pk").first()
    judgments = pairs * (latest.judgments_per_item if latest else 1)
    told = []
    if (pace := seconds_taken(report.collection)) is not None:
        told.append(f"about {in_time(pace * judgments)}")
    if latest is not None and (prices := prices_of(latest)).price:
        money = prices.price * (1 + prices.overhead) * judgments
        told.append(f"{money:,.2f} {prices.currency}".strip())
    return ", ".join(told)


def in_time(seconds: float) -> str:
    """A time of work in minutes or hours."""
    if seconds >= SECONDS_PER_HOUR:
        return counted(round(seconds / SECONDS_PER_HOUR), "hour")
    return counted(max(1, round(seconds / SECONDS_PER_MINUTE)), "minute")
