"""The members of a collection: everybody with a role sees the list, an admin changes it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST

from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.models import Invitation, Membership, Role
from pooling.people import membership
from pooling.people.access import ADMIN, READERS, collection_for, collections_of
from pooling.people.invitations import OFFERED_DAYS, open_invitations
from pooling.people.joining import add_or_ask
from pooling.tables.answers import answer
from soundings.accounts.forms import InvitationForm, MemberForm, RoleForm
from soundings.accounts.member_lists import INVITATIONS, MEMBERS


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def members(request: HttpRequest, slug: str) -> HttpResponseBase:
    """List the members; POST adds one, or asks whether they will join."""
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = MemberForm(request.POST or None, initial={"role": Role.ANNOTATOR})
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
    """Give a member another role."""
    collection = collection_for(request.user, slug, ADMIN)
    member = get_object_or_404(collection.memberships.select_related("user"), pk=member_id)
    form = RoleForm(request.POST)
    try:
        if not form.is_valid():
            raise InputError("Choose admin, annotator or viewer.")
        membership.change_role(member, form.cleaned_data["role"], by=person(request))
        messages.success(request, f"{member.user} is now {member.role} of this collection.")
    except InputError as error:
        messages.error(request, str(error))
    return _to_members(request, collection.slug)


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


def _in_words(added: Membership | Invitation) -> str:
    if isinstance(added, Membership):
        return f"{added.user} is now {added.role} of this collection."
    return (
        f"If account “{added.username}” exists, its home page offers to join as {added.role} for "
        f"{OFFERED_DAYS} days."
    )


def _to_members(request: HttpRequest, slug: str) -> HttpResponse:
    """Back to the list, or home for somebody who has just given up the right to see it."""
    member = collections_of(request.user).filter(slug=slug).exists()
    return redirect("members", slug) if member else redirect("home")
