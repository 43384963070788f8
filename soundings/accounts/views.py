"""Signing in and out, and changing one's password: Django's views with this site's templates and words."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _

from pooling.people.activity_log import record_action
from soundings.accounts.forms import ChangePasswordForm, ForgotPasswordForm, NewPasswordForm, SignInForm
from soundings.accounts.mail import MOST_TO_ONE


class SignIn(auth.LoginView):
    """Sign-in; django-axes counts the failures and answers with the lock-out page."""

    template_name = "soundings/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class SignOut(auth.LogoutView):
    """Sign-out, by POST only, so that no link or picture can do it."""


class ChangePassword(auth.PasswordChangeView):
    """A new password for oneself; other sessions of the account end."""

    template_name = "soundings/password.html"
    form_class = ChangePasswordForm
    success_url = reverse_lazy("home")

    def form_valid(self, form: ChangePasswordForm) -> HttpResponse:  # type: ignore[override]
        record_action(None, form.user, "password changed")
        messages.success(self.request, _("Your password is changed."))
        return super().form_valid(form)


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


class NewPassword(auth.PasswordResetConfirmView):
    """A new password by a link that works once, from a letter or from `reset_password`."""

    template_name = "soundings/password_new.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("sign_in")

    def form_valid(self, form: NewPasswordForm) -> HttpResponse:  # type: ignore[override]
        record_action(None, form.user, "password changed", by="link")
        messages.success(self.request, _("Your password is changed. Sign in with it."))
        return super().form_valid(form)
