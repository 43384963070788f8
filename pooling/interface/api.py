"""What every call over HTTP shares: the body as read, the answers for things made, and who is signed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from rest_framework import status
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from pooling.interface import serializers
from pooling.interface.uploads import refuse_oversized
from pooling.models import Job

if TYPE_CHECKING:
    from django.contrib.auth.models import User


PROBLEM = serializers.ProblemSerializer


def person(request: Request) -> User:
    """Who is signed in; the interface lets nobody else through."""
    return cast("User", request.user)


def parsed(kind: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The body as `kind` reads it; a wrong one is answered with 400."""
    refuse_oversized(request._request)
    serializer = kind(data=request.data)
    serializer.is_valid(raise_exception=True)
    return cast("dict[str, Any]", serializer.validated_data)


def made(outcome: Mapping[str, Any] | Job) -> Response:
    """201 with what was made, or 202 with the job that makes it."""
    if isinstance(outcome, Job):
        return Response({"job": outcome.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(outcome, status=status.HTTP_201_CREATED)


def making(result: type[Serializer[Any]]) -> dict[int, Any]:
    """The answers of a call that makes something, for the schema."""
    return {201: result, 202: serializers.JobStartedSerializer, 400: PROBLEM, 409: PROBLEM}


class OneKind(BaseContentNegotiation):
    """Answers as the view does: here `format` names a file format, not a way of rendering."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The parser of the request's own content type."""
        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first one, for errors."""
        return renderers[0], renderers[0].media_type
