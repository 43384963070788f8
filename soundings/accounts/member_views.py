"""The members of a collection: everybody with a role sees the list, an admin changes it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.timezone import localtime
from django.views.decorators.http import require_http_methods, require_POST

from pooling.interface.pages import person, to_list
from pooling.interface.problems import InputError
from pooling.models import Invitation, Membership, Role
from pooling.people import membership
from pooling.people.access import ADMIN, READERS, collection_for, collections_of
from pooling.people.invitations import OFFERED_DAYS, open_invitations
from pooling.people.membership import add_or_ask
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table
from soundings.accounts.forms import InvitationForm, MemberForm, RoleForm

# The lists of a collection's members and of its open invitations.


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


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def members(request: HttpRequest, slug: str) -> HttpResponseBase:
    """List the members; POST adds one, or asks whether they will join."""
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = MemberForm(person(request), request.POST or None, initial={"role": Role.ANNOTATOR})
    if request.method == "POST" and form.is_valid():
        try:
            given = form.cleaned_data
            added = add_or_ask(collection, given["username"], given["role"], by=person(request))
        except InputError as error:
            form.add_error("username", str(error))
        else:
            messages.success(request, _in_words(added))
            return redirect("members", collection.slug)
    context: dict[str, object] = {
        "collection": collection,
        "section": "members",
        "members": MEMBERS.shown(request, collection.memberships.select_related("user"), collection),
        "form": form,
        "invite_form": InvitationForm(initial={"role": Role.ANNOTATOR}),
    }
    if collection.role == Role.ADMIN:  # type: ignore[attr-defined]
        context["invitations"] = INVITATIONS.shown(request, open_invitations(collection), collection)
    answered = answer(request, "soundings/members.html", context)
    if form.errors:
        answered.status_code = 400
    return answered


@require_POST
@login_required
def member_role(request: HttpRequest, slug: str, member_id: int) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    member = get_object_or_404(collection.memberships.select_related("user"), pk=member_id)
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            raise InputError("Choose admin, annotator or viewer.")
        membership.change_role(member, form.cleaned_data["role"], by=person(request))
        messages.success(request, f"{member.user} has the role {member.role} now.")
    except InputError as error:
        messages.error(request, str(error))
        return _to_members(request, collection.slug)
    return _after_change(request, member)


@require_POST
@login_required
def member_remove(request: HttpRequest, slug: str, member_id: int) -> HttpResponse:
    """End a membership; the person's judgments stay."""
    collection = collection_for(request.user, slug, ADMIN)
    member = get_object_or_404(collection.memberships.select_related("user"), pk=member_id)
    try:
        membership.remove_member(member, by=person(request))
        messages.success(request, f"{member.user} is no longer a member. Their judgments are kept.")
    except InputError as error:
        messages.error(request, str(error))
        return _to_members(request, collection.slug)
    return _after_change(request, member)


def _after_change(request: HttpRequest, member: Membership) -> HttpResponse:
    """The page of members, or home for those who changed their own place and may no longer see it."""
    if member.user == request.user:
        return redirect("home")
    return _to_members(request, member.collection.slug)


def _in_words(outcome: Membership | Invitation) -> str:
    if isinstance(outcome, Membership):
        return f"{outcome.user} is a member now, with the role {outcome.role}."
    return (
        f"If account “{outcome.username}” exists, its home page offers to join as {outcome.role} for "
        f"{OFFERED_DAYS} days."
    )


def _to_members(request: HttpRequest, slug: str) -> HttpResponse:
    member = collections_of(request.user).filter(slug=slug).exists()
    return to_list(request, "members", slug) if member else redirect("home")
