"""The second factor of passwords: codes of an app (TOTP), and recovery codes that work once.

django-allauth stores and computes them; the secrets are encrypted in the database. People whom
the provider signs in are not asked, because the provider can ask them.
"""

from __future__ import annotations

import time
from base64 import b64encode
from typing import TYPE_CHECKING, Any, NamedTuple

from axes.handlers.proxy import AxesProxyHandler
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, get_user_model
from django.contrib.auth.signals import user_login_failed
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from pooling.interface.counting import counted
from pooling.people.activity_log import record_action
from pooling.people.link_tokens import hashed
from soundings.installation.sign_in import OFF, REQUIRED
from soundings.sign_in.chosen import FACTORS, table
from soundings.sign_in.passwords import BY_PASSWORD

if TYPE_CHECKING:
    from django.contrib.auth.models import User

APP_CODE, RECOVERY = "totp", "recovery_codes"
FIRST_STEP, SECRET, PROVED, DUE = "first_step", "second_factor_secret", "second_factor_proved", "factor_due"
MINUTE = 60
#: Between the password and the code, and for which recovery codes stay in view.
FIRST_STEP_SECONDS = 10 * MINUTE
PROVED_SECONDS = 10 * MINUTE
#: Codes that one account may try, from wherever they come.
MOST_CODES, WITHIN = 10, 15 * MINUTE
#: How long a code of an app could be sent once more.
USED_SECONDS = 3 * MINUTE
ISSUER = "Soundings"


class FirstStep(NamedTuple):
    """Somebody whose password was right, and where they wanted to go."""

    user: User
    next_page: str


def is_on() -> bool:
    """Whether passwords may have a second factor on this site."""
    return bool(settings.SECOND_FACTOR != OFF)


def asks_for_code(user: User) -> bool:
    """Whether the password of somebody is not enough."""
    return is_on() and _rows(user).filter(type=APP_CODE).exists()


def is_missing(user: User) -> bool:
    """Whether somebody must set up a second factor before anything else."""
    return bool(settings.SECOND_FACTOR == REQUIRED) and not asks_for_code(user)


# --- Between password and code ----------------------------------------------------------------------------


def remember_first_step(request: HttpRequest, user: User, next_page: str) -> None:
    """Note in the session that the password was right; nobody is signed in by that."""
    request.session[FIRST_STEP] = {
        "user": user.pk,
        "password": user.get_session_auth_hash(),
        "at": time.time(),
        "next": next_page,
    }


def first_step_of(request: HttpRequest) -> FirstStep | None:
    """Whose password was right in this browser, some minutes ago at most."""
    noted: dict[str, Any] = request.session.get(FIRST_STEP) or {}
    if time.time() - noted.get("at", 0) > FIRST_STEP_SECONDS:
        return None
    user = get_user_model().objects.filter(pk=noted["user"], is_active=True).first()
    if user is None or not constant_time_compare(noted["password"], user.get_session_auth_hash()):
        return None
    return FirstStep(user, noted["next"])


# --- Codes ------------------------------------------------------------------------------------------------


def proves(request: HttpRequest, user: User, code: str) -> bool:
    """Whether a code is right. A wrong one counts as a wrong password does, and is written down.

    Anyone who is shut out is refused unread; django-axes answers such a request.
    """
    name = {"username": user.get_username()}
    if AxesProxyHandler.is_locked(request, name):
        request.axes_locked_out = True  # type: ignore[attr-defined]
        request.axes_credentials = name  # type: ignore[attr-defined]
        return False
    if counted(f"codes/{user.pk}", WITHIN).number <= MOST_CODES and _is_right(user, code):
        return True
    user_login_failed.send(__name__, credentials={**name, "step": "code"}, request=request)
    return False


@transaction.atomic
def _is_right(user: User, code: str) -> bool:
    code = "".join(code.split())
    for row in _rows(user).select_for_update():
        if row.type == APP_CODE and _was_used(row, code):
            continue
        if row.wrap().validate_code(code):
            row.refresh_from_db()
            if row.type == APP_CODE:
                row.data["used_sha256"] = hashed(code)
            row.last_used_at = timezone.now()
            row.save(update_fields=["data", "last_used_at"])
            if row.type == RECOVERY:
                record_action(None, user, "recovery code used", user, left=len(row.wrap().get_unused_codes()))
            return True
    return False


def _was_used(row: Any, code: str) -> bool:
    """Whether this code was taken a moment ago; in the database, because each process has its own cache."""
    is_recent = row.last_used_at and (timezone.now() - row.last_used_at).total_seconds() < USED_SECONDS
    return bool(is_recent) and row.data.get("used_sha256") == hashed(code)


# --- Turning it on and off --------------------------------------------------------------------------------


def secret_to_scan(request: HttpRequest, *, new: bool) -> str:
    """The secret that somebody is about to store in an app; kept in the session until a code confirms it."""
    from allauth.mfa.totp.internal.auth import generate_totp_secret

    if new or SECRET not in request.session:
        request.session[SECRET] = generate_totp_secret()
    return str(request.session[SECRET])


def picture_of(user: User, secret: str) -> str:
    """A QR code of the secret as the address of an image, which needs no script and no other request."""
    from allauth.mfa.adapter import get_adapter

    adapter = get_adapter()
    svg: str = adapter.build_totp_svg(adapter.build_totp_url(user, secret))
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def turn_on(request: HttpRequest, user: User, code: str) -> bool:
    """Set the second factor up; False where the code is not of the secret that was shown."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP, validate_totp_code

    secret = request.session.get(SECRET)
    if not secret or not validate_totp_code(secret, "".join(code.split())):
        return False
    with transaction.atomic():
        _rows(user).delete()
        TOTP.activate(user, secret)
        RecoveryCodes.activate(user)
        record_action(None, user, "second factor turned on", user)
    del request.session[SECRET]
    request.session.pop(DUE, None)
    prove(request)
    return True


@transaction.atomic
def turn_off(user: User) -> None:
    """Go back to the password alone."""
    _rows(user).delete()
    record_action(None, user, "second factor turned off", user)


# --- Recovery codes ---------------------------------------------------------------------------------------


def prove(request: HttpRequest) -> None:
    """Note that somebody has just given a code: recovery codes may be seen for a while."""
    request.session[PROVED] = time.time()


def has_proved(request: HttpRequest) -> bool:
    """Whether that is so."""
    return bool(time.time() - request.session.get(PROVED, 0) < PROVED_SECONDS)


def recovery_codes(user: User) -> list[str]:
    """Those that were not used yet."""
    row = _rows(user).filter(type=RECOVERY).first()
    return [str(code) for code in row.wrap().get_unused_codes()] if row else []


@transaction.atomic
def renew_recovery_codes(user: User) -> None:
    """Replace them; the ones before no longer work."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    _rows(user).filter(type=RECOVERY).delete()
    RecoveryCodes.activate(user)
    record_action(None, user, "recovery codes renewed", user)


# --- Required ---------------------------------------------------------------------------------------------


def note_missing(sender: object, request: HttpRequest, user: User, **more: object) -> None:
    """At sign-in with a password: note in the session that a second factor is to be set up first."""
    if request.session.get(BACKEND_SESSION_KEY) == BY_PASSWORD and is_missing(user):
        request.session[DUE] = True
    else:
        request.session.pop(DUE, None)


def _rows(user: User) -> Any:
    return table(FACTORS).filter(user=user)
