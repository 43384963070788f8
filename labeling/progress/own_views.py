from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple, TypedDict

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.gold.decisions import questions_for
from labeling.items.answers import given_by
from labeling.judging.own_work import OwnWork, own_work
from labeling.models import Judgment, PairMessage, Quarantine, Queue, Verdict, public_title
from labeling.progress.message_views import OwnMessageSerializer
from pooling.formats.cells import table_lines
from pooling.interface.api import answers, person
from pooling.interface.downloads import streamed
from pooling.interface.shapes import shape
from pooling.people.access import collections_of
from pooling.tables.calls import lists
from pooling.tables.rows import Rows

# How often somebody agrees with the final labels of a queue, as far as the admin lets them know.


ENOUGH, ROUNDED_TO, NEWEST = 50, 5, 1_000
# SQLite and PostgreSQL both take so many documents in one statement.
BATCH = 500


def agreement_with_labels(queue: Queue, user: User) -> int | None:
    """In per cent, to the nearest 5, as of the day before; None where the queue does not tell, or too few
    of the pairs have a label that does not rest on this person alone."""
    if not queue.tells_agreement:
        return None
    now = timezone.now()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    own = Judgment.objects.opinions().filter(annotator=user, event__queue=queue, judged_at__lt=midnight)
    newest = own.order_by("-event").values_list(*PAIR)
    verdicts = {(query, document): verdict for query, document, verdict in newest[:NEWEST]}
    compared = agreed = 0
    for pair, label in _labels(queue, user, verdicts).items():
        compared += 1
        agreed += verdicts[pair] == label
    if compared < ENOUGH:
        return None
    return round(100 * agreed / compared / ROUNDED_TO) * ROUNDED_TO


PAIR = ("query_id", "document_id", "verdict")


def _labels(queue: Queue, user: User, verdicts: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """The majority of all verdicts on each pair, or what settled it; not ties, nor what is `user`'s alone."""
    documents = sorted({document for _, document in verdicts})
    votes: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    settled: dict[tuple[int, int], str] = {}
    for start in range(0, len(documents), BATCH):
        others = Judgment.objects.counted().filter(
            collection=queue.collection_id, document__in=documents[start : start + BATCH]
        )
        rows = others.exclude(verdict=Verdict.CANNOT_JUDGE).exclude(annotator=user)
        for query, document, verdict, settles in rows.values_list(*PAIR, "is_adjudication"):
            if (query, document) in verdicts:
                votes[query, document][verdict] += 1
                if settles:
                    settled[query, document] = verdict
    labels = {}
    for pair, tally in votes.items():
        counts = tally + Counter([verdicts[pair]])
        (first, most), *rest = counts.most_common()
        if pair in settled:
            labels[pair] = settled[pair]
        elif not rest or most > rest[0][1]:
            labels[pair] = first
    return labels


MOST_QUEUES, MOST_MESSAGES = 20, 50


@dataclass(frozen=True)
class QueueOfWork:
    """A queue with one person's pace there; `agreement` in per cent, or None where it is not told."""

    queue: Queue
    work: OwnWork
    agreement: int | None
    questions: int


@dataclass(frozen=True)
class SetAside:
    """A pause of yours in a queue: what you had judged there was set aside."""

    # The same for the rule and for an admin: nothing here tells of gold questions.

    queue: Annotated[Queue, int, {"source": "queue.pk"}]
    at: datetime
    until: Annotated[datetime | None, "Since when it counts again."]

    @property
    def sentence(self) -> str:
        day, queue = date_format(self.at, _("j F Y")), self.queue.public_title
        if not self.queue.is_worked_in:  # type: ignore[attr-defined]
            sentence = _("Since {day}, {queue} is paused for you. Ask the admins of the collection.")
            return sentence.format(day=day, queue=queue)
        if self.until:
            since = date_format(self.until, _("j F Y"))
            sentence = _(
                "On {day}, your judgments in {queue} were set aside. Since {since} they count again."
            )
            return sentence.format(day=day, queue=queue, since=since)
        sentence = _(
            "On {day}, your judgments in {queue} were set aside because the admins doubt that pairs were "
            "read with care. They can restore them: ask."
        )
        return sentence.format(day=day, queue=queue)


def queues_worked_in(user: User) -> QuerySet[Queue]:
    """The queues in which somebody gave verdicts, of collections they still belong to, newest first."""
    return _queues_for(user).filter(is_worked_in=True).select_related("collection")


def _queues_for(user: User) -> QuerySet[Any]:
    there = Queue.objects.filter(deleted_at=None, collection__in=collections_of(user))
    return there.annotate(is_worked_in=Exists(given_by(user).filter(queue=OuterRef("pk"))))


def queues_of_work(user: User) -> list[QueueOfWork]:
    """The newest of these with pace, agreement and open questions; a few statements for each."""
    return [
        QueueOfWork(
            queue,
            own_work(queue, user),
            agreement_with_labels(queue, user),
            sum(not one.reply for one in questions_for(queue, user)),
        )
        for queue in queues_worked_in(user)[:MOST_QUEUES]
    ]


def set_aside_of(user: User) -> list[SetAside]:
    """Somebody's work that was set aside, newest first, and pauses that stand where they gave none."""
    own = Quarantine.objects.filter(annotator=user)
    queues = _queues_for(user).filter(pk__in=own.values("queue")).in_bulk()
    rows = own.filter(queue__in=list(queues))
    paused = [SetAside(queues[row.queue_id], row.imposed_at, row.lifted_at) for row in rows]
    return [one for one in paused if one.queue.is_worked_in or not one.until]  # type: ignore[attr-defined]


def messages_of(user: User) -> QuerySet[PairMessage]:
    sent = PairMessage.objects.filter(author=user, queue__in=queues_worked_in(user))
    return sent.select_related("query", "document", "queue").defer("document__text")[:MOST_MESSAGES]


# Somebody's hours by day and queue: the active time of all verdicts they gave.
#
# Gold questions, repeats and verdicts that were undone count like all others: it was work.

COLUMNS = ("day", "collection", "queue", "verdicts", "hours")


class DayOfWork(NamedTuple):
    """Your work in a queue on a day."""

    day: date
    collection: str
    queue: str
    verdicts: int
    hours: float


def hours_by_day(user: User, queues: QuerySet[Queue]) -> list[DayOfWork]:
    """Days with work, the newest first, in the site's time zone. One statement."""
    given = given_by(user).filter(queue__in=queues)
    rows = (
        given.order_by()
        .values(day=TruncDate("created_at"), slug=F("collection__slug"), name=F("queue__public_name"))
        .annotate(verdicts=Count("pk"), spent=Sum("active_ms"))
        .order_by("-day", "slug", "name")
    )
    return [
        DayOfWork(row["day"], row["slug"], row["name"], row["verdicts"], (row["spent"] or 0) / 3_600_000)
        for row in rows
    ]


def hours_lines(days: Iterable[DayOfWork]) -> Iterator[str]:
    return table_lines(COLUMNS, ((*day[:4], round(day.hours, 3)) for day in days))


class DayOfVerdicts(TypedDict):
    """Number of verdicts of a day."""

    day: Annotated[str, date]
    verdicts: int


class QueueOfWorkSerializer(serializers.Serializer[QueueOfWork]):
    """Your pace in a queue, and how far you agree with its labels."""

    queue = serializers.IntegerField(source="queue.pk")
    name = serializers.CharField(source="queue.public_name")
    collection = serializers.CharField(source="queue.collection.slug")
    median_seconds = serializers.FloatField(
        source="work.median_seconds", allow_null=True, help_text="Active time on a pair."
    )
    slow_seconds = serializers.FloatField(
        source="work.slow_seconds", allow_null=True, help_text="Nine of ten pairs took no longer."
    )
    per_day = serializers.SerializerMethodField(help_text="The last 14 days, oldest first.")
    agreement = serializers.IntegerField(
        allow_null=True, help_text="With the final labels, in per cent; null where it is not told."
    )
    questions = serializers.IntegerField(help_text="Questions of admins that wait for your reply.")

    @extend_schema_field(shape(DayOfVerdicts)(many=True))
    def get_per_day(self, row: QueueOfWork) -> list[DayOfVerdicts]:
        return [{"day": day.isoformat(), "verdicts": verdicts} for day, verdicts in row.work.per_day]


class OwnWorkSerializer(serializers.Serializer[Any]):
    """Your own work in all queues of your collections."""

    queues = QueueOfWorkSerializer(many=True, help_text="At most 20, the newest first.")
    set_aside = shape(SetAside)(many=True)
    messages = OwnMessageSerializer(many=True, help_text="At most 50, the newest first.")


class OwnWorkCall(APIView):
    @answers(OwnWorkSerializer, operation_id="work_retrieve")
    def get(self, request: Request) -> object:
        """Your pace and agreement by queue, what was set aside, and your messages to admins."""
        user = person(request)
        return {
            "queues": queues_of_work(user),
            "set_aside": set_aside_of(user),
            "messages": messages_of(user),
        }


class OwnHours(APIView):
    @lists(shape(DayOfWork), operation_id="work_hours_list")
    def get(self, request: Request) -> Rows:
        """Your verdicts and hours by day and queue, the newest day first."""
        user = person(request)
        return hours_by_day(user, queues_worked_in(user))


LATEST_DAYS = 14


@login_required
@require_GET
def all_work(request: HttpRequest) -> HttpResponse:
    user = person(request)
    days = hours_by_day(user, queues_worked_in(user))
    rows = queues_of_work(user)
    context = {
        "rows": rows,
        "judged_elsewhere": not rows and given_by(user).exists(),
        "days": [day._replace(queue=public_title(day.queue)) for day in days[:LATEST_DAYS]],
        "set_aside": set_aside_of(user),
        "sent": messages_of(user),
    }
    return render(request, "labeling/all_work.html", context)


@login_required
@require_GET
def hours_file(request: HttpRequest) -> HttpResponseBase:
    user = person(request)
    lines = hours_lines(hours_by_day(user, queues_worked_in(user)))
    return streamed(lines, "hours.csv", "text/csv; charset=utf-8")
