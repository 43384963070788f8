"""Sign-in by the provider: the button, and the way back."""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from pooling.interface.pages import page_here
from pooling.interface.problems import InputError
from pooling.people.activity_log import record_action
from pooling.people.invitations import accept, invitation_of
from soundings.sign_in.chosen import the_provider
from soundings.sign_in.passwords import BY_PROVIDER
from soundings.sign_in.taking_in import Claims, person_for

logger = logging.getLogger(__name__)


@require_POST
def provider_start(request: HttpRequest) -> HttpResponse:
    """Lead to the provider. By a page instead of a redirect, because forms lead to this site alone."""
    if settings.OIDC is None:
        raise Http404
    # Cut: the library is an extra
    from soundings.sign_in.provider import ProviderError, address_to_ask

    try:
        address = address_to_ask(request, page_here(request, request.POST.get("next", "")))
    except ProviderError as problem:
        logger.warning("the sign-in provider cannot be asked: %s", problem)
        messages.error(request, _("{name} does not answer. Try again later.").format(name=settings.OIDC.name))
        return redirect("sign_in")
    context = {"address": address, "provider": settings.OIDC}
    return render(request, "soundings/provider_start.html", context)


@never_cache
@require_GET
def provider_return(request: HttpRequest) -> HttpResponse:
    if settings.OIDC is None:
        raise Http404
    # Cut: the library is an extra
    from soundings.sign_in.provider import come_back

    return come_back(request, _finish, _refuse)


def _finish(request: HttpRequest, claims: Claims, next_page: str) -> HttpResponse:
    """Sign somebody in; anyone who comes from an invitation joins."""
    token = _invitation_in(next_page)
    try:
        user = person_for(claims, invited=bool(token))
    except InputError as problem:
        record_action(None, None, "sign-in failed", "refused to a person of the provider", by="provider")
        messages.error(request, str(problem))
        return redirect("sign_in")
    login(request, user, backend=BY_PROVIDER)
    if token:
        member = accept(token, user)
        return redirect("collection", member.collection.slug)
    return redirect(next_page or settings.LOGIN_REDIRECT_URL)


def _refuse(request: HttpRequest, reason: str) -> HttpResponse:
    """The page after a sign-in that was not valid; the log says why."""
    logger.warning("a sign-in by the provider was refused: %s", reason)
    record_action(None, None, "sign-in failed", "answer of the provider", by="provider")
    messages.error(request, _("{name} did not sign you in. Try again.").format(name=the_provider().name))
    return redirect("sign_in")


def _invitation_in(page: str) -> str:
    """The token of an invitation that somebody came from and that can still be used."""
    try:
        match = resolve(page.partition("?")[0])
    except Resolver404:
        return ""
    if match.url_name != "invitation":
        return ""
    try:
        invitation_of(match.kwargs["token"])
    except InputError:
        return ""
    return str(match.kwargs["token"])
