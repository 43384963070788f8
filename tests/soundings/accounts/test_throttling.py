"""Wrong passwords are counted by address as well, and whoever is shut out costs no hash."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.management import call_command
from django.test import Client, RequestFactory
from pytest_django import Settings

from soundings.accounts.throttling import client_address
from tests.world import PASSWORD, World

HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


class Counting(MD5PasswordHasher):
    """Counts what it hashes."""

    algorithm = "counting"
    hashed = 0

    def encode(self, password: str, salt: str) -> str:
        Counting.hashed += 1
        return super().encode(password, salt)


def on_the_page(name: str, password: str, address: str) -> int:
    body = {"username": name, "password": password}
    return Client(REMOTE_ADDR=address).post("/sign-in/", body).status_code


def over_http(name: str, password: str, address: str) -> int:
    body = {"username": name, "password": password}
    return Client(REMOTE_ADDR=address).post("/api/token/", body).status_code


@pytest.mark.parametrize(("ask", "right"), [(on_the_page, 302), (over_http, 200)])
def test_an_address_that_guesses_is_shut_out_without_a_hash_and_others_are_not(
    world: World, settings: Settings, ask: Any, right: int
) -> None:
    settings.FAILURES_PER_ADDRESS = 5
    settings.PASSWORD_HASHERS = [f"{__name__}.Counting", *settings.PASSWORD_HASHERS]
    codes = [ask(f"guess-{number}", "wrong", HERE) for number in range(6)]
    assert codes[-2:] == [429, 429]
    Counting.hashed = 0
    assert [ask(name, PASSWORD, HERE) for name in ("ada", "nobody")] == [429, 429]
    assert Counting.hashed == 0
    assert ask("ada", PASSWORD, ELSEWHERE) == right
    assert Counting.hashed > 0


def test_signing_in_gives_back_no_more_guesses_than_were_at_that_name(
    world: World, settings: Settings
) -> None:
    settings.FAILURES_PER_ADDRESS = 5
    for number in range(4):
        on_the_page(f"guess-{number}", "wrong", HERE)
    assert on_the_page("ada", PASSWORD, HERE) == 302
    assert on_the_page("guess-5", "wrong", HERE) == 429


def test_a_new_password_by_a_link_opens_sign_in_for_that_name_alone(world: World, settings: Settings) -> None:
    for name in ("ada", "ben"):
        assert [on_the_page(name, "wrong", HERE) for _ in range(8)][-1] == 429
    choose_by_link("ada", "a tram in the fog")
    assert on_the_page("ben", PASSWORD, HERE) == 429
    assert on_the_page("ada", "a tram in the fog", HERE) == 302
    settings.FAILURES_PER_ADDRESS = 8
    choose_by_link("ada", PASSWORD)
    assert on_the_page("ada", PASSWORD, HERE) == 429
    assert on_the_page("ada", PASSWORD, ELSEWHERE) == 302


def choose_by_link(name: str, password: str) -> None:
    printed = StringIO()
    call_command("reset_password", name, site="", stdout=printed)
    client = Client()
    form = client.get(printed.getvalue().strip(), follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": password, "new_password2": password})


@pytest.mark.parametrize("count", [0, 1, 2])
def test_only_what_our_own_proxies_say_is_believed(
    rf: RequestFactory, settings: Settings, count: int
) -> None:
    settings.PROXIES = count
    asked = rf.get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": "1.1.1.1, 192.0.2.9, 10.0.0.2"})
    assert client_address(asked) == {0: "10.0.0.1", 1: "10.0.0.2", 2: "192.0.2.9"}[count]
    assert client_address(rf.get("/", REMOTE_ADDR="10.0.0.1")) == "10.0.0.1"


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("::ffff:192.0.2.9", "192.0.2.9"),
        ("nonsense", None),
        ("", None),
    ],
)
def test_an_address_is_told_in_one_way(rf: RequestFactory, told: str, address: str | None) -> None:
    assert client_address(rf.get("/", REMOTE_ADDR=told)) == address


def test_a_blocked_address_is_not_called_a_blocked_name(world: World, settings: Settings) -> None:
    def said(name: str) -> tuple[str, str]:
        client, body = Client(REMOTE_ADDR=HERE), {"username": name, "password": "wrong"}
        detail = client.post("/api/token/", body).json()["detail"]
        return client.post("/sign-in/", body).content.decode(), detail

    for _ in range(8):
        on_the_page("ada", "wrong", HERE)
    page, detail = said("ada")
    assert "Sign-in with this name is blocked from here" in page
    assert "with this name" in detail
    settings.FAILURES_PER_ADDRESS = 8
    page, detail = said("ben")
    assert "Too many wrong passwords came from your network address." in page
    assert "with this name" not in page
    assert detail.startswith("Too many wrong passwords came from your address.")
