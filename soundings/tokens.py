"""Sign-in by token, asked of the database in one plain statement: it comes before every call of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from rest_framework.authentication import TokenAuthentication
from rest_framework.authtoken.models import Token

from pooling.rows import columns_of, rows

if TYPE_CHECKING:
    from django.contrib.auth.models import User

OWNER = """
SELECT {columns} FROM auth_user JOIN authtoken_token token ON token.user_id = auth_user.id
WHERE token.key = %s
"""


class PlainTokenAuthentication(TokenAuthentication):
    """`TokenAuthentication` with the same answers."""

    def authenticate_credentials(self, key: str) -> tuple[User, Token]:
        """The user of an active account; what is refused, the parent refuses in its own words."""
        model = get_user_model()
        for user in rows(OWNER.format(columns=columns_of(model, "auth_user")), [key], model):
            if user.is_active:
                return user, Token(key=key, user=user)
        return super().authenticate_credentials(key)
