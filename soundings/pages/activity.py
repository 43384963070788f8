"""What admins did to a collection, for its admins."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pooling.people.access import ADMIN, collection_for

ON_A_PAGE = 50


@require_safe
@login_required
def activity(request: HttpRequest, slug: str) -> HttpResponse:
    """The list, newest first."""
    collection = collection_for(request.user, slug, ADMIN)
    rows = Paginator(collection.admin_actions.select_related("actor"), ON_A_PAGE)
    context = {"collection": collection, "page": rows.get_page(request.GET.get("page"))}
    return render(request, "soundings/activity.html", context)
