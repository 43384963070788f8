from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from pooling.account_models import SeenSession
from pooling.interface import api
from pooling.interface.api import answers
from pooling.interface.pages import person
from pooling.people.access import fetch
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from soundings.sign_in.keeping import browser_in_words, end_sessions, sessions_of


@require_POST
@login_required
def session_end(request: HttpRequest, session_id: int) -> HttpResponse:
    user = person(request)
    session = get_object_or_404(sessions_of(user), pk=session_id)
    end_sessions(user, sessions_of(user).filter(pk=session.pk))
    messages.success(request, _("Signed out there."))
    return redirect("account")


@require_POST
@login_required
def sessions_end(request: HttpRequest) -> HttpResponse:
    """Sign out everywhere but here."""
    user = person(request)
    end_sessions(user, sessions_of(user).exclude(session_key=request.session.session_key))
    messages.success(request, _("You are signed out everywhere else."))
    return redirect("account")


class SessionSerializer(serializers.ModelSerializer[SeenSession]):
    """A browser in which the caller is signed in."""

    browser = serializers.SerializerMethodField(help_text="Browser and system, by their names.")

    class Meta:
        model = SeenSession
        fields = ["id", "browser", "address", "started_at", "seen_at"]

    def get_browser(self, row: SeenSession) -> str:
        return browser_in_words(row.browser)


class Sessions(APIView):
    @lists(SessionSerializer)
    def get(self, request: Request) -> Rows:
        """List the browsers in which you are signed in, the last used first."""
        return sessions_of(api.person(request))

    @answers(operation_id="sessions_destroy_all")
    def delete(self, request: Request) -> None:
        """Sign out of all browsers, but not of the one that asks."""
        user = api.person(request)
        here: Any = request._request.session.session_key
        end_sessions(user, sessions_of(user).exclude(session_key=here))


class OneSession(APIView):
    @answers()
    def delete(self, request: Request, session_id: int) -> None:
        """Sign out of a browser."""
        user = api.person(request)
        row = fetch(sessions_of(user), pk=session_id)
        end_sessions(user, sessions_of(user).filter(pk=row.pk))
