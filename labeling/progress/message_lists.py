"""The list of messages that admins see."""

from __future__ import annotations

from django.db.models import Q
from django.urls import reverse

from labeling.models import PairMessage
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table


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
