"""Limits on tries of a password, by name and address and by address, checked before one is hashed."""

from __future__ import annotations

import ipaddress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.auth import get_user_model
from django.db.models import Sum
from django.http import HttpRequest

from pooling.people.activity_log import record_action
from pooling.tidying.erasing import forgets_old
from soundings.sign_in.second_factor import CODES, STEP, guesses_codes

# A household or a server has as many addresses of version 6 as it likes, within a network of this size.
NETWORK_V6 = 64


class ThrottledByAddress(AxesDatabaseHandler):  # type: ignore[misc]  # untyped
    """Counts every failure from an address, whatever the name, up to a separate limit."""

    def get_failures(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> int:
        """The failures by name and address; the limit at least where the address has reached its own.

        None for a code: somebody who has stolen a password could shut its owner out.
        """
        if STEP in (credentials or {}):
            return 0
        failures = int(super().get_failures(request, credentials))
        if self._from_address(request) >= settings.FAILURES_PER_ADDRESS:
            # For the page: it is not one name that is shut out.
            request.is_address_blocked = True  # type: ignore[attr-defined]
            return max(failures, settings.AXES_FAILURE_LIMIT)
        return failures

    def user_login_failed(
        self, sender: Any, credentials: dict[str, Any], request: Any = None, **more: Any
    ) -> None:
        """Count a wrong password, and write it down: whose it should have been, if an account has the name.

        Tries during a lock-out are refused unread, and are not written down. Wrong codes count apart, and are
        not written down once as many came from an address as wrong passwords may.
        """
        step = {STEP: credentials[STEP]} if STEP in credentials else {}
        counted = credentials | {"username": CODES} if step else credentials
        stopped = guesses_codes if step else partial(self.is_locked, credentials=credentials)
        was_stopped = request is not None and stopped(request)
        super().user_login_failed(sender, counted, request, **more)
        if request is not None and not was_stopped:
            name = str(credentials.get("username") or "").replace("\0", "")
            user = get_user_model().objects.filter(username=name).first()
            record_action(None, None, "sign-in failed", user or "an unknown name", **step)

    def _from_address(self, request: Any) -> int:
        if request.axes_ip_address is None:
            return 0
        recent = AccessAttempt.objects.filter(
            ip_address=request.axes_ip_address, attempt_time__gte=get_cool_off_threshold(request)
        ).exclude(username=CODES)
        return recent.aggregate(all=Sum("failures_since_start"))["all"] or 0


def client_address(request: HttpRequest) -> str | None:
    """The address that the outermost of our own proxies saw (SOUNDINGS_PROXIES of them).

    Each proxy appends the address it was asked from to X-Forwarded-For, so only the last ones are true. An
    address of version 6 stands for its network. None where the server is asked through a separate socket.
    """
    proxies = settings.PROXIES
    forwarded = request.headers.get("X-Forwarded-For", "").split(",")
    chosen = forwarded[-proxies] if 0 < proxies <= len(forwarded) else ""
    return _normal(chosen) or _normal(request.META.get("REMOTE_ADDR", ""))


def _normal(text: str) -> str | None:
    try:
        address = ipaddress.ip_address(text.strip().partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, NETWORK_V6), strict=False).network_address)


KINDS = (AccessAttempt, AccessFailureLog, AccessLog)


@forgets_old
def forget_sign_ins(now: datetime) -> None:
    """Delete what is kept of sign-ins and of wrong passwords before SIGN_IN_LOG_DAYS."""
    before = now - timedelta(days=settings.SIGN_IN_LOG_DAYS)
    for kind in KINDS:
        kind.objects.filter(attempt_time__lt=before).delete()
