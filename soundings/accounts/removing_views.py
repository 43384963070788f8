"""Deleting an account: one's own on a page, any as a site admin, both over HTTP."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate, logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.interface import api
from pooling.interface.api import answers
from pooling.interface.forms import show_problem
from pooling.interface.pages import person
from pooling.interface.problems import refusals
from pooling.people.access import FOR_SITE_ADMINS, SiteAdminNeededError, runs_site
from pooling.people.membership import account_named
from soundings.accounts.removing import delete_account, may_delete_oneself
from soundings.sign_in.passwords import has_password


class DeletionForm(forms.Form):
    password = forms.CharField(
        label=gettext_lazy("Your password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class NameForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Your user name"),
        max_length=150,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def account_deletion(request: HttpRequest) -> HttpResponse:
    """Say what happens to one's account; POST with the password, or else the name, deletes it."""
    user = person(request)
    if not may_delete_oneself():
        raise PermissionDenied(_("On this site, site admins delete accounts. Ask one of them."))
    form = (DeletionForm if has_password(user) else NameForm)(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if _confirms(request, form):
            try:
                delete_account(user, by=user)
            except refusals() as error:
                show_problem(form, error)
            else:
                logout(request)
                messages.success(request, _("Your account is deleted."))
                return redirect("sign_in")
        elif "name" in form.fields:
            form.add_error("name", _("This is not your user name."))
        else:
            form.add_error("password", _("This is not your password."))
    return render(
        request, "soundings/account_deletion.html", {"form": form}, status=400 if form.errors else 200
    )


def _confirms(request: HttpRequest, form: forms.Form) -> bool:
    name, given = person(request).get_username(), form.cleaned_data
    if "name" in form.fields:
        return bool(given["name"] == name)
    return authenticate(request, username=name, password=given["password"]) is not None


class DeletedSerializer(serializers.Serializer[Any]):
    """The name under which the judgments of a deleted account stay."""

    pseudonym = serializers.CharField()


class OneAccount(APIView):
    @answers(DeletedSerializer, operation_id="accounts_destroy")
    def delete(self, request: Request, username: str) -> object:
        """Delete an account for good; its judgments stay under a pseudonym. Only for site admins."""
        if not runs_site(request.user):
            raise SiteAdminNeededError(FOR_SITE_ADMINS)
        pseudonym = delete_account(account_named(username), by=api.person(request))
        return {"pseudonym": pseudonym}
