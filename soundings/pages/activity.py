"""What admins did to a collection, for its admins."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pooling.interface.pages import page_of
from pooling.people.access import ADMIN, collection_for


@require_safe
@login_required
def activity(request: HttpRequest, slug: str) -> HttpResponse:
    """The list, newest first."""
    collection = collection_for(request.user, slug, ADMIN)
    rows = collection.admin_actions.select_related("actor")
    context = {"collection": collection, "page": page_of(request, rows)}
    return render(request, "soundings/activity.html", context)
