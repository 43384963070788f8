"""Refusals of a site, each kind as its own exception with the site's sentence."""

from __future__ import annotations

from collections.abc import Mapping


class Problem(Exception):  # noqa: N818  what follows are its kinds, in the words of those who catch them
    """A call that was not done.

    status: of HTTP; 0 where no answer came. fields: the inputs at fault, each with a sentence.
    """

    def __init__(self, detail: str, *, status: int = 0, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.fields = dict(fields or {})


class NotSignedIn(Problem):
    """The token is missing, has ended or was revoked; or the name or the password is wrong."""


class NotAllowed(Problem):
    """Your role in the collection does not include this."""


class NotFound(Problem):
    """It does not exist, or it belongs to a collection of which you are not a member."""


class Refused(Problem):
    """The site read the call and refused it; the sentence and `fields` say why."""


class Conflict(Refused):
    """A name that is taken, or something that stands in the way."""


class Unavailable(Problem):
    """The site could not be reached, or is too busy; trying again later may help."""


class NotReached(Unavailable):
    """Nobody answered at this address, so nothing was done."""


class JobFailed(Problem):
    """Work in the background that failed or was cancelled."""


def problem_of(status: int, body: object) -> Problem:
    """The exception for an answer that is no success; `body`: its JSON, or anything else."""
    content = body if isinstance(body, dict) else {}
    detail = str(content.get("detail") or f"The site answered with HTTP {status}.")
    fields = content.get("fields")
    by_field = {str(name): str(value) for name, value in fields.items()} if isinstance(fields, dict) else {}
    return _kind(status)(detail, status=status, fields=by_field)


def _kind(status: int) -> type[Problem]:
    kinds: dict[int, type[Problem]] = {401: NotSignedIn, 403: NotAllowed, 404: NotFound, 409: Conflict}
    if status in kinds:
        return kinds[status]
    if status in (429, 502, 503, 504):
        return Unavailable
    return Refused if 400 <= status < 500 or status == 507 else Problem
