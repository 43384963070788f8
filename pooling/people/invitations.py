"""Invitations: links, and offers to accounts, that make one person a member of a collection, for a while.

One stands as long as the person who made it could make it again: it ends with that person's role or account.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from pooling.interface.problems import InputError
from pooling.models import Collection, Invitation, Membership
from pooling.people.access import check_role
from pooling.people.activity_log import record_action
from pooling.people.link_tokens import hashed, is_of_an_admin, new_token

LONGEST_DAYS = 90
OFFERED_DAYS = 14
LONGEST_NOTE = 100
# Of the offers to somebody; anyone who asks a thousand times fills nobody's page.
MOST_LISTED = 20


class NewInvitation(NamedTuple):
    """An invitation and its token, which is shown once and stored nowhere."""

    invitation: Invitation
    token: str


@transaction.atomic
def invite(
    collection: Collection, role: str, *, by: User | None, email: str = "", days: int = 14, note: str = ""
) -> NewInvitation:
    """Invite one person for `days` (1 to 90, else `InputError`); `note`, for admins, says whom it is for."""
    check_role(role)
    if not 1 <= days <= LONGEST_DAYS:
        raise InputError(f"An invitation is valid for 1 to {LONGEST_DAYS} days.", field="days")
    token = new_token()
    if len(note) > LONGEST_NOTE:
        raise InputError(f"A note may have at most {LONGEST_NOTE} characters.", field="note")
    invitation = Invitation.objects.create(
        collection=collection,
        role=role,
        token_sha256=hashed(token),
        email=email,
        note=note.strip(),
        invited_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    record_action(collection, by, "invitation made", _subject(invitation), role=role, days=days)
    return NewInvitation(invitation, token)


@transaction.atomic
def offer(collection: Collection, username: str, role: str, *, by: User, user: User | None) -> Invitation:
    """Ask somebody to join; `user` is None where nobody has the name. Asked again, only the role changes."""
    check_role(role)
    standing = _standing(collection.invitations.filter(username=username))
    invitation = standing.first() or Invitation(collection=collection, username=username)
    invitation.role, invitation.user, invitation.invited_by = role, user, by
    invitation.token_sha256 = hashed(new_token())  # of no link
    invitation.expires_at = timezone.now() + timedelta(days=OFFERED_DAYS)
    invitation.save()
    record_action(collection, by, "membership offered", _subject(invitation), role=role)
    return invitation


def offers_to(user: User) -> QuerySet[Invitation]:
    """The offers that an account can still accept, newest first."""
    rows = Invitation.objects.filter(user=user, collection__deleted_at=None)
    return _standing(rows).select_related("collection", "invited_by")


@transaction.atomic
def accept_offer(invitation: Invitation, user: User) -> Membership:
    """Make `user`, whom the offer is for, a member."""
    rows = Invitation.objects.select_for_update(of=("self",)).filter(pk=invitation.pk, user=user)
    return _join(_usable(rows.first()), user)


@transaction.atomic
def decline_offer(invitation: Invitation) -> None:
    Invitation.objects.filter(pk=invitation.pk).update(withdrawn_at=timezone.now())
    record_action(invitation.collection, invitation.user, "membership declined", _subject(invitation))


def invitation_of(token: str) -> Invitation:
    """The invitation a link stands for; `InputError` says why one cannot be used any more."""
    matches = Invitation.objects.select_related("collection", "invited_by").filter(token_sha256=hashed(token))
    return _usable(matches.first())


@transaction.atomic
def accept(token: str, user: User) -> Membership:
    """Make `user` a member and use the invitation up."""
    rows = Invitation.objects.select_for_update(of=("self",)).select_related("collection")
    return _join(_usable(rows.filter(token_sha256=hashed(token)).first()), user)


def _join(invitation: Invitation, user: User) -> Membership:
    """Anyone who is a member already keeps their role; a link then stays good for somebody else."""
    member, is_new = Membership.objects.get_or_create(
        collection=invitation.collection, user=user, defaults={"role": invitation.role}
    )
    if is_new or invitation.user_id:
        invitation.accepted_at, invitation.accepted_by = timezone.now(), user
        invitation.save(update_fields=["accepted_at", "accepted_by"])
        record_action(invitation.collection, user, "invitation accepted", user, role=member.role)
    return member


@transaction.atomic
def withdraw(invitation: Invitation, *, by: User | None) -> None:
    """End an invitation that nobody has used; `InputError` where somebody has."""
    invitation = Invitation.objects.select_for_update(of=("self",)).get(pk=invitation.pk)
    if invitation.accepted_at:
        raise InputError("This invitation has already been used. Remove the member instead.")
    if not invitation.withdrawn_at:
        invitation.withdrawn_at = timezone.now()
        invitation.save(update_fields=["withdrawn_at"])
        record_action(invitation.collection, by, "invitation withdrawn", _subject(invitation))


def withdraw_those_of(author: User, collection: Collection, *, by: User | None) -> None:
    """End the open invitations that somebody made, who is not to be an admin any longer."""
    rows = collection.invitations.filter(invited_by=author, accepted_at=None, withdrawn_at=None)
    if ended := rows.update(withdrawn_at=timezone.now()):
        record_action(collection, by, "invitations withdrawn", author, count=ended)


def open_invitations(collection: Collection) -> list[Invitation]:
    return list(_standing(collection.invitations.all()).select_related("invited_by"))


def _standing(rows: QuerySet[Invitation]) -> QuerySet[Invitation]:
    """Those of `rows` that are open and whose author may still invite; None is a command."""
    return rows.filter(
        Q(invited_by=None) | is_of_an_admin("invited_by"),
        accepted_at=None,
        withdrawn_at=None,
        expires_at__gt=timezone.now(),
    )


def _usable(invitation: Invitation | None) -> Invitation:
    """`InputError` in words for the person who followed the link."""
    if invitation is None:
        raise InputError(_("This link is not valid. Part of it may be missing."), missing=True)
    if invitation.accepted_at:
        raise InputError(_("This invitation has been used. Ask for a new one."))
    if invitation.withdrawn_at:
        raise InputError(_("This invitation was withdrawn. Ask for a new one."))
    if invitation.expires_at <= timezone.now():
        raise InputError(_("This invitation has expired. Ask for a new one."))
    if invitation.collection.deleted_at:
        raise InputError(_("This collection was deleted. Ask the person who invited you."))
    if not _standing(Invitation.objects.filter(pk=invitation.pk)).exists():
        raise InputError(
            _("The person who sent this invitation is no longer an admin. Ask someone else for one.")
        )
    return invitation


def _subject(invitation: Invitation) -> str:
    """The invitation by its number; the name is in its row, where it can go again."""
    return f"invitation {invitation.pk}"
