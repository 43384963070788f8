"""The doors to stage 2's rows; see `pooling/people/access.py` for who is let through."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.http import Http404
from django.utils.translation import gettext, gettext_noop

from labeling.items.statements import queue_with_role
from labeling.models import Prelabeler, PrelabelJob, QrelsRelease, Queue
from pooling.models import Collection, Role
from pooling.people.access import ADMIN, JUDGES, NOTHING_HERE, READERS, admit, fetch, require_role

LONGEST_NUMBER = 18  # digits of a key in the database
DELETED = gettext_noop("This queue was deleted by an admin. Everything that was judged in it is saved.")


def queue_for(
    user: User | AnonymousUser, queue_id: int, roles: tuple[Role, ...] = JUDGES, *, deleted_too: bool = False
) -> Queue:
    """Fetch a queue for one of `roles`; deleted_too: for judging, as verdicts on its items are stored."""
    queue = queue_with_role(queue_id, user.pk or 0)
    if queue is None:
        raise Http404(gettext(NOTHING_HERE))
    role = Role.ADMIN if user.is_superuser else queue.member_role  # type: ignore[attr-defined]
    admit(Role(role) if role else None, queue.collection, roles, deleted_too=deleted_too)
    if queue.deleted_at and not deleted_too:
        raise Http404(gettext(DELETED))
    return queue


def is_annotator(queue: Queue) -> bool:
    """True for an annotator, who must not read what admins read, among those whom `queue_for` let through."""
    return bool(queue.collection.role == Role.ANNOTATOR)  # type: ignore[attr-defined]


def queue_in(collection: Collection, number: str) -> Queue:
    is_number = number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER
    return fetch(Queue.objects.filter(collection=collection), pk=int(number) if is_number else 0)


def release_for(user: User | AnonymousUser, release_id: int) -> QrelsRelease:
    """Fetch a qrels release, and its collection, for somebody who may read there."""
    release = fetch(QrelsRelease.objects.select_related("collection"), pk=release_id)
    require_role(user, release.collection, READERS)
    return release


def prelabel_pass_for(user: User | AnonymousUser, pass_id: int, roles: tuple[Role, ...]) -> PrelabelJob:
    """Fetch a pass of pre-labels, with queue and collection, for somebody with one of `roles`."""
    rows = PrelabelJob.objects.select_related("queue__collection", "prelabeler__collection")
    job = fetch(rows, pk=pass_id)
    require_role(user, job.queue.collection, roles)
    return job


def prelabeler_for_queue(queue: Queue, prelabeler_id: int) -> Prelabeler:
    return fetch(Prelabeler.objects.filter(collection=queue.collection_id), pk=prelabeler_id)


def prelabeler_for_admin(user: User | AnonymousUser, prelabeler_id: int) -> Prelabeler:
    prelabeler = fetch(Prelabeler.objects.select_related("collection"), pk=prelabeler_id)
    require_role(user, prelabeler.collection, ADMIN)
    return prelabeler
