"""Common to calls over HTTP: the body as read, the answers for things made, who is signed in, and every error
in its one shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, wraps
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import empty
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer, BooleanField, Field, FileField, ListField, Serializer
from rest_framework.settings import api_settings
from rest_framework.utils.html import is_html_input
from rest_framework.views import exception_handler

from pooling.formats.errors import FormatError
from pooling.interface import serializers
from pooling.interface.parsers import storable
from pooling.interface.problems import (
    DATABASE_AWAY,
    LONGEST_NAME,
    MOST_FIELDS,
    PROBLEM_TYPE,
    RETRY_SECONDS,
    WHOLE_REQUEST,
    InputError,
    StorageAwayError,
    StorageFullError,
    is_disk_full,
    is_outage,
    problem_body,
    too_many_parts,
)
from pooling.interface.shapes import shape
from pooling.interface.uploads import refuse_uploads
from pooling.models import Job

# How much of two names is the same where one is a typo of the other, and where they are only alike.
TYPO, ALIKE = 0.85, 0.6
PROBLEM = serializers.ProblemSerializer
Call = TypeVar("Call", bound=Callable[..., Any])
#: What was made, or the job that makes it.
Made: TypeAlias = Mapping[str, Any] | Job


def person(request: Request | HttpRequest) -> User:
    """The interface lets nobody else through."""
    return cast("User", request.user)


def parsed(kind: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The body, of a GET the parameters of the address, as `kind` reads it; a wrong one is answered with 400.

    A form leaves out what it has no value for, which the framework takes for an unticked box: here it is not
    named, as in JSON.
    """
    refuse_uploads(request._request)
    if request.method == "GET":
        sent = request.query_params
    else:
        sent = storable(request.data)
        _refuse_unknown(kind, sent)
    values = validated(kind, sent)
    if not is_html_input(sent):
        return values
    named = set(sent)
    unticked = {name for name, field in _reader(kind).fields.items() if _is_box(field) and name not in named}
    return {name: value for name, value in values.items() if name not in unticked}


def _refuse_unknown(kind: type[Serializer[Any]], body: Any) -> None:
    """ValidationError for names that no field has: what a typo says would be left out without a word."""
    if not isinstance(body, Mapping):
        return
    names = {str(name) for name in body}
    if is_html_input(body):  # parts of a list or an object have their place after its name
        names = {re.split(r"[.\[]", name, maxsplit=1)[0] for name in names} - {"csrfmiddlewaretoken"}
    fields = _reader(kind).fields
    taken = [name for name, field in fields.items() if not field.read_only]
    problems = {}
    for name in sorted(names.difference(fields))[:MOST_FIELDS]:
        meant = _meant(name[:LONGEST_NAME], taken)
        instead = f"write {meant}" if meant else f"it takes {', '.join(taken)}"
        problems[name] = [f"This call takes no such field; {instead}."]
    if problems:
        raise ValidationError(problems)


def _meant(name: str, taken: Sequence[str]) -> str:
    """The field that a name is a typo of, or shares its words with; empty where none is alike."""
    words = set(name.split("_"))
    within = [one for one in taken if words.issuperset(one.split("_"))]
    around = [one for one in taken if words.issubset(one.split("_"))]
    typos, alike = (get_close_matches(name, taken, 1, cutoff) for cutoff in (TYPO, ALIKE))
    return next(iter([*typos, *sorted(within, key=len, reverse=True), *sorted(around, key=len), *alike]), "")


def validated(kind: type[Serializer[Any]], data: Any) -> dict[str, Any]:
    """The values of `data` as `kind` reads them; ValidationError with the fields at fault in `detail`."""
    try:
        return cast("dict[str, Any]", _reader(kind).run_validation(data))
    except ValidationError as error:
        if isinstance(error.detail, dict):
            raise
        kind(data=data).is_valid(raise_exception=True)  # no object at all: says so with its fields
        raise


@cache
def _reader(kind: type[Serializer[Any]]) -> Serializer[Any]:
    """One for all requests: to make its fields takes longer than to read a verdict with them."""
    return kind()


def _is_box(field: Field[Any, Any, Any, Any]) -> bool:
    default: object = field.default
    return isinstance(field, BooleanField) and not field.required and default is empty


def made(outcome: Made) -> Response:
    """201 with what was made, or 202 with the job that makes it."""
    if isinstance(outcome, Job):
        return Response({"job": outcome.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(outcome, status=status.HTTP_201_CREATED)


def answers(
    gives: Any = None,
    *,
    makes: Any = None,
    status: int = 200,
    also: Mapping[int, Any] | None = None,
    request: Any = None,
    **more: Any,
) -> Callable[[Call], Call]:
    """Declare a call's answer for the schema; what it returns is written so, unless it is a response already.

    gives: a serializer, or a class that `shape` makes one of; without it there is nothing to say. makes: what
    is made at once, if not by a job. also: more answers by status; `OneBodySchema` adds the usual problems.
    more: as `extend_schema` takes it.
    """
    kind = shape(gives) if isinstance(gives, type) and not issubclass(gives, BaseSerializer) else gives
    answer = {201: makes, 202: serializers.JobStartedSerializer} if makes else {status if kind else 204: kind}

    def described(call: Call) -> Call:
        @wraps(call)
        def answering(*args: Any, **address: Any) -> HttpResponseBase:
            result = call(*args, **address)
            if isinstance(result, HttpResponseBase):
                return result
            if makes:
                return made(result)
            if kind is None:
                return Response(status=204)
            written = kind(result) if isinstance(kind, type) else type(kind.child)(result, many=True)
            return Response(written.data, status)

        return cast(
            "Call", extend_schema(request=request, responses={**answer, **(also or {})}, **more)(answering)
        )

    return described


def takes(body: Any, **more: Any) -> Callable[[Call], Call]:
    """Declare a call's `body`, and its answer; more: as `answers` takes it."""
    return answers(request=body, **more)


def versioned(
    request: Request, version: tuple[object, ...], answer: Callable[[], HttpResponseBase]
) -> HttpResponseBase:
    """The answer with the `ETag` of what it was made of, or 304 without making it, for those who have it."""
    etag = quote_etag(sha256(repr(version).encode()).hexdigest()[:32])
    not_modified = get_conditional_response(request._request, etag=etag)
    if not_modified is not None:
        return not_modified
    response = answer()
    response["ETag"] = etag
    return response


class OneKind(BaseContentNegotiation):
    """Answers as the view does: here `format` names a file format, not a way of rendering."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first one, for errors."""
        return renderers[0], renderers[0].media_type


class OneBodySchema(AutoSchema):
    """Bodies with files are multipart forms, all others JSON; forms are still read, but not described, so
    that a generated client has one way.

    Every call has the problems that its kind may have: 400 where something is sent or asked for, 401 and 403
    where one has to be signed in, 404 for what an address names, and 409 where that is changed.
    """

    def map_parsers(self) -> list[str]:
        serializer: Any = self.get_request_serializer()
        body = serializer() if isinstance(serializer, type) else serializer
        fields = getattr(body, "fields", {})
        has_file = any(isinstance(field, FileField) for field in fields.values())
        return ["multipart/form-data" if has_file else "application/json"]

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        names_thing, changes = "{" in self.path, self.method != "GET"
        asks = any(one["in"] == "query" for one in self._get_parameters())
        usual = {400: changes or asks, 401: self.get_auth(), 403: self.get_auth()}
        usual |= {404: names_thing, 409: names_thing and changes}
        added = [str(code) for code, is_usual in usual.items() if is_usual and str(code) not in bodies]
        schema: Any = self
        return bodies | {code: schema._get_response_for_code(PROBLEM, code) for code in added}

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        usual: Any = super()
        schema = usual._map_serializer_field(field, direction, bypass_extensions)
        if isinstance(field, ListField) and isinstance(field.child, Serializer) and field.child.allow_null:
            # The framework drops it.
            schema["items"] = {"allOf": [schema["items"]], "nullable": True}
        return schema

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        # What is called a request already is called so once.
        name = super()._get_serializer_name(serializer, direction, bypass_extensions)
        return str(name).replace("RequestRequest", "Request")


def file_call(files: Mapping[str, object]) -> Callable[[Call], Call]:
    """The OpenAPI description of a call that answers with one of `files`, named in its address."""
    described: Callable[[Call], Call] = extend_schema(
        parameters=[OpenApiParameter("format", str, OpenApiParameter.PATH, enum=list(files))],
        responses=serializers.FILE,
    )
    return described


def problem_response(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Answer every refusal as a `Problem`.

    `ValueError`s that are not ours stay errors of the server.
    """
    problem = _problem_of_input(exception)
    if problem is None:
        response = exception_handler(exception, context)
        if response is None:
            return None
        fields = _fields_of(exception.detail) if isinstance(exception, ValidationError) else {}
        detail = _sentence(exception, fields)
        headers = {name: response[name] for name in ("WWW-Authenticate", "Retry-After") if name in response}
        return _problem(response.status_code, detail, fields, headers)
    return problem


def _problem_of_input(exception: Exception) -> Response | None:
    if is_disk_full(exception):
        exception = StorageFullError()
    if is_outage(exception):
        detail = str(exception) if isinstance(exception, StorageAwayError) else DATABASE_AWAY
        headers = {"Retry-After": str(RETRY_SECONDS)}
        return _problem(status.HTTP_503_SERVICE_UNAVAILABLE, detail, headers=headers)
    if isinstance(exception, StorageFullError):
        return _problem(status.HTTP_507_INSUFFICIENT_STORAGE, str(exception))
    if isinstance(exception, InputError):
        wait = getattr(exception, "wait", None)
        headers = {} if wait is None else {"Retry-After": str(wait)}
        return _problem(exception.status, str(exception), exception.fields, headers)
    if isinstance(exception, RequestDataTooBig):
        bound = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,}"
        return _problem(
            status.HTTP_413_REQUEST_ENTITY_TOO_LARGE,
            f"The request body is larger than {bound} bytes. Send less at a time, or a file.",
        )
    if isinstance(exception, TooManyFieldsSent | TooManyFilesSent):
        return _problem(status.HTTP_400_BAD_REQUEST, too_many_parts())
    if isinstance(exception, SuspiciousOperation):
        return _problem(status.HTTP_400_BAD_REQUEST, f"The request could not be read: {exception}")
    if isinstance(exception, FormatError):
        return _problem(status.HTTP_400_BAD_REQUEST, str(exception), {"file": str(exception)})
    return None


def _problem(
    code: int, detail: str, fields: Mapping[str, str] | None = None, headers: dict[str, str] | None = None
) -> Response:
    body = problem_body(code, detail, fields)
    return Response(body, status=code, headers=headers, content_type=PROBLEM_TYPE)


def _fields_of(detail: Any) -> dict[str, str]:
    if isinstance(detail, dict):
        return {
            WHOLE_REQUEST if name == api_settings.NON_FIELD_ERRORS_KEY else name: _first_sentence(value)
            for name, value in detail.items()
        }
    return {WHOLE_REQUEST: _first_sentence(detail)}


def _first_sentence(value: Any) -> str:
    while isinstance(value, list | dict):
        if not value:
            return ""
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
    return str(value)


def _sentence(exception: Exception, fields: Mapping[str, str]) -> str:
    if fields:
        name, message = next(iter(fields.items()))
        return message if name == WHOLE_REQUEST else f"{name}: {message}"
    if isinstance(exception, Http404 | PermissionDenied) and str(exception):
        return str(exception)
    detail = getattr(exception, "detail", None)
    return str(detail) if isinstance(detail, str | ErrorDetail) else str(exception)
