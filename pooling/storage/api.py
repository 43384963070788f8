"""Importing an uploaded file over HTTP."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from pooling.interface.api import made, parsed, person
from pooling.people.access import ADMIN, collection_for
from pooling.storage.imports import take_in


def _import(request: Request, slug: str, kind: str, body: type[Serializer[Any]]) -> Response:
    collection = collection_for(request.user, slug, ADMIN)
    options = parsed(body, request)
    return made(take_in(collection, kind, options.pop("file"), user=person(request), **options))
