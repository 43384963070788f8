from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from pooling.interface.api import Call, made, parsed, person, takes
from pooling.people.access import ADMIN, collection_for
from pooling.storage.imports import previewed, take_in


class UploadSerializer(serializers.Serializer[Any]):
    """A file to import, and the name of a run: other files may come with one as well, and have none here."""

    file = serializers.FileField()
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)


#: Of calls that import what can be previewed.
PREVIEW = OpenApiParameter(
    "preview", bool, description="With true, the answer is 200 with what the import would do; nothing stays."
)


def imports(body: type[Serializer[Any]], summary: type[Serializer[Any]]) -> Callable[[Call], Call]:
    """A call that imports the file in `body`, and with `preview` only tells what that would do."""
    return takes(body, makes=summary, also={200: summary}, parameters=[PREVIEW])


def _import(request: Request, slug: str, kind: str, body: type[Serializer[Any]]) -> Response:
    collection = collection_for(request.user, slug, ADMIN)
    options = parsed(body, request)
    if kind != "run":
        options.pop("name", None)
    if request.query_params.get("preview") == "true":
        file = options.pop("file")
        return Response(previewed(collection, kind, file, user=person(request), **options))
    return made(take_in(collection, kind, options.pop("file"), user=person(request), **options))
