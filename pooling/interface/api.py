"""What every call over HTTP shares: the body as read, the answers for things made, and who is signed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, cast

from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.openapi import AutoSchema
from rest_framework import status
from rest_framework.fields import empty
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, Field, FileField, Serializer
from rest_framework.utils.html import is_html_input

from pooling.interface import serializers
from pooling.interface.parsers import storable
from pooling.interface.uploads import refuse_uploads
from pooling.models import Job

PROBLEM = serializers.ProblemSerializer


def person(request: Request) -> User:
    """Who is signed in; the interface lets nobody else through."""
    return cast("User", request.user)


def parsed(kind: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The body as `kind` reads it; a wrong one is answered with 400.

    A form leaves out what it has no value for, which the framework takes for an unticked box: here it is not
    named, as in JSON.
    """
    refuse_uploads(request._request)
    serializer = kind(data=storable(request.data))
    serializer.is_valid(raise_exception=True)
    values = cast("dict[str, Any]", serializer.validated_data)
    if not is_html_input(request.data):
        return values
    named = set(request.data)
    unticked = {name for name, field in serializer.fields.items() if _is_box(field) and name not in named}
    return {name: value for name, value in values.items() if name not in unticked}


def _is_box(field: Field[Any, Any, Any, Any]) -> bool:
    default: object = field.default
    return isinstance(field, BooleanField) and not field.required and default is empty


def made(outcome: Mapping[str, Any] | Job) -> Response:
    """201 with what was made, or 202 with the job that makes it."""
    if isinstance(outcome, Job):
        return Response({"job": outcome.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(outcome, status=status.HTTP_201_CREATED)


def making(result: type[Serializer[Any]]) -> dict[int, Any]:
    """The answers of a call that makes something, for the schema."""
    return {201: result, 202: serializers.JobStartedSerializer, 400: PROBLEM, 409: PROBLEM}


def versioned(
    request: Request, version: tuple[object, ...], answer: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """The answer with the `ETag` of what it was made of, or 304 without making it, for those who have it."""
    etag = quote_etag(sha256(repr(version).encode()).hexdigest()[:32])
    known = get_conditional_response(request._request, etag=etag)
    if known is not None:
        return known
    response = answer()
    response["ETag"] = etag
    return response


class OneKind(BaseContentNegotiation):
    """Answers as the view does: here `format` names a file format, not a way of rendering."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The parser of the request's own content type."""
        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first one, for errors."""
        return renderers[0], renderers[0].media_type


class OneBodySchema(AutoSchema):
    """Bodies with files are multipart forms, all others JSON; forms are still read, but not described, so
    that a generated client has one way.
    """

    def map_parsers(self) -> list[str]:
        """The content type of the body."""
        found: Any = self.get_request_serializer()
        body = found() if isinstance(found, type) else found
        fields = getattr(body, "fields", {})
        has_file = any(isinstance(field, FileField) for field in fields.values())
        return ["multipart/form-data" if has_file else "application/json"]

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        # What is called a request already is called so once.
        name = super()._get_serializer_name(serializer, direction, bypass_extensions)
        return str(name).replace("RequestRequest", "Request")
