"""Tokens of programs: how one is made, and everything that ends one."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from labeling.urls import api_urlpatterns
from pooling.account_models import ApiToken, Scope
from pooling.models import Collection
from soundings.accounts.authentication import JUDGING
from soundings.accounts.tokens import make_token, tokens_of
from tests.labeling.helpers import make_queue
from tests.world import PASSWORD, World

NEW = "an entirely other phrase"


def status_with(token: str, scheme: str = "Token") -> int:
    header = {"authorization": f"{scheme} {token}"}
    return Client().get("/api/collections/", headers=header).status_code


def asked(**fields: Any) -> Any:
    return Client().post("/api/token/", {"username": "ada", "password": PASSWORD, **fields})


def test_each_token_is_a_new_one_that_works_beside_the_others(world: World) -> None:
    first, second = asked().json()["token"], asked().json()["token"]
    assert first != second
    assert [status_with(token) for token in (first, second, first[:-1])] == [200, 200, 401]


def test_a_token_may_be_called_a_bearer(world: World) -> None:
    token = asked().json()["token"]
    assert [status_with(token, "Bearer"), status_with(token, "bearer"), status_with("x", "Bearer")] == [
        200,
        200,
        401,
    ]


def test_the_database_keeps_no_token(world: World) -> None:
    token = asked(name="nightly").json()["token"]
    assert token not in str(list(ApiToken.objects.values()))


def test_a_token_ends_on_its_day_which_a_setting_names(world: World, settings: Settings) -> None:
    settings.TOKEN_DAYS = 7
    asked()
    asked(days=3)
    settings.TOKEN_DAYS = 0
    asked()
    days = [
        row.expires_at and (row.expires_at - row.created_at + timedelta(seconds=1)).days
        for row in ApiToken.objects.order_by("pk")
    ]
    assert days == [7, 3, None]
    token = asked(days=1).json()["token"]
    assert status_with(token) == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert status_with(token) == 401


@pytest.mark.parametrize(
    "fields",
    [
        {"days": 0},
        {"days": 4000},
        {"scope": "everything"},
        {"name": "x" * 81},
        {"username": "x" * 151},
        {"password": "x" * 5000},
    ],
)
def test_what_cannot_be_a_token_is_refused(world: World, fields: dict[str, Any]) -> None:
    assert asked(**fields).status_code == 400
    assert not ApiToken.objects.exists()


def on_the_page(world: World) -> None:
    client = Client()
    client.force_login(world.ada)
    client.post("/password/", {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW})


def by_a_link_of_the_command(world: World) -> None:
    printed = StringIO()
    call_command("reset_password", "ada", site="", stdout=printed)
    client = Client()
    form = client.get(printed.getvalue().strip(), follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": NEW, "new_password2": NEW})


def in_the_admin(world: World) -> None:
    world.dan.is_superuser = world.dan.is_staff = True
    world.dan.save()
    client = Client()
    client.force_login(world.dan)
    fields = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    client.post(f"/admin/auth/user/{world.ada.pk}/password/", fields)


def taken_away(world: World) -> None:
    world.ada.set_unusable_password()
    world.ada.save(update_fields=["password"])


@pytest.mark.parametrize("change", [on_the_page, by_a_link_of_the_command, in_the_admin, taken_away])
def test_another_password_ends_every_token(world: World, change: Any) -> None:
    token = asked().json()["token"]
    other = make_token(world.ben).token
    before = world.ada.password
    change(world)
    world.ada.refresh_from_db()
    assert world.ada.password != before
    assert (status_with(token), status_with(other)) == (401, 200)


def test_a_password_that_is_only_hashed_anew_ends_none(world: World, settings: Settings) -> None:
    token = asked().json()["token"]
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.ScryptPasswordHasher",
        *settings.PASSWORD_HASHERS,
    ]
    Client().post("/sign-in/", {"username": "ada", "password": PASSWORD})
    world.ada.refresh_from_db()
    assert world.ada.password.startswith("scrypt")
    assert status_with(token) == 200


def test_an_account_that_is_switched_off_has_no_token_that_works(world: World) -> None:
    token = asked().json()["token"]
    User.objects.filter(username="ada").update(is_active=False)
    assert status_with(token) == 401


def test_tokens_are_listed_without_themselves_and_revoked_by_their_owner(world: World) -> None:
    token = asked(name="nightly").json()["token"]
    theirs = make_token(world.ben, "ben's")
    client = Client(headers={"authorization": f"Token {token}"})
    (listed,) = client.get("/api/tokens/").json()
    assert (listed["name"], set(listed)) == ("nightly", {"id", "name", "scope", "created_at", "expires_at"})
    assert client.delete(f"/api/tokens/{theirs.row.pk}/").status_code == 404
    assert client.delete(f"/api/tokens/{listed['id']}/").status_code == 204
    assert (status_with(token), status_with(theirs.token)) == (401, 200)


def test_on_one_s_page_a_token_is_made_shown_once_and_revoked(world: World, client: Client) -> None:
    client.force_login(world.ada)
    theirs = make_token(world.ben, "ben's")
    page = client.post("/account/", {"name": "nightly", "days": 30}, follow=True).content.decode()
    found = re.search(r'id="token" type="text" readonly value="([^"]+)"', page)
    assert found
    assert page.index(found[1]) < page.index("<h2")  # before anything else on the page
    assert 'data-copies="token"' in page
    assert status_with(found[1]) == 200
    again = client.get("/account/").content.decode()  # as a reload
    assert tokens_of(world.ada).count() == 1
    assert "nightly" in again
    assert found[1] not in again
    assert "ben&#x27;s" not in again
    assert client.post(f"/account/tokens/{theirs.row.pk}/revoke/").status_code == 404
    client.post(f"/account/tokens/{tokens_of(world.ada).get().pk}/revoke/")
    assert (status_with(found[1]), status_with(theirs.token)) == (401, 200)


@pytest.mark.parametrize("fields", [{"name": "", "days": 30}, {"name": "nightly", "days": 0}])
def test_a_form_that_names_no_token_makes_none(world: World, client: Client, fields: dict[str, Any]) -> None:
    client.force_login(world.ada)
    assert client.post("/account/", fields).status_code == 400
    assert not ApiToken.objects.exists()


def test_the_oldest_token_makes_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("soundings.accounts.tokens.MOST_TOKENS", 3)
    tokens = [make_token(world.ada).token for _ in range(4)]
    assert [status_with(token) for token in tokens] == [401, 200, 200, 200]
    assert ApiToken.objects.count() == 3


@pytest.mark.parametrize(
    ("scope", "reads", "judges", "changes"),
    [("read", 200, 403, 403), ("judge", 200, 200, 403), ("admin", 200, 200, 200)],
)
def test_a_token_does_no_more_than_its_scope(
    world: World, scope: str, reads: int, judges: int, changes: int
) -> None:
    queue = make_queue(world)
    token = asked(scope=scope).json()
    assert token["scope"] == scope
    ada = Client(headers={"authorization": f"Token {token['token']}"})
    claim = ada.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}, content_type="application/json")
    change = ada.patch("/api/collections/harbour/", {"name": "Port"}, content_type="application/json")
    assert ada.get("/api/collections/harbour/").status_code == reads
    assert (claim.status_code, change.status_code) == (judges, changes)


def test_a_refused_call_says_what_the_token_may(world: World) -> None:
    ada = Client(headers={"authorization": f"Token {make_token(world.ada, scope=Scope.READ).token}"})
    answer = ada.delete("/api/collections/harbour/")
    assert answer.status_code == 403
    assert answer.json()["detail"] == "This token may only read. Make one with another scope."
    assert Collection.objects.filter(slug="harbour").exists()


def test_every_call_of_judging_is_one_that_exists() -> None:
    names = {pattern.name for pattern in api_urlpatterns}
    assert names >= JUDGING
