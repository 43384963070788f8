"""Ben sets a second factor up and signs in with codes."""

from __future__ import annotations

import re
from html import unescape

from django.test import Client

from tests.world import PASSWORD

PAGE, CODES, CODE = "/account/second-factor/", "/account/second-factor/codes/", "/sign-in/code/"


def text(answer: object) -> str:
    return unescape(answer.content.decode())  # type: ignore[attr-defined, no-any-return]


def secret_on(page: str) -> str:
    found = re.search(r"Key: <code>([A-Z2-7 ]+)</code>", page)
    assert found
    return found[1].replace(" ", "")


def code_of(secret: str, clock: list[int]) -> str:
    """The next code: each works once."""
    from allauth.mfa.totp.internal import auth as totp

    clock[0] += 1
    return totp.format_hotp_value(totp.hotp_value(secret, clock[0]))


def first_step(client: Client, **more: str) -> object:
    return client.post("/sign-in/", {"username": "ben", "password": PASSWORD, **more})


def set_up(client: Client, clock: list[int]) -> str:
    """Set the second factor of Ben up; the secret."""
    first_step(client)
    secret = secret_on(text(client.get(PAGE)))
    answer = client.post(PAGE, {"code": code_of(secret, clock), "password": PASSWORD})
    assert answer["Location"] == CODES
    return secret
