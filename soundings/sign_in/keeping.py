"""Sessions of people: a row for each, written at sign-in and then every few minutes at most, so that judging
pays nothing for it; and sessions that end when nobody uses them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from pooling.account_models import SeenSession
from pooling.people.activity_log import record_action
from pooling.people.current import request_address
from pooling.tidying.erasing import forgets_old

View = Callable[[HttpRequest], HttpResponse]
SEEN = "seen"
MINUTE = 60
#: How often a session that is used is written down.
EVERY = 5 * MINUTE
LONGEST_BROWSER = 300


def sessions_end_when_idle(get_response: View) -> View:
    """Middleware: note that a session is used, and end one that nobody used for SESSION_IDLE_MINUTES."""

    def answer(request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            now, seen = time.time(), request.session.get(SEEN)
            idle = settings.SESSION_IDLE_MINUTES * MINUTE
            if idle and seen is not None and now - seen > idle:
                logout(request)
            elif seen is None or now - seen > min(EVERY, idle / 4 if idle else EVERY):
                note_use(request, request.user)
        return get_response(request)

    return answer


def forget_sign_out(request: HttpRequest) -> None:
    if request.session.session_key:
        SeenSession.objects.filter(session_key=request.session.session_key).delete()


def note_use(request: HttpRequest, user: User) -> None:
    """Write down that a session is used; its key may be a new one since the last time."""
    request.session[SEEN] = time.time()
    if request.session.session_key is None:
        request.session.save()
    SeenSession.objects.update_or_create(
        {
            "user": user,
            "seen_at": timezone.now(),
            "address": request_address(),
            "browser": request.headers.get("User-Agent", "")[:LONGEST_BROWSER],
        },
        session_key=request.session.session_key,
    )


def sessions_of(user: User) -> QuerySet[SeenSession]:
    """Somebody's sessions, the last used first; what has ended meanwhile is left out."""
    now = timezone.now()
    keys = Session.objects.filter(expire_date__gt=now).values("session_key")
    rows = SeenSession.objects.filter(user=user, session_key__in=keys)
    if settings.SESSION_IDLE_MINUTES:
        rows = rows.filter(seen_at__gt=now - timedelta(minutes=settings.SESSION_IDLE_MINUTES))
    return rows.order_by("-seen_at", "-pk")


def end_sessions(user: User, sessions: QuerySet[SeenSession]) -> int:
    """Sign somebody out of some of their sessions, and say of how many."""
    keys = list(sessions.values_list("session_key", flat=True))
    if keys:
        Session.objects.filter(session_key__in=keys).delete()
        SeenSession.objects.filter(session_key__in=keys).delete()
        record_action(None, user, "sessions ended", user, count=len(keys))
    return len(keys)


@forgets_old
def forget_ended_sessions(now: datetime) -> None:
    Session.objects.filter(expire_date__lt=now).delete()
    before = now - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    SeenSession.objects.filter(seen_at__lt=before).delete()


def browser_in_words(agent: str) -> str:
    """The browser and the system, by their names.

    >>> browser_in_words("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox, Linux'
    >>> browser_in_words("curl/8.5.0")
    'curl'
    """
    browsers = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
    systems = {
        "iPhone": "iPhone",
        "iPad": "iPad",
        "Android": "Android",
        "Windows": "Windows",
        "Mac OS X": "macOS",
        "Linux": "Linux",
    }
    browser = next((name for sign, name in browsers.items() if f"{sign}/" in agent), "")
    system = next((name for sign, name in systems.items() if sign in agent), "")
    return ", ".join(filter(None, (browser or agent.split("/")[0][:40], system)))
