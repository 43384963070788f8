"""The lists of a collection's members and of its open invitations."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.timezone import localtime

from pooling.models import Invitation, Membership, Role
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table


def _offer_roles(members: list[Any]) -> None:
    for member in members:
        member.roles = Role.choices


def _guest(invitation: Invitation) -> str:
    if invitation.username:
        return f"{invitation.username}, not yet accepted"
    return invitation.email or "anyone with the link"


def _mailed(invitation: Invitation) -> str:
    if not (invitation.email and settings.SENDS_MAIL):
        return ""
    at = invitation.mailed_at
    return f"emailed {localtime(at):%-d %b, %H:%M}" if at else "not emailed"


def _inviter(invitation: Invitation) -> str:
    return invitation.invited_by.get_username() if invitation.invited_by else "a command"


def _name(member: Membership) -> str:
    return member.user.get_username()


MEMBERS = Table(
    "members",
    "member",
    columns=(
        Column("name", "User name", _name, sort="user__username", natural=True, style="id"),
        Column("role", "Role", template="soundings/_member_role.html"),
        Column("since", "Since", style="quiet"),
        Column(
            "remove",
            "Remove",
            "pk",
            sort=False,
            fixed=True,
            admin_only=True,
            template="soundings/_member_remove.html",
        ),
    ),
    sort="name",
    search=("user__username__icontains", "role__icontains"),
    search_hint="Name or role",
    caption="Everyone who can see this collection, apart from the people who run the site.",
    empty=Empty("No members yet."),
    prepare=_offer_roles,
)
INVITATIONS = Table(
    "invitations",
    "open invitation",
    columns=(
        Column("guest", "For", _guest, natural=True),
        Column("role", "Role"),
        Column("note", "Note", style="quiet"),
        Column("mailed", "Mail", _mailed, style="quiet"),
        Column("by", "Created by", _inviter),
        Column("until", "Valid until", "expires_at", to_the_minute=True, style="quiet"),
        Column(
            "withdraw",
            "Withdraw",
            "pk",
            sort=False,
            fixed=True,
            template="soundings/_invitation_withdraw.html",
        ),
    ),
    search=("guest", "role", "note", "by"),
    search_hint="Person, role or note",
    prefix="invitation-",
    anchor="invite",
)
