"""Messages from a pair to the admins: sent once, answered in the app. The one writer of both."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _

from labeling.models import Item, JudgmentEvent, Lease, PairMessage, Queue
from labeling.models.judgments import LONGEST_MESSAGE
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, NOTHING_HERE, fetch, require_role

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
