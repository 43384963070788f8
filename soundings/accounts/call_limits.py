"""Limits on the calls of the HTTP interface that an account, and each of its tokens, may make in a minute.

Two limits, so that a program that runs wild stops neither the pages nor the other programs of its owner.
Calls are counted in the cache: by each web process alone, unless CACHE_URL names one that all share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.throttling import BaseThrottle

from pooling.interface.counting import counted

if TYPE_CHECKING:  # the module of views reads this one
    from rest_framework.request import Request
    from rest_framework.views import APIView

MINUTE = 60


class Allowance(NamedTuple):
    """The rest of one of the limits; `left` is below zero for a call that is too many."""

    of: str
    limit: int
    left: int


class TooManyCalls(APIException):
    """429, with the seconds until the next call is answered."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS

    def __init__(self, allowance: Allowance, wait: int) -> None:
        super().__init__(
            f"This {allowance.of} may make {allowance.limit:,} calls a minute. Call again in {wait} seconds."
        )
        self.wait = wait  # becomes Retry-After


def calls_of(user: User | AnonymousUser) -> str:
    return f"calls/account/{user.pk}"


class CallLimit(BaseThrottle):
    """Counts a call, and says in every answer how many are left.

    The headers are those of draft-ietf-httpapi-ratelimit-headers: `RateLimit-Policy: "account";q=600;w=60`
    and `RateLimit: "account";r=599;t=42`.
    """

    def allow_request(self, request: Request, view: APIView) -> bool:
        """True, or `TooManyCalls`."""
        limits = _limits(request)
        if not limits:
            return True
        counts = {of: counted(key, MINUTE) for of, (_, key) in limits.items()}
        quotas = [Allowance(of, limit, limit - counts[of].number) for of, (limit, _) in limits.items()]
        wait = min(count.wait for count in counts.values())
        view.headers["RateLimit-Policy"] = ", ".join(f'"{one.of}";q={one.limit};w={MINUTE}' for one in quotas)
        view.headers["RateLimit"] = ", ".join(f'"{one.of}";r={max(0, one.left)};t={wait}' for one in quotas)
        for one in quotas:
            if one.left < 0:
                raise TooManyCalls(one, wait)
        return True


def _limits(request: Request) -> dict[str, tuple[int, str]]:
    """What is limited -> (limit, what is counted); None for nobody, who is refused anyway."""
    limits: dict[str, tuple[int, str]] = {}
    if settings.CALLS_PER_MINUTE and request.user.pk is not None:
        limits["account"] = settings.CALLS_PER_MINUTE, calls_of(request.user)
    if settings.TOKEN_CALLS_PER_MINUTE and request.auth is not None:
        limits["token"] = settings.TOKEN_CALLS_PER_MINUTE, f"calls/token/{request.auth.pk}"
    return limits
