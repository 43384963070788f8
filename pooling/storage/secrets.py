"""Secrets that the database keeps, such as keys of servers: encrypted, so that a copy of it tells nothing.

The key is derived from the secret key of the installation. Anyone who changes that one stores them again, or
lists the one before among `SECRET_KEY_FALLBACKS`.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

from django.conf import settings

from pooling.interface.problems import InputError

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

HIDDEN = "[hidden]"
# Told apart from any other use of the secret key.
PURPOSE = b"soundings: stored secrets, 1"
# What looks like a credential in somebody else's words.
CREDENTIAL = re.compile(r"\b(?:sk|pk|rk)-[\w*.-]{4,}|(?i:\bbearer\s+)[^\s\"',;]+")


def seal(secret: str) -> str:
    """The secret, encrypted and authenticated (Fernet); a text that is never the same twice."""
    return _fernet().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """The text under the seal; `InputError` where the secret key is another one by now."""
    from cryptography.fernet import InvalidToken

    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise InputError(
            "A saved key cannot be read because the installation's secret key has changed. Save the "
            "key again."
        ) from None


def redacted(text: str, *secrets: str) -> str:
    """The text without these secrets and without anything else that looks like a credential."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    return CREDENTIAL.sub(HIDDEN, text)


def _fernet() -> MultiFernet:
    from cryptography.fernet import Fernet, MultiFernet

    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return MultiFernet([Fernet(urlsafe_b64encode(_derived(str(key)))) for key in keys])


def _derived(key: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(key.encode())
