"""Broken rules as one exception with one sentence, and the shape every error of the HTTP interface has."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from http import HTTPStatus
from itertools import islice
from typing import Annotated, TypedDict

from django.conf import settings
from django.db import InterfaceError, OperationalError

from pooling.formats.errors import FormatError

PROBLEM_TYPE = "application/problem+json"
DATABASE_AWAY = "The database is temporarily unavailable. Send the request again in a moment."
RETRY_SECONDS = 5
# Among the fields at fault: no single one of them.
WHOLE_REQUEST = "request"


# What somebody sent is told back only as far as it helps to find it.
LONGEST_SENTENCE = 1500
LONGEST_NAME = 100
MOST_FIELDS = 50


class Problem(TypedDict):
    """Every refusal has this shape."""

    # After RFC 9457; `fields`: name -> sentence.
    title: str
    status: int
    detail: Annotated[str, "One readable sentence."]
    fields: dict[str, str]


class InputError(ValueError):
    """A request that cannot be met; the message says why and what to do instead.

    `field` names the input at fault; `fields` names several, each with its own sentence. `conflict` marks a
    name that is taken, `missing` a thing that was asked for by name and is not there.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        fields: dict[str, str] | None = None,
        conflict: bool = False,
        missing: bool = False,
    ) -> None:
        super().__init__(bounded_text(message))
        self.fields = fields or ({} if field is None else {field: message})
        self.conflict = conflict
        self.missing = missing

    @property
    def status(self) -> HTTPStatus:
        if self.missing:
            return HTTPStatus.NOT_FOUND
        return HTTPStatus.CONFLICT if self.conflict else HTTPStatus.BAD_REQUEST


def refuse_all(problems: Mapping[str, str | None]) -> None:
    """`InputError` with the sentences there are, by the input at fault."""
    fields = {name: problem for name, problem in problems.items() if problem}
    if fields:
        raise InputError(" ".join(fields.values()), fields=fields)


def bounded_text(text: str, longest: int = LONGEST_SENTENCE) -> str:
    """A text that somebody sent as far as an answer can hold it: its beginning, without halves of surrogate
    pairs, which JSON may bring.

    >>> bounded_text("a name without end", 7)
    'a name…'
    """
    shortened = text if len(text) <= longest else text[: longest - 1] + "…"
    return shortened.encode(errors="replace").decode()


class StorageFullError(InputError):
    def __init__(self) -> None:
        super().__init__("The server's disk is full. Nothing was saved. Free some space, then try again.")


class StorageAwayError(InputError):
    """The storage of files, where it is elsewhere, does not answer or refuses."""

    def __init__(self) -> None:
        super().__init__("The file storage does not answer. Nothing was saved. Try again in a moment.")


def is_disk_full(error: BaseException) -> bool:
    """The system or the database says that there is no room left."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    # SQLite says "database or disk is full", PostgreSQL "... No space left on device".
    message = str(error)
    return isinstance(error, OperationalError) and ("disk is full" in message or "No space left" in message)


def is_outage(error: BaseException) -> bool:
    """The database or the file storage is away, starting or too busy: something that passes."""
    return isinstance(error, OperationalError | InterfaceError | StorageAwayError)


def refusals() -> tuple[type[ValueError], ...]:
    """Errors of refused input, for `except`; a function, because file readers are slow to load."""
    return InputError, FormatError


def too_many_parts() -> str:
    """Why a form with too many fields or files is refused."""
    bounds = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS, settings.DATA_UPLOAD_MAX_NUMBER_FILES
    return "A form has at most {:,} fields and {:,} files. Send fewer at a time.".format(*bounds)


def problem_body(code: int, detail: str, fields: Mapping[str, str] | None = None) -> Problem:
    """A problem with what was sent cut to a readable length."""
    shortened = {
        bounded_text(str(name), LONGEST_NAME): bounded_text(str(sentence))
        for name, sentence in islice((fields or {}).items(), MOST_FIELDS)
    }
    phrase = HTTPStatus(code).phrase
    return {"title": phrase, "status": int(code), "detail": bounded_text(detail), "fields": shortened}
