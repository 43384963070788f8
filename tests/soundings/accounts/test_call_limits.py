"""Calls of the HTTP interface are limited by account and by token, and every answer says what is left."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from pooling.interface import counting
from pooling.people.invitations import invite
from soundings.accounts.mail import send_invitation
from soundings.accounts.tokens import make_token
from soundings.installation.elsewhere import shared_cache
from tests.soundings.processes import free_port
from tests.world import World, signed_in

LIST = "/api/collections/"


@pytest.fixture(autouse=True)
def first_second_of_a_minute(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the tests set forward; no call was counted before."""
    now = [1_800_000_000.0]
    monkeypatch.setattr(counting.time, "time", lambda: now[0])
    cache.clear()
    return now


def with_token(user: User) -> Client:
    return Client(headers={"Authorization": f"Token {make_token(user).token}"})


def test_there_is_no_limit_unless_the_site_sets_one(world: World) -> None:
    assert "RateLimit" not in signed_in(world.ada).get(LIST)


def test_a_call_too_many_is_refused_until_the_next_minute(
    world: World, settings: Settings, first_second_of_a_minute: list[float]
) -> None:
    settings.CALLS_PER_MINUTE = 2
    ada = signed_in(world.ada)
    answers = [ada.get(LIST) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer["RateLimit"] for answer in answers] == [f'"account";r={left};t=60' for left in (1, 0, 0)]
    assert answers[0]["RateLimit-Policy"] == '"account";q=2;w=60'
    assert answers[2]["Retry-After"] == "60"
    assert answers[2].json() == {
        "title": "Too Many Requests",
        "status": 429,
        "detail": "This account may make 2 calls a minute. Call again in 60 seconds.",
        "fields": {},
    }
    assert signed_in(world.ben).get(LIST).status_code == 200
    first_second_of_a_minute[0] += 59
    assert ada.get(LIST)["Retry-After"] == "1"
    first_second_of_a_minute[0] += 1
    assert ada.get(LIST).status_code == 200


def test_a_wild_program_stops_neither_pages_nor_other_programs(world: World, settings: Settings) -> None:
    settings.CALLS_PER_MINUTE = 100
    settings.TOKEN_CALLS_PER_MINUTE = 1
    wild, calm = with_token(world.ada), with_token(world.ada)
    assert [wild.get(LIST).status_code for _ in range(3)] == [200, 429, 429]
    assert signed_in(world.ada).get(LIST).status_code == 200
    answer = calm.get(LIST)
    assert answer.status_code == 200
    assert re.findall(r'"(\w+)";r=(\d+)', answer["RateLimit"]) == [("account", "95"), ("token", "0")]


def test_many_tokens_share_the_limit_of_their_account(world: World, settings: Settings) -> None:
    settings.CALLS_PER_MINUTE = 2
    assert [with_token(world.ada).get(LIST).status_code for _ in range(3)] == [200, 200, 429]


def test_a_cache_that_is_away_stops_nobody(world: World, settings: Settings) -> None:
    settings.CALLS_PER_MINUTE = 1
    settings.CACHES = {"default": shared_cache("CACHE_URL", f"redis://127.0.0.1:{free_port()}/0")}
    ada = signed_in(world.ada)
    assert [ada.get(LIST).status_code for _ in range(2)] == [200, 200]


def test_page_and_call_say_what_is_left_of_every_limit(world: World, settings: Settings) -> None:
    settings.UPLOADS_PER_HOUR, settings.CALLS_PER_MINUTE, settings.SENDS_MAIL = 3, 5, True
    ada = signed_in(world.ada)
    ada.post("/api/collections/harbour/runs/", {"file": SimpleUploadedFile("x.run", b""), "name": "x"})
    invitation, _ = invite(world.collection, "viewer", by=world.ada, email="ben@example.org")
    assert send_invitation(invitation, "https://example.org/", by=world.ada)
    rows = ada.get("/api/limits/").json()["limits"]
    told = {row["of"]: (row["left"], row["most"], row["seconds"]) for row in rows}
    assert told == {"calls": (3, 5, 60), "uploads": (2, 3, 3600), "letters": (29, 30, 3600)}
    page = ada.get("/account/").content.decode()
    assert all(words in page for words in ("3 of 5 left", "2 of 3 left", "29 of 30 left"))
