"""Sign-in with a password, where the site has it, and the backend of those who sign in without one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

View = Callable[..., HttpResponseBase]
BY_PASSWORD = "django.contrib.auth.backends.ModelBackend"  # noqa: S105  the name of a class
BY_PROVIDER = "soundings.sign_in.passwords.ByProvider"


class PasswordsAllowed:
    """The first backend to be asked: it refuses every password where the site has none, on whatever page."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        """Nobody; `PermissionDenied` ends the search of the other backends."""
        if not settings.PASSWORDS:
            raise PermissionDenied


class ByProvider(ModelBackend):
    """Noted in the sessions of people whom the provider signed in; it knows no passwords."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:  # type: ignore[override]
        """None: nobody signs in here."""
        return


def has_password(user: User) -> bool:
    """True for somebody who can sign in, and so confirm something, with a password."""
    return bool(settings.PASSWORDS) and user.has_usable_password()


def no_passwords() -> str:
    """Why a password is refused, and how to sign in instead."""
    name = settings.OIDC.name if settings.OIDC else ""
    return _("This site has no passwords. Sign in with {name}.").format(name=name)


def refuse_password(request: HttpRequest) -> HttpResponse:
    return render(request, "soundings/no_passwords.html", {"problem": no_passwords()}, status=403)


def where_passwords_are(view: View) -> View:
    """A view that is about passwords: refused where the site has none."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        return view(request, *args, **named) if settings.PASSWORDS else refuse_password(request)

    return answer
