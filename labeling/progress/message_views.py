"""Messages from pairs: sent from the judging page without scripts, listed and answered by admins."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.items.numbers import LARGEST_NUMBER, item_of
from labeling.models import Item, JudgmentEvent, Lease, PairMessage, Queue
from labeling.models.judgments import LONGEST_MESSAGE
from pooling.interface.api import parsed, person, takes
from pooling.interface.pages import problems_as_messages, to_list
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, NOTHING_HERE, collection_for, fetch, require_role
from pooling.tables.answers import answer
from pooling.tables.calls import lists
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.rows import Rows
from pooling.tables.table import Table

LONGEST_KEY = 64
# What one person may leave unanswered in a queue: a script that runs wild fills no list.
MOST_OPEN = 200


def send_message(queue: Queue, author: User, item: int, text: str, *, key: str) -> tuple[PairMessage, bool]:
    """Store a message from an item (its key) that somebody holds or has judged; returns it, and whether it
    is new.

    The same key again changes nothing. `InputError` for a text or key that will not do, 404 for an item that
    was never handed to them: whatever an item is, the same is asked of it.
    """
    text = text.strip()
    if not text:
        raise InputError(_("Write a message first."), field="text")
    if len(text) > LONGEST_MESSAGE:
        problem = _("A message may have at most {count} characters.").format(count=LONGEST_MESSAGE)
        raise InputError(problem, field="text")
    if not key or len(key) > LONGEST_KEY or "\0" in key:
        raise InputError(f"A key has 1 to {LONGEST_KEY} characters.", field="key")
    own = PairMessage.objects.filter(author=author)
    if sent := own.filter(key=key).first():
        return sent, False
    pair = _handed_out(queue, author, item)
    if own.filter(queue=queue, answered_at=None).count() >= MOST_OPEN:
        problem = _("{count} of your messages wait for an answer already.").format(count=MOST_OPEN)
        raise InputError(problem, conflict=True)
    message = PairMessage(collection_id=queue.collection_id, queue=queue, author=author, key=key, text=text)
    message.query_id, message.document_id = pair.query_id, pair.document_id
    try:
        with transaction.atomic():
            message.save()
    except IntegrityError:  # the same key at the same moment
        return own.get(key=key), False
    return message, True


def answer_message(message: PairMessage, text: str, *, by: User) -> PairMessage:
    """Answer a message; a second answer replaces the first. `InputError` for an empty or long text."""
    text = text.strip()
    if not text:
        raise InputError("Write an answer first.", field="answer")
    if len(text) > LONGEST_MESSAGE:
        raise InputError(f"An answer may have at most {LONGEST_MESSAGE} characters.", field="answer")
    message.answer, message.answered_by, message.answered_at = text, by, timezone.now()
    message.save(update_fields=["answer", "answered_by", "answered_at"])
    return message


def message_for_admin(user: User | AnonymousUser, message_id: int) -> PairMessage:
    rows = PairMessage.objects.select_related("collection", "author", "query", "document", "queue")
    message = fetch(rows, pk=message_id)
    require_role(user, message.collection, ADMIN)
    return message


def _handed_out(queue: Queue, author: User, number: int) -> Item:
    leases = Lease.objects.filter(item=OuterRef("pk"), annotator=author)
    judged = JudgmentEvent.objects.filter(item=OuterRef("pk"), annotator=author)
    items = Item.objects.filter(Q(Exists(leases)) | Q(Exists(judged)), queue=queue, pk=number)
    item = items.first()
    if item is None:
        raise Http404(NOTHING_HERE)
    return item


class NewMessageSerializer(serializers.Serializer[Any]):
    """A message from an item that you hold or have judged."""

    item = serializers.IntegerField(min_value=0, max_value=LARGEST_NUMBER, help_text="As claimed.")
    key = serializers.CharField(max_length=LONGEST_KEY, help_text="Yours; the same again changes nothing.")
    text = serializers.CharField(max_length=LONGEST_MESSAGE)


class MessageAnswerSerializer(serializers.Serializer[Any]):
    """What the author reads."""

    answer = serializers.CharField(max_length=LONGEST_MESSAGE)


class OwnMessageSerializer(serializers.Serializer[Any]):
    """A message of yours, and its answer."""

    id = serializers.IntegerField()
    query = serializers.CharField(source="query.external_id")
    document = serializers.CharField(source="document.external_id")
    text = serializers.CharField()
    sent_at = serializers.DateTimeField()
    answer = serializers.CharField(help_text="Empty until there is one.")
    answered_at = serializers.DateTimeField(allow_null=True)


class MessageSerializer(OwnMessageSerializer):
    """A message as admins see it."""

    queue = serializers.IntegerField(source="queue_id")
    author = serializers.CharField(source="author.username")


class QueueMessages(APIView):
    @lists(OwnMessageSerializer)
    def get(self, request: Request, queue_id: int) -> Rows:
        """List what you sent and what you were answered, newest first."""
        queue = queue_for(request.user, queue_id)
        own = PairMessage.objects.filter(queue=queue, author=person(request))
        return own.select_related("query", "document")

    @takes(NewMessageSerializer, gives=OwnMessageSerializer, also={201: OwnMessageSerializer})
    def post(self, request: Request, queue_id: int) -> Response:
        """Tell the admins something about a pair; 200 where the key was sent before."""
        queue = queue_for(request.user, queue_id)
        body = parsed(NewMessageSerializer, request)
        sent = send_message(queue, person(request), item_of(body["item"]), body["text"], key=body["key"])
        return Response(OwnMessageSerializer(sent[0]).data, status=201 if sent[1] else 200)


class Messages(APIView):
    @lists(MessageSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List them, newest first, for admins."""
        collection = collection_for(request.user, slug, ADMIN)
        return collection.pair_messages.select_related("author", "query", "document")


class MessageAnswer(APIView):
    @takes(MessageAnswerSerializer, gives=MessageSerializer)
    def post(self, request: Request, message_id: int) -> object:
        """Answer; the author sees it on the page of their work. A second answer replaces the first."""
        message = message_for_admin(request.user, message_id)
        text = parsed(MessageAnswerSerializer, request)["answer"]
        answer_message(message, text, by=person(request))
        return message


def _pair(message: PairMessage) -> str:
    return f"{message.query.external_id} {message.document.external_id}"


def _queue(message: PairMessage) -> str:
    return reverse("queue", args=[message.queue_id])


MESSAGES = Table(
    "messages",
    "message",
    columns=(
        Column("text", "Message", template="labeling/_message_text.html"),
        Column("author", "From", "author.username", sort="author__username", style="id"),
        Column("pair", "Pair", _pair, sort="query__external_id", template="labeling/_message_pair.html"),
        Column("queue", "Queue", "queue.name", sort="queue__name", link=_queue),
        Column("sent", "Sent", "sent_at", to_the_minute=True, style="quiet"),
        Column("answer", "Answer", sort=False, fixed=True, template="labeling/_message_answer.html"),
    ),
    sort="-sent",
    search=("text__icontains", "author__username__icontains", "answer__icontains"),
    search_hint="Words or name",
    filters=(
        Filter(
            "state",
            "State",
            (
                Choice("all", "All"),
                Choice("open", "Not answered", Q(answered_at=None)),
                Choice("answered", "Answered", Q(answered_at__isnull=False)),
            ),
            default="all",
        ),
    ),
    empty=Empty("No messages yet. Annotators send them from the judging page."),
)


LONGEST_NUMBER = 18


@login_required
@require_GET
def message_list(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN)
    rows = collection.pair_messages.select_related("author", "query", "document", "queue", "answered_by")
    table = MESSAGES.shown(request, rows.defer("document__text"), collection)
    context = {"table": table, "collection": collection, "section": "messages"}
    return answer(request, "labeling/messages.html", context)


@login_required
@require_POST
def message_send(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id)
    number = request.POST.get("item", "")
    is_number = number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER
    key = f"message:{request.POST.get('key', '')}"
    with problems_as_messages(request):
        item = item_of(int(number)) if is_number and int(number) <= LARGEST_NUMBER else 0
        send_message(queue, person(request), item, request.POST.get("message", ""), key=key)
        messages.success(request, _("Sent to the admins. Their answer will be on the page of your work."))
    return redirect("judge", queue_id)


@login_required
@require_POST
def message_answer(request: HttpRequest, message_id: int) -> HttpResponse:
    message = message_for_admin(request.user, message_id)
    with problems_as_messages(request):
        answer_message(message, request.POST.get("answer", ""), by=person(request))
        messages.success(request, f"Answered. {message.author.get_username()} sees it with their work.")
    return to_list(request, "messages", message.collection.slug)
