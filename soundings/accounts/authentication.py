"""Sign-in by token, asked of the database in one plain statement: it comes before every call of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from pooling.account_models import ApiToken
from pooling.people.link_tokens import hashed
from pooling.storage.rows import columns_of, rows

if TYPE_CHECKING:
    from django.contrib.auth.models import User

OWNER = """
SELECT {user}, {token} FROM auth_user JOIN pooling_apitoken token ON token.user_id = auth_user.id
WHERE token.token_sha256 = %s
"""


class PlainTokenAuthentication(TokenAuthentication):
    """`Authorization: Token …`, for the tokens of `soundings.accounts.tokens`."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        """The user of an active account and the token; 401 for one that was never made or has ended."""
        model = get_user_model()
        statement = OWNER.format(user=columns_of(model, "auth_user"), token=columns_of(ApiToken, "token"))
        for user in rows(statement, [hashed(key)], model, related={"token": ApiToken}):
            if user.is_active and _works(user.token, user):
                return user, user.token
        raise AuthenticationFailed("This token does not exist or has expired. Create a new one.")


def _works(token: ApiToken, user: User) -> bool:
    lasts = token.expires_at is None or token.expires_at > timezone.now()
    return lasts and token.password_sha256 == hashed(user.password)
