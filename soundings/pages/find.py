"""Finding anything by name or id: the page, the part of it in the palette of every page, and the call."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface.api import PROBLEM, answers
from pooling.interface.api import person as signed_in
from pooling.interface.pages import parameter, person, speak
from pooling.interface.shapes import shape
from pooling.models import Role
from pooling.people.access import MEMBERS, collection_for
from soundings.pages.finding import LONGEST, Destination, find


@require_safe
@login_required
def find_anything(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Things with `q` in their name or id, in one collection or in all of one's own, whole or as a part."""
    collection = collection_for(request.user, slug, MEMBERS) if slug else None
    if collection is None or collection.role == Role.ANNOTATOR:  # type: ignore[attr-defined]
        speak(request)
    text = parameter(request, "q")[:LONGEST]
    context = {"kinds": find(person(request), collection, text), "search": text.strip()}
    if request.headers.get("HX-Request"):
        return render(request, "soundings/_found.html", context)
    return render(
        request, "soundings/find.html", {**context, "collection": collection, "section": "overview"}
    )


class FoundKindSerializer(serializers.Serializer[Any]):
    """What was found of one kind, at most six of it."""

    kind = serializers.CharField(source="label")
    found = shape(Destination, "Found")(source="rows", many=True)


class Find(APIView):
    """Anything by its name or id."""

    @answers(
        FoundKindSerializer(many=True),
        also={404: PROBLEM},
        operation_id="find_list",
        parameters=[
            OpenApiParameter("q", str, description=f"Part of a name or id, at most {LONGEST} characters."),
            OpenApiParameter("collection", str, description="Only in this collection, by its short name."),
        ],
    )
    def get(self, request: Request) -> object:
        """What you may see with `q` in its name or id, the best kind first; without `q`, where you can go."""
        slug = request.query_params.get("collection", "")
        collection = collection_for(request.user, slug, MEMBERS) if slug else None
        text = parameter(request._request, "q")[:LONGEST]
        return find(signed_in(request), collection, text)
