"""Every error of the HTTP interface in its one shape. Only processes that answer requests load this:
Django REST framework takes as long to load as Django.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404
from rest_framework import status
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from pooling.formats.errors import FormatError
from pooling.interface.problems import (
    DATABASE_AWAY,
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
