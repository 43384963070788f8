"""An annotator's own work: what, how fast, on which days. Nothing tells gold, or what others said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, TypedDict

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left, Length, TruncDate
from django.utils import timezone

from labeling.items.answers import given_in
from labeling.items.withdrawn import THERE
from labeling.models import JudgmentEvent, Queue, Verdict
from pooling.models import Document

# Texts that are nearly the same: by the runs of three words that they share (Broder, 1997).


RUN = 3
#: Of a longer text its beginning is compared: nobody waits for a book.
COMPARED = 20_000
#: From this share of shared runs on, two texts are nearly the same.
NEARLY = 0.8
_WORD = re.compile(r"[^\W_]+")


def runs_of(text: str) -> frozenset[str]:
    """The runs of words of a text.

    >>> sorted(runs_of("Buses run all night."))
    ['buses run all', 'run all night']
    """
    words = _WORD.findall(text[:COMPARED].lower())
    if len(words) < RUN:
        return frozenset([" ".join(words)] if words else [])
    return frozenset(map(" ".join, zip(words, words[1:], words[2:], strict=False)))


def alikeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of runs that two sets have in common, from 0 to 1; 0 where they differ too much in size."""
    small, large = sorted((one, other), key=len)
    if not small or len(small) < NEARLY * len(large):
        return 0.0
    shared = len(small & large)
    return shared / (len(small) + len(large) - shared)


DAYS = 14
# Enough for a median; a year's work of one person need not be read for it.
TIMED = 2_000
# A strip beside a document needs no more of a query.
MOST_OF_QUERY = 500
# The verdicts whose documents are compared, and the documents to come that they are compared with.
MOST_COMPARED, MOST_TO_COME = 100, 20
# Texts whose lengths differ by more than this share do not have four fifths of their runs in common.
LEAST_LENGTH = 0.5


@dataclass(frozen=True)
class OwnWork:
    """`per_day`: verdicts on each of the last 14 days, oldest first. Seconds are active time on a pair: the
    middle one and the 90th percentile of the last 2,000 verdicts, None without any."""

    per_day: list[tuple[date, int]]
    median_seconds: float | None
    slow_seconds: float | None

    @property
    def busiest(self) -> int:
        return max(count for _, count in self.per_day)


def own_verdicts(queue: Queue, user: User) -> QuerySet[JudgmentEvent]:
    """The person's verdicts in the queue, newest first, `undone` too; none on deleted queries, documents."""
    verdicts = given_in(queue, user).filter(**THERE)
    undone = JudgmentEvent.objects.filter(undoes=OuterRef("pk"))
    return verdicts.annotate(undone=Exists(undone)).select_related("query", "document").order_by("-pk")


class OwnVerdict(TypedDict):
    """A verdict that you gave and did not undo."""

    document: str
    title: str
    verdict: Annotated[str, {"choices": Verdict.choices}]


def own_verdicts_of_query(queue: Queue, user: User, query_id: str) -> list[OwnVerdict]:
    """The person's verdicts on a query's documents, not undone, oldest first; repeats count as all others."""
    given = own_verdicts(queue, user).filter(query__external_id=query_id)[:MOST_OF_QUERY]
    return [
        {"document": one.document.external_id, "title": one.document.title, "verdict": one.verdict}
        for one in reversed(given)
        if not one.undone  # type: ignore[attr-defined]
    ]


class NearlySame(TypedDict):
    """A document you asked for, and the one most like it that you judged for the query."""

    document: str
    like: str
    share: Annotated[float, "Of runs of three words that both have; .8 at the least."]


def nearly_same(queue: Queue, user: User, query_id: str, documents: Sequence[str]) -> list[NearlySame]:
    """Those of the documents that are nearly the same as one that the person judged for the query in this
    queue.

    Looked at are the newest 100 of the person's own verdicts that stand, and of texts the beginning, in two
    statements whatever is found. A document is not compared with itself: a pair that is shown again says
    nothing of what was said of it before.
    """
    taken_back = Exists(JudgmentEvent.objects.filter(undoes=OuterRef("pk")))
    given = own_verdicts(queue, user).filter(~taken_back, query__external_id=query_id)
    latest = given.exclude(verdict=Verdict.CANNOT_JUDGE).values_list("document_id", flat=True)
    judged = {*latest[:MOST_COMPARED]}
    wanted = {*documents[:MOST_TO_COME]}
    texts = Document.objects.filter(collection=queue.collection, text__isnull=False)
    rows = texts.filter(Q(pk__in=judged) | Q(external_id__in=wanted)).annotate(
        beginning=Left("text", COMPARED), length=Length("text")
    )
    candidates = [
        _Compared(row["external_id"], row["pk"] in judged, row["length"], row["beginning"])
        for row in rows.values("pk", "external_id", "length", "beginning")
    ]
    runs: dict[str, frozenset[str]] = {}
    return [
        {"document": one.document, "like": other.document, "share": share}
        for one in candidates
        if one.document in wanted
        for other, share in [_nearest(one, [other for other in candidates if other.judged], runs)]
        if other
    ]


@dataclass(frozen=True)
class _Compared:
    document: str
    judged: bool
    length: int
    beginning: str


def _nearest(
    one: _Compared, others: Sequence[_Compared], runs: dict[str, frozenset[str]]
) -> tuple[_Compared | None, float]:
    """The most alike of the others, with its share, or None; `runs` keeps what was cut up already."""
    best, most = None, 0.0
    for other in others:
        shorter, longer = sorted((min(one.length, COMPARED), min(other.length, COMPARED)))
        if other.document == one.document or shorter < LEAST_LENGTH * longer:
            continue
        for each in (one, other):
            if each.document not in runs:
                runs[each.document] = runs_of(each.beginning)
        share = alikeness(runs[one.document], runs[other.document])
        if share >= NEARLY and share > most:
            best, most = other, share
    return best, most


def own_work(queue: Queue, user: User, *, now: datetime | None = None) -> OwnWork:
    now = now or timezone.now()
    verdicts = given_in(queue, user)
    today = timezone.localdate(now)
    first = today - timedelta(days=DAYS - 1)
    since = timezone.make_aware(datetime.combine(first, datetime.min.time()))
    days = verdicts.filter(created_at__gte=since).order_by().values(day=TruncDate("created_at"))
    counts = {row["day"]: row["many"] for row in days.annotate(many=Count("pk"))}
    newest = verdicts.filter(active_ms__isnull=False).order_by("-pk").values_list("active_ms", flat=True)
    spent = sorted(time for time in newest[:TIMED] if time is not None)
    return OwnWork(
        [(first + timedelta(days=step), counts.get(first + timedelta(days=step), 0)) for step in range(DAYS)],
        seconds_at(spent, 0.5),
        seconds_at(spent, 0.9),
    )


def seconds_at(spent_ms: list[int], share: float) -> float | None:
    """The least time that at least `share` of the verdicts took no longer than, in seconds."""
    if not spent_ms:
        return None
    place = -(-len(spent_ms) * share // 1)
    return spent_ms[int(place) - 1] / 1000
