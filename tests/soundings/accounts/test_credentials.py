"""Credentials: what is kept of them, what opens nothing, and what is told to whoever guesses."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from pooling.account_models import ApiToken
from pooling.models import Invitation
from pooling.people.invitations import invite
from soundings.accounts.tokens import make_token
from tests.world import PASSWORD, World

WRONG = "an entirely wrong phrase"


def call(header: str, path: str = "/api/collections/") -> Any:
    return Client(headers={"authorization": header}).get(path)


def ask(name: str, password: str, address: str = "192.0.2.1", page: bool = False) -> Any:
    body = {"username": name, "password": password}
    return Client(REMOTE_ADDR=address).post("/sign-in/" if page else "/api/token/", body)


def test_a_digest_is_all_that_is_kept_and_opens_nothing(world: World) -> None:
    made = make_token(world.ada)
    row = ApiToken.objects.get()
    assert row.token_sha256 == sha256(made.token.encode()).hexdigest()
    assert len(made.token) >= 43  # 32 bytes in base 64
    assert [call(f"Token {text}").status_code for text in (row.token_sha256, row.password_sha256)] == [
        401,
        401,
    ]
    assert world.ada.password not in str(ApiToken.objects.values())


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Token {}", 200),
        ("token {}", 200),  # the word is in any case
        ("Bearer {}", 200),
        ("Bearer {} {}", 401),
        ("Basic {}", 401),
        ("{}", 401),
        ("Token", 401),
        ("Token {} {}", 401),
        ("Token {}x", 401),
        ("Token \u00e9{}", 401),
        ("Token " + 9000 * "x", 401),
    ],
)
def test_only_a_whole_token_after_its_word_signs_in_and_none_is_said_back(
    world: World, header: str, status: int
) -> None:
    token = make_token(world.ada).token
    answer = call(header.replace("{}", token))
    assert answer.status_code == status
    assert token not in answer.content.decode()
    assert status == 200 or len(answer.json()["detail"]) < 120


def test_a_token_opens_calls_and_no_page(world: World) -> None:
    header = f"Token {make_token(world.ada).token}"
    pages = ["/account/", "/collections/harbour/", "/collections/harbour/members/", "/admin/"]
    assert [call(header, page).status_code for page in pages] == [302] * len(pages)


@pytest.mark.parametrize("name", ["vera", "ben", "dan"])
def test_a_token_may_do_what_its_account_may(world: World, name: str) -> None:
    user = getattr(world, name)
    header, client = f"Token {make_token(user).token}", Client()
    client.force_login(user)
    for path in ("/api/collections/harbour/", "/api/collections/harbour/members/", "/api/tokens/"):
        assert call(header, path).status_code == client.get(path).status_code, path


@pytest.mark.parametrize("path", ["/api/tokens/", "/api/tokens/1/", "/account/", "/account/tokens/1/revoke/"])
def test_nobody_who_is_not_signed_in_gets_to_a_token(world: World, path: str) -> None:
    make_token(world.ada)
    answers = [Client().get(path), Client().post(path), Client().delete(path)]
    assert {answer.status_code for answer in answers} <= {302, 401, 405}
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize("page", [False, True])
def test_a_wrong_password_and_a_wrong_name_are_told_alike_and_not_logged(
    world: World, caplog: pytest.LogCaptureFixture, page: bool
) -> None:
    caplog.set_level("DEBUG")
    told = [ask(name, WRONG, page=page) for name in ("ada", "nobody")]
    assert told[0].status_code == told[1].status_code
    bodies = [answer.content.decode().partition("csrfmiddlewaretoken")[0] for answer in told]
    assert bodies[0] == bodies[1]
    assert WRONG not in f"{caplog.text} {list(AccessAttempt.objects.values())} {bodies}"


def test_guesses_on_the_page_and_over_http_are_counted_together_and_end_with_time(
    world: World, settings: Settings
) -> None:
    settings.FAILURES_PER_ADDRESS = 4
    for number in range(4):
        ask(f"guess-{number}", WRONG, page=number % 2 == 0)
    assert ask("ada", PASSWORD).status_code == 429
    AccessAttempt.objects.update(
        attempt_time=timezone.now() - timedelta(hours=settings.AXES_COOLOFF_TIME, seconds=1)
    )
    assert ask("ada", PASSWORD).status_code == 200


def test_whoever_has_a_network_of_version_6_has_one_address(world: World, settings: Settings) -> None:
    settings.FAILURES_PER_ADDRESS = 4
    for number in range(4):
        ask(f"guess-{number}", WRONG, address=f"2001:db8:1:2::{number + 1}")
    neighbour, other = "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"
    assert [ask("ada", PASSWORD, address=one).status_code for one in (neighbour, other)] == [429, 200]


def test_an_address_that_somebody_made_up_shuts_out_nobody_else(world: World, settings: Settings) -> None:
    settings.FAILURES_PER_ADDRESS, settings.PROXIES = 3, 1
    for number in range(3):
        client = Client(
            REMOTE_ADDR="10.0.0.1", headers={"x-forwarded-for": f"192.0.2.{number}, 198.51.100.7"}
        )
        client.post("/api/token/", {"username": f"guess-{number}", "password": WRONG})
    body = {"username": "ada", "password": PASSWORD}
    for seen, status in (("192.0.2.1", 200), ("198.51.100.7", 429)):
        client = Client(REMOTE_ADDR="10.0.0.1", headers={"x-forwarded-for": seen})
        assert client.post("/api/token/", body).status_code == status


def test_of_an_invitation_a_digest_is_kept_which_invites_nobody(world: World, client: Client) -> None:
    invitation, token = invite(world.collection, "viewer", by=world.ada)
    kept = f"{list(Invitation.objects.values())} {list(world.collection.admin_actions.values())}"
    assert token not in kept
    assert client.get(f"/invitations/{token}/").status_code == 200
    for text in (token[:-1], token.swapcase(), invitation.token_sha256, "0" * 43):
        assert client.get(f"/invitations/{text}/").status_code == 410
    client.force_login(world.ada)
    pages = ["/collections/harbour/members/", "/collections/harbour/activity/"]
    assert token not in "".join(client.get(page).content.decode() for page in pages)
