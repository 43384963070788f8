"""Signing in and out, and changing one's password: Django's views with this site's templates and words."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import views as auth
from django.http import HttpResponse
from django.urls import reverse_lazy

from soundings.forms import ChangePasswordForm, SignInForm


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
        messages.success(self.request, "Your password is changed.")
        return super().form_valid(form)
