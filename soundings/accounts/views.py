"""Signing in and out, and changing one's password: Django's views with this site's templates and words."""

from __future__ import annotations

from typing import Any

from axes.utils import reset
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _

from pooling.people.access import FOR_SITE_ADMINS, SiteAdminNeededError
from pooling.people.letters import MOST_TO_ONE
from soundings.accounts.forms import ChangePasswordForm, ForgotPasswordForm, NewPasswordForm, SignInForm
from soundings.sign_in.keeping import note_use
from soundings.sign_in.passwords import has_password, where_passwords_are
from soundings.sign_in.second_factor import asks_for_code, remember_first_step


class SignIn(auth.LoginView):
    """Sign-in; django-axes counts the failures and answers with the lock-out page."""

    template_name = "soundings/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **more: Any) -> dict[str, object]:
        return super().get_context_data(passwords=settings.PASSWORDS, provider=settings.OIDC, **more)

    @method_decorator(where_passwords_are)
    def post(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        return super().post(request, *args, **named)

    def form_valid(self, form: SignInForm) -> HttpResponse:  # type: ignore[override]
        user = form.get_user()
        if not asks_for_code(user):
            return super().form_valid(form)
        remember_first_step(self.request, user, self.get_success_url())
        return redirect("second_factor_code")


def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Django's admin sends people who are not signed in to the sign-in of the site."""
    if request.user.is_authenticated:
        raise SiteAdminNeededError(FOR_SITE_ADMINS)
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


class SignOut(auth.LogoutView):
    """Sign-out, by POST only, so that no link or picture can do it."""


@method_decorator(where_passwords_are, name="dispatch")
class ChangePassword(auth.PasswordChangeView):
    """A new password for oneself; other sessions of the account end."""

    template_name = "soundings/password.html"
    form_class = ChangePasswordForm
    success_url = reverse_lazy("home")

    def dispatch(self, request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not has_password(request.user):
            raise PermissionDenied(_("Your account has no password: you sign in without one."))
        return super().dispatch(request, *args, **named)

    def form_valid(self, form: ChangePasswordForm) -> HttpResponse:  # type: ignore[override]
        answer = super().form_valid(form)
        messages.success(self.request, _("Your password is changed."))
        # The session has another key now, by which it can be ended elsewhere.
        note_use(self.request, form.user)
        return answer


@method_decorator(where_passwords_are, name="dispatch")
class ForgotPassword(auth.PasswordResetView):
    """Ask for a link by mail; where the site sends none, say whom to ask."""

    template_name = "soundings/password_forgotten.html"
    form_class = ForgotPasswordForm
    success_url = reverse_lazy("sign_in")

    def dispatch(self, request: HttpRequest, *args: object, **options: object) -> HttpResponse:
        if not settings.SENDS_MAIL:
            return render(request, "soundings/password_ask.html")
        return super().dispatch(request, *args, **options)  # type: ignore[return-value]

    def form_valid(self, form: ForgotPasswordForm) -> HttpResponse:  # type: ignore[override]
        sentence = _("If an account has this address, a link is being sent to it (at most {count} an hour).")
        messages.success(self.request, sentence.format(count=MOST_TO_ONE))
        return super().form_valid(form)


@method_decorator(where_passwords_are, name="dispatch")
class NewPassword(auth.PasswordResetConfirmView):
    """A new password by a link that works once, from a letter or from `reset_password`."""

    template_name = "soundings/password_new.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("sign_in")

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:  # type: ignore[override]
        answer = super().form_valid(form)
        # Tries at the old password shut nobody out of the new one; tries at other names still count against
        # the addresses that they came from.
        reset(username=form.user.get_username())
        messages.success(self.request, _("Your password is changed. Sign in with it."))
        return answer
