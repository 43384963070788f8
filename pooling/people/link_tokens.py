"""Tokens of links that let somebody in: random, kept as hashes, good while their maker could make them."""

from __future__ import annotations

import secrets
from hashlib import sha256

from django.db.models import Exists, OuterRef, Q

from pooling.models import Membership, Role

TOKEN_BYTES = 32


def new_token() -> str:
    """A token of 256 random bits, for an address; show it once and store `hashed`."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hashed(text: str) -> str:
    """The stored form of a token: SHA-256 in hexadecimal digits; enough for what is random, or a hash."""
    return sha256(text.encode()).hexdigest()


def is_of_an_admin(author: str, collection: str = "collection") -> Q:
    """Condition for rows whose `author` is still an admin of their `collection`; both are names of fields."""
    admins = Membership.objects.filter(
        collection=OuterRef(collection), user=OuterRef(author), role=Role.ADMIN
    )
    may = Q(**{f"{author}__is_superuser": True}) | Q(Exists(admins))
    return Q(**{f"{author}__is_active": True}) & may
