"""Signing in and out, passwords, and what is sent along with every page for safety."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from tests.world import PASSWORD, World


def sign_in(client: Client, name: str, password: str = PASSWORD, query: str = "") -> int:
    answer = client.post(f"/sign-in/{query}", {"username": name, "password": password})
    return answer.status_code


def test_somebody_who_signs_in_comes_back_to_the_page_they_wanted(world: World, client: Client) -> None:
    sent = client.get("/collections/harbour/")
    assert sent["Location"] == "/sign-in/?next=/collections/harbour/"
    answer = client.post(sent["Location"], {"username": "ada", "password": PASSWORD})
    assert answer["Location"] == "/collections/harbour/"


def test_sign_in_sends_nobody_to_another_site(world: World, client: Client) -> None:
    answer = client.post("/sign-in/?next=https://example.org/", {"username": "ada", "password": PASSWORD})
    assert answer["Location"] == "/"


def test_a_wrong_password_is_told_in_a_sentence(world: World, client: Client) -> None:
    page = client.post("/sign-in/", {"username": "ada", "password": "wrong"}).content.decode()
    assert "Wrong name or password" in page


def test_sign_in_closes_after_too_many_wrong_passwords_for_that_name_only(
    world: World, client: Client, settings: Settings
) -> None:
    codes = [sign_in(client, "ada", "wrong") for _ in range(settings.AXES_FAILURE_LIMIT)]
    assert codes == [200] * (settings.AXES_FAILURE_LIMIT - 1) + [429]
    locked = client.post("/sign-in/", {"username": "ada", "password": PASSWORD})
    assert locked.status_code == 429
    assert "Too many attempts" in locked.content.decode()
    assert sign_in(client, "ben") == 302


def test_the_token_of_the_http_interface_is_throttled_as_well(
    world: World, client: Client, settings: Settings
) -> None:
    wrong = {"username": "ada", "password": "wrong"}
    for _ in range(settings.AXES_FAILURE_LIMIT):
        refused = client.post("/api/token/", wrong)
    assert refused.status_code == 429
    right = client.post("/api/token/", {"username": "ada", "password": PASSWORD})
    assert right.status_code == 429
    assert "wrong too often" in right.json()["detail"]


def test_a_token_is_given_for_a_password_alone(world: World, client: Client) -> None:
    wrong = client.post("/api/token/", {"username": "ada", "password": "wrong"})
    assert wrong.status_code == 400
    assert wrong.json()["detail"] == "Wrong name or password."
    right = client.post("/api/token/", {"username": "ada", "password": PASSWORD})
    header = f"Token {right.json()['token']}"
    assert client.get("/api/collections/", headers={"authorization": header}).status_code == 200


def test_signing_out_takes_a_form_not_a_link(world: World, client: Client) -> None:
    client.force_login(world.ada)
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/").status_code == 200
    assert client.post("/sign-out/").status_code == 302
    assert client.get("/")["Location"].startswith("/sign-in/")


def test_a_password_is_changed_by_its_owner_who_stays_signed_in(world: World, client: Client) -> None:
    client.force_login(world.ada)
    new = "another harbour entirely"
    fields = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert "Your password is changed." in client.post("/password/", fields, follow=True).content.decode()
    world.ada.refresh_from_db()
    assert world.ada.check_password(new)


@pytest.mark.parametrize("password", ["short", "1234567890"])
def test_weak_passwords_are_refused(world: World, client: Client, password: str) -> None:
    client.force_login(world.ada)
    fields = {"old_password": PASSWORD, "new_password1": password, "new_password2": password}
    client.post("/password/", fields)
    world.ada.refresh_from_db()
    assert world.ada.check_password(PASSWORD)


@pytest.mark.django_db
def test_every_page_forbids_foreign_and_inline_scripts_and_frames(client: Client) -> None:
    response = client.get("/sign-in/")
    rules = dict(rule.strip().split(" ", 1) for rule in response["Content-Security-Policy"].split(";"))
    assert rules["default-src"] == "'self'"
    assert rules["object-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in response["Content-Security-Policy"]
    assert response["X-Frame-Options"] == "DENY"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "same-origin"


def test_the_session_cookie_is_out_of_reach_of_scripts_and_of_other_sites(
    world: World, client: Client
) -> None:
    sign_in(client, "ada")
    cookie = client.cookies["sessionid"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_a_form_without_its_token_is_refused_in_calm_words(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.ada)
    answer = client.post("/sign-out/")
    assert answer.status_code == 403
    assert "Please send the form again" in answer.content.decode()
