"""The page that finds anything by name or id, and the part of it that the palette of every page shows."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pooling.interface.pages import asked, person
from pooling.people.access import MEMBERS, collection_for
from soundings.pages.finding import LONGEST, find


@require_safe
@login_required
def find_anything(request: HttpRequest, slug: str = "") -> HttpResponse:
    """What has `q` in its name or id, in one collection or in all of one's own, whole or as a part."""
    collection = collection_for(request.user, slug, MEMBERS) if slug else None
    text = asked(request, "q")[:LONGEST]
    context = {"kinds": find(person(request), collection, text), "asked": text.strip()}
    if request.headers.get("HX-Request"):
        return render(request, "soundings/_found.html", context)
    return render(
        request, "soundings/find.html", {**context, "collection": collection, "section": "overview"}
    )
