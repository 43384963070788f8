"""Invitations: links that make one person a member of a collection, for a while."""

from __future__ import annotations

import secrets
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from django.utils import timezone

from pooling.membership import known_role
from pooling.models import Collection, Invitation, Membership
from pooling.problems import InputError
from pooling.trail import record_action

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_DAYS = 90


class Invited(NamedTuple):
    """An invitation and its token, which is told once and kept nowhere."""

    invitation: Invitation
    token: str


@transaction.atomic
def invite(collection: Collection, role: str, *, by: User | None, email: str = "", days: int = 14) -> Invited:
    """Make an invitation for one person, valid for `days` (1 to 90); `InputError` for other values."""
    known_role(role)
    if not 1 <= days <= LONGEST_DAYS:
        problem = f"An invitation is valid for 1 to {LONGEST_DAYS} days."
        raise InputError(problem, fields={"days": problem})
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        collection=collection,
        role=role,
        token_sha256=_hashed(token),
        email=email,
        invited_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    record_action(collection, by, "invitation made", email or f"number {invitation.pk}", role=role, days=days)
    return Invited(invitation, token)


def invitation_of(token: str) -> Invitation:
    """The invitation a link stands for; `InputError` says why one cannot be used any more."""
    found = Invitation.objects.select_related("collection", "invited_by").filter(token_sha256=_hashed(token))
    return _usable(found.first())


@transaction.atomic
def accept(token: str, user: User) -> Membership:
    """Make `user` a member and use the invitation up.

    Somebody who is a member already keeps their role, and the link stays good for somebody else.
    """
    rows = Invitation.objects.select_for_update(of=("self",)).select_related("collection")
    invitation = _usable(rows.filter(token_sha256=_hashed(token)).first())
    member, is_new = Membership.objects.get_or_create(
        collection=invitation.collection, user=user, defaults={"role": invitation.role}
    )
    if is_new:
        invitation.accepted_at, invitation.accepted_by = timezone.now(), user
        invitation.save(update_fields=["accepted_at", "accepted_by"])
        record_action(invitation.collection, user, "invitation accepted", user, role=member.role)
    return member


@transaction.atomic
def withdraw(invitation: Invitation, *, by: User | None) -> None:
    """End an invitation that nobody has used; `InputError` where somebody has."""
    invitation = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
    if invitation.accepted_at:
        raise InputError("Somebody has used this invitation already. Remove the member instead.")
    if not invitation.withdrawn_at:
        invitation.withdrawn_at = timezone.now()
        invitation.save(update_fields=["withdrawn_at"])
        subject = invitation.email or f"number {invitation.pk}"
        record_action(invitation.collection, by, "invitation withdrawn", subject)


def open_invitations(collection: Collection) -> list[Invitation]:
    """Those that can still be used, newest first."""
    unused = collection.invitations.filter(accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now())
    return list(unused.select_related("invited_by"))


def _usable(invitation: Invitation | None) -> Invitation:
    """`InputError` in words for the person who followed the link."""
    if invitation is None:
        raise InputError("This is no invitation. Perhaps a part of the link was lost.", missing=True)
    if invitation.accepted_at:
        raise InputError("This invitation has been used. Ask for a new one.")
    if invitation.withdrawn_at:
        raise InputError("This invitation was withdrawn. Ask for a new one.")
    if invitation.expires_at <= timezone.now():
        raise InputError("This invitation has expired. Ask for a new one.")
    return invitation


def _hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()
