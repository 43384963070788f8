"""What admins did to a collection: the one place that writes it down, in the transaction of the deed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pooling.models import AdminAction, Collection

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SUBJECT_LENGTH = 300


def record_action(
    collection: Collection, actor: User | None, action: str, subject: object = "", **detail: Any
) -> AdminAction:
    """Append an action. `actor` is None for a command, which nobody is signed in to.

    `action` is a noun and what became of it ("queue paused"), `subject` what or whom it was done to, and
    `detail` whatever plain values explain it.
    """
    return AdminAction.objects.create(
        collection=collection,
        actor=actor,
        action=action,
        subject=str(subject)[:SUBJECT_LENGTH],
        detail=detail,
    )
