"""The one place that writes down what people did, in the transaction of the deed.

A line holds people by the numbers of their accounts, so that it needs no change when a name goes. It gets its
place in the chain once the transaction is stored.
"""

from __future__ import annotations

from hashlib import sha256
from secrets import token_hex
from typing import Any, cast

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import User
from django.db import transaction

from pooling.models import AdminAction, Collection
from pooling.people.chain import seal
from pooling.people.current import request_address

SUBJECT_LENGTH = 300


def record_action(
    collection: Collection | None, actor: User | None, action: str, subject: object = "", **detail: Any
) -> AdminAction:
    """Append an action. `actor` is None for a command, which nobody is signed in to, and `collection` for
    what belongs to no collection, such as a sign-in.

    `action` is a noun and what became of it ("queue paused"), `subject` what or whom it was done to (an
    account for a person, never a name), and `detail` whatever plain values explain it.
    """
    about = cast("User", subject) if isinstance(subject, AbstractBaseUser) else None
    address = request_address()
    salt = token_hex(16) if address else ""
    row = AdminAction.objects.create(
        collection=collection,
        actor=actor,
        about=about,
        action=action,
        subject="" if about else str(subject)[:SUBJECT_LENGTH],
        detail=detail,
        address=address,
        address_salt=salt,
        address_sha256=sha256(f"{salt}{address}".encode()).hexdigest() if address else "",
    )
    transaction.on_commit(seal, robust=True)
    return row
