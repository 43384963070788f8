"""One's account: tokens of programs, made over HTTP for a password or on its page, and one's data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth import authenticate, get_user_model
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from drf_spectacular.authentication import SessionScheme
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.models import JudgmentEvent, PairMessage, SupportEvent
from pooling.account_models import ApiToken, Preferences, Scope, SeenSession
from pooling.interface import api as interface_api
from pooling.interface.api import answers, takes
from pooling.interface.downloads import streamed
from pooling.interface.pages import go_on_with, made_once, person, secret_page
from pooling.interface.serializers import ProblemSerializer
from pooling.models import AdminAction, Invitation, Membership
from pooling.people.access import fetch
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from soundings.accounts.forms import TokenForm
from soundings.accounts.limits import limits_of
from soundings.accounts.removing import may_delete_oneself
from soundings.accounts.tokens import LONGEST_DAYS, LONGEST_NAME, make_token, revoke, tokens_of
from soundings.sign_in.chosen import own_rows
from soundings.sign_in.forms import LONGEST_CODE
from soundings.sign_in.keeping import browser_in_words, note_use, sessions_of
from soundings.sign_in.passwords import has_password, no_passwords
from soundings.sign_in.second_factor import asks_for_code, is_missing, is_on, proves, what_to_enter

# What the site stores about a person, for that person: a JSON object a line, each with its `kind`.


Row = dict[str, Any]
ACCOUNT = ("username", "email", "first_name", "last_name", "date_joined", "last_login")
PREFERENCES = ("language", "reading", "columns")
SIGN_INS = {"sign-in": AccessLog, "failed sign-in": AccessFailureLog, "tries at a password": AccessAttempt}
COLLECTION = {"collection": "collection__slug"}
PAIR = {**COLLECTION, "query": "query__external_id", "document": "document__external_id"}


def own_data_lines(user: User) -> Iterator[str]:
    """All lines about `user`, the account first; rows are read as they are written."""
    for kind, rows in _parts(user).items():
        for row in rows:
            yield json.dumps({"kind": kind, **row}, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n"


def _parts(user: User) -> dict[str, Iterator[Row]]:
    """The rows of each kind; none is read yet."""
    accepted, made = (Invitation.objects.filter(**{by: user}) for by in ("accepted_by", "invited_by"))
    verdicts = JudgmentEvent.objects.filter(annotator=user)
    verdict_columns = ("verdict", "reason", "note", "active_ms", "span_start", "span_end", "created_at")
    messages = PairMessage.objects.filter(author=user)
    deeds = AdminAction.objects.filter(actor=user)
    changes = LogEntry.objects.filter(user=user)
    return {
        "account": _rows(get_user_model().objects.filter(pk=user.pk), *ACCOUNT),
        "preferences": _rows(Preferences.objects.filter(user=user), *PREFERENCES),
        "membership": _rows(Membership.objects.filter(user=user), "role", "since", **COLLECTION),
        "session": _rows(
            SeenSession.objects.filter(user=user), "browser", "address", "started_at", "seen_at"
        ),
        "token": _rows(tokens_of(user), "name", "scope", "created_at", "expires_at"),
        **{kind: _rows(rows, *columns) for kind, rows, columns in own_rows(user)},
        "invitation accepted": _rows(accepted, "role", "email", "accepted_at", **COLLECTION),
        "invitation made": _rows(made, "role", "email", "note", "created_at", **COLLECTION),
        **{
            kind: _rows(
                model.objects.filter(username=user.get_username()), "attempt_time", "ip_address", "user_agent"
            )
            for kind, model in SIGN_INS.items()
        },
        "verdict": _rows(verdicts, *verdict_columns, **PAIR, queue="queue__public_name", what="kind"),
        "verdict on a fact": _rows(
            SupportEvent.objects.filter(annotator=user),
            *("verdict", "active_ms", "span_start", "span_end", "created_at"),
            **COLLECTION,
            query="fact__query__external_id",
            document="document__external_id",
            fact="fact__external_id",
            queue="queue__public_name",
            what="kind",
        ),
        "message": _rows(messages, "text", "sent_at", "answer", "answered_at", **PAIR),
        "action": _rows(deeds, "action", "subject", "at", "address", **COLLECTION),
        "change of a row": _rows(changes, "object_repr", "change_message", "action_time"),
    }


def _rows(rows: QuerySet[Any], *fields: str, **named: str) -> Iterator[Row]:
    """These columns by their own names, and others by the names given."""
    names, columns = [*fields, *named], [*fields, *named.values()]
    for row in rows.order_by("pk").values_list(*columns).iterator(chunk_size=2000):
        yield dict(zip(names, row, strict=True))


LONGEST_PASSWORD = 4096
MOST_SESSIONS = 50


class BySessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    target_class = "soundings.accounts.authentication.BySession"


class CredentialsSerializer(serializers.Serializer[Any]):
    """A name and its password, and a `code` where the account has a second factor; `name` is what the token
    is called, `days` how long it works, and `scope` what it may do of what its owner may: read, read and
    judge, or (admin) everything."""

    username = serializers.CharField(max_length=150)
    password = serializers.CharField(trim_whitespace=False, max_length=LONGEST_PASSWORD)
    code = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_CODE)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=LONGEST_NAME)
    days = serializers.IntegerField(required=False, default=None, min_value=1, max_value=LONGEST_DAYS)
    scope = serializers.ChoiceField(Scope.choices, required=False, default=Scope.ADMIN)


class TokenSerializer(serializers.Serializer[Any]):
    """What goes into the header `Authorization: Token …`, told once."""

    token = serializers.CharField()
    id = serializers.IntegerField()
    name = serializers.CharField()
    scope = serializers.ChoiceField(Scope.choices)
    expires_at = serializers.DateTimeField(allow_null=True)


class ListedTokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token as far as it is kept."""

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scope", "created_at", "expires_at"]


class TooManyTries(APIException):
    """django-axes has closed sign-in for this name from this address, or for the address."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    default_detail = "The password was wrong too often. Sign-in with this name is blocked for 15 minutes."
    of_address = "Too many wrong passwords came from your address. Sign-in from it is blocked for 15 minutes."


class NewToken(APIView):
    """The door of the HTTP interface, so whatever is sent along as a sign-in is not looked at."""

    authentication_classes = ()
    permission_classes = ()

    @takes(
        CredentialsSerializer,
        gives=TokenSerializer,
        also={403: ProblemSerializer, 429: ProblemSerializer},
        operation_id="token_create",
        auth=[],
    )
    def post(self, request: Request) -> object:
        """Make a token for an account. It ends on its day, with the account's password, or when revoked."""
        if not settings.PASSWORDS:
            raise PermissionDenied(f"{no_passwords()} Create a token on the page of your account.")
        given = interface_api.parsed(CredentialsSerializer, request)
        name, days, scope = given.pop("name"), given.pop("days"), Scope(given.pop("scope"))
        code = given.pop("code")
        user = authenticate(request, **given)
        if getattr(request, "axes_locked_out", False):
            is_of_address = getattr(request, "is_address_blocked", False)
            raise TooManyTries(TooManyTries.of_address if is_of_address else None)
        if user is None:
            raise ValidationError("Wrong name or password.")
        _require_second_factor(request, user, code)
        row, token = make_token(user, name, days, scope=scope)
        row.token = token  # type: ignore[attr-defined]
        return row


def _require_second_factor(request: Request, user: User, code: str) -> None:
    if is_missing(user):
        raise PermissionDenied("Set up a second factor on the page of your account first.")
    if not asks_for_code(user):
        return
    if not code:
        raise ValidationError({"code": "This account has a second factor: send a code as well."})
    if not proves(request._request, user, code):
        raise ValidationError({"code": what_to_enter(request._request, user)})


class Tokens(APIView):
    @lists(ListedTokenSerializer)
    def get(self, request: Request) -> Rows:
        """List your tokens that work; the tokens themselves are shown only when they are created."""
        return tokens_of(interface_api.person(request))


class OneToken(APIView):
    @answers()
    def delete(self, request: Request, token_id: int) -> None:
        """Revoke a token of yours."""
        revoke(fetch(tokens_of(interface_api.person(request)), pk=token_id))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """One's password and tokens. POST makes a token, which the page after it shows this one time."""
    user = person(request)
    form = TokenForm(request.POST or None)
    note_use(request, user)
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        made = make_token(user, wanted["name"], wanted["days"], scope=Scope(wanted["scope"] or Scope.ADMIN))
        return go_on_with(request, {"name": made.row.name, "token": made.token})
    made_now = made_once(request)
    context: dict[str, object] = {
        "form": form,
        "made": made_now,
        "tokens": tokens_of(user),
        "limits": limits_of(user),
        "sessions": [(row, browser_in_words(row.browser)) for row in sessions_of(user)[:MOST_SESSIONS]],
        "here": request.session.session_key,
        "may_delete": may_delete_oneself(),
        "has_password": has_password(user),
        "second_factor": is_on() and has_password(user),
        "has_second_factor": asks_for_code(user),
    }
    if made_now:
        return secret_page(request, "soundings/account.html", context)
    return render(request, "soundings/account.html", context, status=400 if form.errors else 200)


@require_GET
@login_required
def own_data(request: HttpRequest) -> StreamingHttpResponse:
    """Everything that is stored about the person who asks, as JSON lines."""
    return streamed(own_data_lines(person(request)), "my-data.jsonl", "application/x-ndjson")


@require_POST
@login_required
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(tokens_of(person(request)), pk=token_id)
    revoke(token)
    messages.success(request, _("The token “{name}” no longer works.").format(name=token.name))
    return redirect("account")
