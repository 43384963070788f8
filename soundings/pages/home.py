"""The home page with one's collections, and a collection's overview."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from labeling.judging.blind_counts import own_queues
from labeling.qrels.judgment_views import JUDGMENT_FORMATS
from pooling.interface.markdown import render_markdown
from pooling.interface.pages import page_of, person, speak
from pooling.models import Role
from pooling.people.access import (
    MEMBERS,
    collection_for,
    collections_of,
    deleted_collections_of,
    may_create_collections,
    role_in,
)
from pooling.people.invitations import MOST_LISTED, offers_to
from soundings.pages.overview import home_rows, listed_collections, only_annotates
from soundings.pages.overview_page import overview_of


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """A page of one's collections with role, progress and next step; the first visit shows the steps."""
    page = page_of(request, home_rows(person(request)))
    listed = listed_collections(person(request), page)
    only_judges = only_annotates(person(request))
    if only_judges:
        speak(request)
    offers = offers_to(person(request))[:MOST_LISTED]
    context = {
        "listed": listed,
        "page": page,
        "offers": offers,
        "may_create": may_create_collections(request.user),
        "only_judges": only_judges,
        "archived": collections_of(request.user).filter(archived_at__isnull=False),
        "deleted": deleted_collections_of(request.user).select_related("deleted_by"),
    }
    return render(request, "soundings/home.html", context)


@require_safe
@login_required
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    """A collection's overview: results, what is next and how far it is; for an annotator the queues."""
    collection = collection_for(request.user, slug, MEMBERS)
    context: dict[str, Any] = {
        "collection": collection,
        "section": "overview",
        "guidelines": render_markdown(collection.guidelines),
    }
    user = person(request)
    if role_in(user, collection) == Role.ANNOTATOR:
        speak(request)
        context["queues"] = own_queues(collection, user)
        return render(request, "soundings/collection_annotator.html", context)
    context["overview"] = overview_of(collection, user)
    context["memberships"] = collection.memberships.select_related("user")
    context["judgment_formats"] = JUDGMENT_FORMATS
    return render(request, "soundings/collection.html", context)
