"""Invitations: an admin makes and withdraws them, anyone who has the link joins."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from pooling.interface.pages import go_on_with, made_once, person, problems_as_messages, secret_page
from pooling.interface.problems import InputError
from pooling.models import Collection, Membership
from pooling.people.access import ADMIN, collection_for, fetch
from pooling.people.activity_log import record_action
from pooling.people.invitations import (
    accept,
    accept_offer,
    decline_offer,
    invitation_of,
    invite,
    offers_to,
    withdraw,
)
from soundings.accounts.forms import InvitationForm, JoinForm
from soundings.accounts.languages import remember_language
from soundings.accounts.mail import send_invitation
from soundings.sign_in.passwords import BY_PASSWORD, refuse_password


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def invitation_new(request: HttpRequest, slug: str) -> HttpResponse:
    """POST makes an invitation; the page after it shows its link, this one time."""
    collection = collection_for(request.user, slug, ADMIN)
    if request.method == "POST":
        return _invite(request, collection)
    made = made_once(request)
    if not made:
        return redirect("members", slug)
    context = {
        "collection": collection,
        "section": "members",
        "invitation": fetch(collection.invitations.all(), pk=made["invitation"]),
        "link": request.build_absolute_uri(reverse("invitation", args=[made["token"]])),
        "sends_mail": settings.SENDS_MAIL,
        "sent": made["sent"],
    }
    return secret_page(request, "soundings/invitation_made.html", context)


def _invite(request: HttpRequest, collection: Collection) -> HttpResponse:
    form = InvitationForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
        return redirect("members", collection.slug)
    given = form.cleaned_data
    invitation, token = invite(collection, given.pop("role"), by=person(request), **given)
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    sent = settings.SENDS_MAIL and bool(invitation.email)
    sent = sent and send_invitation(invitation, link, by=person(request))
    return go_on_with(request, {"invitation": invitation.pk, "token": token, "sent": sent})


@require_POST
@login_required
def invitation_withdraw(request: HttpRequest, slug: str, invitation_id: int) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    invitation = get_object_or_404(collection.invitations, pk=invitation_id)
    with problems_as_messages(request):
        withdraw(invitation, by=person(request))
        messages.success(request, "Invitation withdrawn; its link no longer works.")
    return redirect("members", slug)


@require_POST
@login_required
def offer_accept(request: HttpRequest, offer_id: int) -> HttpResponse:
    user = person(request)
    member = accept_offer(fetch(offers_to(user), pk=offer_id), user)
    messages.success(request, _welcome(member))
    return redirect("collection", member.collection.slug)


@require_POST
@login_required
def offer_decline(request: HttpRequest, offer_id: int) -> HttpResponse:
    decline_offer(fetch(offers_to(person(request)), pk=offer_id))
    return redirect("home")


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    try:
        offer = invitation_of(token)
    except InputError as error:
        return render(request, "soundings/invitation_gone.html", {"problem": str(error)}, status=410)
    is_new = not request.user.is_authenticated
    if is_new and request.method == "POST" and not settings.PASSWORDS:
        return refuse_password(request)
    takes_password = is_new and settings.PASSWORDS
    form = JoinForm(request.POST or None, initial={"email": offer.email}) if takes_password else None
    if request.method == "POST" and (form is None or form.is_valid()):
        try:
            member = _joined(request, token, form)
        except InputError as error:
            return render(request, "soundings/invitation_gone.html", {"problem": str(error)}, status=410)
        messages.success(request, _welcome(member))
        return redirect("collection", member.collection.slug)
    # Not `collection`: anyone who follows the link may not see the collection's pages yet.
    context = {"invitation": offer, "form": form, "provider": settings.OIDC if is_new else None}
    return render(request, "soundings/invitation.html", context, status=400 if form and form.errors else 200)


def _welcome(member: Membership) -> str:
    sentence = _("Your role in {collection} is now: {role}.")
    return sentence.format(role=_(member.role), collection=member.collection.name)


def _joined(request: HttpRequest, token: str, form: JoinForm | None) -> Membership:
    from django.db import transaction

    with transaction.atomic():
        user = form.save() if form else person(request)
        if form:
            record_action(None, user, "account made", user, by="invitation")
        member = accept(token, user)
    if form:
        if chosen := request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME):
            remember_language(user, chosen)
        login(request, user, backend=BY_PASSWORD)
    return member
