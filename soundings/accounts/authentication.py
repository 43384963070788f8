"""Authentication of calls by a token, in one plain statement, or by a session; with what depends on which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.authentication import SessionAuthentication, TokenAuthentication, get_authorization_header
from rest_framework.exceptions import APIException, AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.status import HTTP_409_CONFLICT

from labeling.judging.same_account import HEADER
from pooling.account_models import ApiToken, Scope
from pooling.people.link_tokens import hashed
from pooling.storage.rows import columns_of, rows

if TYPE_CHECKING:
    from rest_framework.request import Request

SCOPES = {Scope.READ: "read", Scope.JUDGE: "read and judge"}
OWNER = """
SELECT {user}, {token} FROM auth_user JOIN pooling_apitoken token ON token.user_id = auth_user.id
WHERE token.token_sha256 = %s
"""


# What changes something and belongs to judging: one's own verdicts, and how one reads.
JUDGING = {
    "api_queue_claim",
    "api_queue_judgments",
    "api_queue_skip",
    "api_queue_undo",
    "api_queue_renew",
    "api_queue_release",
    "api_queue_messages",
    "api_fact_claim",
    "api_fact_pages",
    "api_fact_release",
    "api_fact_skip",
    "api_fact_undo",
    "api_practice",
    "api_reading",
}


class OtherAccount(APIException):
    """The call says that it is of another account than it was authenticated as."""

    status_code = HTTP_409_CONFLICT


class PlainTokenAuthentication(TokenAuthentication):
    """`Authorization: Token …` or `Bearer …`, for the tokens of `soundings.accounts.tokens`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """The user and the token; 403 for a call that is outside the scope of the token, 409 for one that is
        meant to be somebody else's."""
        scheme = get_authorization_header(request)[:7].lower()
        self.keyword = "Bearer" if scheme == b"bearer " else TokenAuthentication.keyword
        identity = super().authenticate(request)
        if identity is not None and not _is_within(identity[1].scope, request):
            detail = f"This token may only {SCOPES[identity[1].scope]}. Make one with another scope."
            raise PermissionDenied(detail)
        if identity is not None and request.headers.get(HEADER, str(identity[0].pk)) != str(identity[0].pk):
            raise OtherAccount(f"This token belongs to {identity[0].get_username()}, not to that account.")
        return identity

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        """The user of an active account and the token; 401 for one that was never made or has ended."""
        model = get_user_model()
        statement = OWNER.format(user=columns_of(model, "auth_user"), token=columns_of(ApiToken, "token"))
        for user in rows(statement, [hashed(key)], model, related={"token": ApiToken}):
            if user.is_active and _works(user.token, user):
                return user, user.token
        raise AuthenticationFailed("This token does not exist or has expired. Create a new one.")


class BySession(SessionAuthentication):
    """The session of a page, unless its owner still has to set up a second factor."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        """The user of the session; 403 for one who must set up a second factor first."""
        # Cut: the framework loads this module before its views, which that one needs
        from soundings.sign_in.second_factor import is_due

        identity: tuple[User, None] | None = super().authenticate(request)
        if identity is not None and is_due(request._request):
            raise PermissionDenied(_("Set up a second factor on the page of your account first."))
        return identity


def _is_within(scope: str, request: Request) -> bool:
    if scope == Scope.ADMIN or request.method in SAFE_METHODS:
        return True
    call = request.resolver_match.url_name if request.resolver_match else None
    return scope == Scope.JUDGE and call in JUDGING


def _works(token: ApiToken, user: User) -> bool:
    lasts = token.expires_at is None or token.expires_at > timezone.now()
    return lasts and token.password_sha256 == hashed(user.password)
