"""The second factor of passwords: codes of an app (TOTP), and recovery codes that work once.

django-allauth stores and computes them; the secrets are encrypted in the database. People whom
the provider signs in are not asked, because the provider can ask them.
"""

from __future__ import annotations

import time
from base64 import b64encode
from typing import Any, NamedTuple

from axes.attempts import get_cool_off_threshold
from axes.handlers.proxy import AxesProxyHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_login_failed
from django.db import transaction
from django.db.models import Sum
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from pooling.people.activity_log import record_action
from soundings.installation.sign_in import OFF, REQUIRED
from soundings.sign_in.chosen import FACTORS, table
from soundings.sign_in.keeping import end_sessions, sessions_of
from soundings.sign_in.passwords import BY_PROVIDER

APP_CODE, RECOVERY = "totp", "recovery_codes"
FIRST_STEP, SECRET, PROVED = "first_step", "second_factor_secret", "second_factor_proved"
#: Noted in the session: of which app a code was given in it.
GIVEN = "second_factor_given"
#: Noted with the app: the step of time of the last code that was taken, and the wrong ones since.
LAST_STEP, WRONG = "last_step", "wrong_codes"
#: Under this name, which nobody has, django-axes counts wrong codes: apart from passwords, for they shut
#: nobody out.
CODES, STEP = "codes of second factors", "step"
MINUTE = 60
#: Between the password and the code, and for which recovery codes stay in view.
FIRST_STEP_SECONDS = 10 * MINUTE
PROVED_SECONDS = 10 * MINUTE
#: Wrong codes of an account after which one code is not enough.
MOST_WRONG = 10


class FirstStep(NamedTuple):
    """Somebody whose password was right, and where they wanted to go."""

    user: User
    next_page: str


def is_on() -> bool:
    return bool(settings.SECOND_FACTOR != OFF)


def asks_for_code(user: User) -> bool:
    return is_on() and _rows(user).filter(type=APP_CODE).exists()


def is_missing(user: User) -> bool:
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


def takes_two_codes(request: HttpRequest, user: User) -> bool:
    """One code is not enough, because too many were wrong for the account or from this address.

    Anyone who has the password can bring this about, so it shuts nobody out: the owner signs in with two
    codes in a row, from anywhere, and a guess at two is right three times in a million million.
    """
    return wrong_codes(user) >= MOST_WRONG or guesses_codes(request)


def wrong_codes(user: User) -> int:
    """The wrong codes since the last right one, from wherever they came."""
    app = _rows(user).filter(type=APP_CODE).first()
    return int(app.data.get(WRONG, 0)) if app else 0


def guesses_codes(request: Any) -> bool:
    """As many wrong codes came from this address lately as wrong passwords may."""
    AxesProxyHandler.update_request(request)
    if request.axes_ip_address is None:
        return False
    recent = AccessAttempt.objects.filter(
        username=CODES, ip_address=request.axes_ip_address, attempt_time__gte=get_cool_off_threshold(request)
    )
    wrong = recent.aggregate(all=Sum("failures_since_start"))["all"] or 0
    return bool(wrong >= settings.FAILURES_PER_ADDRESS)


def what_to_enter(request: HttpRequest, user: User) -> str:
    if takes_two_codes(request, user):
        return _(
            "Too many wrong codes were entered. Enter two codes with a space between them: the one that your "
            "app shows now and the one after it, or two recovery codes."
        )
    return _("Wrong code. Wait for the next one and try again.")


def proves(request: HttpRequest, user: User, code: str) -> bool:
    """A wrong code is counted in the database, which all processes share."""
    if _is_right(user, "".join(code.split()).replace("-", ""), guessed=guesses_codes(request)):
        return True
    credentials = {"username": user.get_username(), STEP: "code"}
    user_login_failed.send(__name__, credentials=credentials, request=request)
    return False


@transaction.atomic
def _is_right(user: User, code: str, *, guessed: bool) -> bool:
    """Locked, so that two requests neither use one code nor guess at the same time."""
    rows = {row.type: row for row in _rows(user).select_for_update().order_by("pk")}
    app = rows.get(APP_CODE)
    if app is None:
        return False
    two = guessed or app.data.get(WRONG, 0) >= MOST_WRONG
    codes = [code[: len(code) // 2], code[len(code) // 2 :]] if two else [code]
    step = _step_of(_secret_in(app), codes, after=app.data.get(LAST_STEP, 0))
    right = step is not None or _use_recovery(user, rows.get(RECOVERY), codes)
    app.data[WRONG] = 0 if right else app.data.get(WRONG, 0) + 1
    if step is not None:
        app.data[LAST_STEP], app.last_used_at = step, timezone.now()
    app.save(update_fields=["data", "last_used_at"])
    return right


def _step_of(secret: str, codes: list[str], *, after: int) -> int | None:
    """The step of time that the last of these codes is of; they belong to steps in a row, all `after` one."""
    from allauth.mfa.totp.internal import auth as totp

    for last in totp.yield_hotp_counters_from_time():
        steps = range(last - len(codes) + 1, last + 1)
        expected = [totp.format_hotp_value(totp.hotp_value(secret, step)) for step in steps]
        if steps[0] > after and constant_time_compare(" ".join(expected), " ".join(codes)):
            return int(last)
    return None


def _secret_in(app: Any) -> str:
    from allauth.mfa.utils import decrypt

    return str(decrypt(app.data["secret"]))


def _use_recovery(user: User, row: Any, codes: list[str]) -> bool:
    """Use recovery codes up; False where one of them is unknown or was used."""
    if row is None or len(set(codes)) < len(codes) or not set(codes) <= set(row.wrap().get_unused_codes()):
        return False
    for code in codes:
        row.wrap().validate_code(code)
    row.refresh_from_db()
    row.last_used_at = timezone.now()
    row.save(update_fields=["last_used_at"])
    record_action(None, user, "recovery code used", user, left=len(row.wrap().get_unused_codes()))
    return True


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


@transaction.atomic
def turn_on(request: HttpRequest, user: User, code: str) -> bool:
    """Set the second factor up and end other sessions; False where the code is not of the secret shown."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP

    get_user_model().objects.select_for_update().get(pk=user.pk)
    secret = request.session.get(SECRET)
    step = _step_of(secret, ["".join(code.split())], after=0) if secret else None
    if step is None or asks_for_code(user):
        return False
    _rows(user).delete()
    app = TOTP.activate(user, secret).instance
    app.data[LAST_STEP] = step
    app.save(update_fields=["data"])
    RecoveryCodes.activate(user)
    record_action(None, user, "second factor turned on", user)
    end_sessions(user, sessions_of(user).exclude(session_key=request.session.session_key))
    del request.session[SECRET]
    note_code(request, user)
    prove(request)
    return True


@transaction.atomic
def turn_off(user: User) -> None:
    _rows(user).delete()
    record_action(None, user, "second factor turned off", user)


# --- Recovery codes ---------------------------------------------------------------------------------------


def prove(request: HttpRequest) -> None:
    """Note that somebody has just given a code: recovery codes may be seen for a while."""
    request.session[PROVED] = time.time()


def has_proved(request: HttpRequest) -> bool:
    """True for a while after `prove`."""
    return bool(time.time() - request.session.get(PROVED, 0) < PROVED_SECONDS)


def recovery_codes(user: User) -> list[str]:
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


def note_code(request: HttpRequest, user: User) -> None:
    """Note in the session that a code of the account's app, or one that stands for it, was given."""
    request.session[GIVEN] = _rows(user).get(type=APP_CODE).pk


def is_due(request: HttpRequest) -> bool:
    """True for a session of somebody who must set up a second factor before anything else, or sign in again,
    because it is there and no code of it was given in this session.

    Asked of the database each time: what was set up may have been ended meanwhile, here or elsewhere.
    """
    if settings.SECOND_FACTOR != REQUIRED or settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return False
    session = request.session
    if session.get(BACKEND_SESSION_KEY) in (None, BY_PROVIDER) or not request.user.is_authenticated:
        return False
    return not _rows(request.user).filter(type=APP_CODE, pk=session.get(GIVEN)).exists()


def _rows(user: User) -> Any:
    return table(FACTORS).filter(user=user)
