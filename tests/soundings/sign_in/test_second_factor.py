"""The second factor of passwords: set up, asked for, replaced by recovery codes, and turned off."""

from __future__ import annotations

import json
import re
import time

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from pooling.models import AdminAction
from soundings.accounts.removing import delete_account
from soundings.accounts.tokens import make_token
from tests.soundings.sign_in.codes import CODE, CODES, PAGE, code_of, first_step, secret_on, set_up, text
from tests.soundings.sign_in.provider import Provider
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    cache.clear()


def rows() -> list[object]:
    return list(apps.get_model("mfa", "Authenticator")._default_manager.all())


def test_somebody_sets_it_up_and_signs_in_with_a_code(world: World, client: Client, clock: list[int]) -> None:
    first_step(client)
    page = client.get(PAGE)
    # The picture is part of the page, which the content security policy allows.
    assert '<img class="qr-code" src="data:image/svg+xml;base64,' in text(page)
    assert "data:" in page.headers["Content-Security-Policy"]
    secret = secret_on(text(page))
    code = code_of(secret, clock)
    assert "Wrong code." in text(client.post(PAGE, {"code": "000000", "password": PASSWORD}))
    assert "This is not your password." in text(client.post(PAGE, {"code": code, "password": "guess"}))
    assert client.post(PAGE, {"code": code, "password": PASSWORD})["Location"] == CODES
    client.post("/sign-out/")
    answer = first_step(client, next="/account/")
    assert answer["Location"] == CODE  # type: ignore[index]
    assert client.get("/account/").status_code == 302  # the password alone signs nobody in
    assert client.post(CODE, {"code": code_of(secret, clock)})["Location"] == "/account/"
    assert client.get("/account/").status_code == 200
    written = AdminAction.objects.filter(actor=world.ben).order_by("pk").values_list("action", flat=True)
    assert list(written) == ["signed in", "second factor turned on", "signed in"]


def test_a_recovery_code_works_once(world: World, clock: list[int]) -> None:
    client = Client()
    set_up(client, clock)
    codes = re.findall(r"<li><code>(\d+)</code>", text(client.get(CODES)))
    assert len(set(codes)) == 10
    file = client.get(f"{CODES}file/")
    assert file.content.decode().split() == codes
    assert file.headers["Content-Disposition"].startswith("attachment")
    for status in (302, 400):
        browser = Client()
        first_step(browser)
        assert browser.post(CODE, {"code": codes[0]}).status_code == status
    used = AdminAction.objects.get(action="recovery code used")
    assert (used.about, used.detail) == (world.ben, {"left": 9})
    assert AdminAction.objects.filter(action="file downloaded", actor=world.ben).exists()


def test_recovery_codes_are_shown_after_a_code_and_can_be_renewed(
    world: World, client: Client, clock: list[int]
) -> None:
    secret = set_up(Client(), clock)
    first_step(client)
    client.post(CODE, {"code": code_of(secret, clock)})
    assert "<li><code>" not in text(client.get(CODES))
    assert client.get(f"{CODES}file/")["Location"] == CODES
    before = [row.data for row in rows()]  # type: ignore[attr-defined]
    client.post(f"{CODES}new/")
    assert [row.data for row in rows()] == before  # type: ignore[attr-defined]
    client.post(CODES, {"code": code_of(secret, clock)})
    old = re.findall(r"<li><code>(\d+)</code>", text(client.get(CODES)))
    client.post(f"{CODES}new/")
    new = re.findall(r"<li><code>(\d+)</code>", text(client.get(CODES)))
    assert len(old) == len(new) == 10
    assert not set(old) & set(new)


def test_it_is_turned_off_with_a_code(world: World, client: Client, clock: list[int]) -> None:
    secret = set_up(client, clock)
    client.post(f"{PAGE}off/", {"code": "000000"})
    assert len(rows()) == 2
    client.post(f"{PAGE}off/", {"code": code_of(secret, clock)})
    assert rows() == []
    assert first_step(Client())["Location"] == "/"  # type: ignore[index]
    assert AdminAction.objects.filter(action="second factor turned off", actor=world.ben).exists()


def test_between_password_and_code_little_time_passes_and_a_new_password_ends_it(
    world: World, client: Client, clock: list[int]
) -> None:
    secret = set_up(Client(), clock)
    first_step(client)
    session = client.session
    session["first_step"] = session["first_step"] | {"at": time.time() - 601}
    session.save()
    assert client.post(CODE, {"code": code_of(secret, clock)})["Location"] == "/sign-in/"
    first_step(client)
    world.ben.set_password("another long phrase")
    world.ben.save()
    assert client.post(CODE, {"code": code_of(secret, clock)})["Location"] == "/sign-in/"
    assert Client().post(CODE, {"code": "000000"})["Location"] == "/sign-in/"


def test_the_secret_is_encrypted_and_shown_nowhere_else(
    world: World, client: Client, clock: list[int]
) -> None:
    secret = set_up(client, clock)
    stored = json.dumps([row.data for row in rows()])  # type: ignore[attr-defined]
    assert secret not in stored
    data = b"".join(client.get("/account/data/")).decode()  # type: ignore[call-overload]
    told = [line for line in map(json.loads, data.splitlines()) if line["kind"] == "second factor"]
    assert [line.keys() for line in told] == [{"kind", "type", "created_at", "last_used_at"}] * 2
    world.ada.is_superuser = world.ada.is_staff = True
    world.ada.save()
    admin = Client()
    admin.force_login(world.ada)
    row = next(iter(rows()))
    page = text(admin.get(f"/admin/mfa/authenticator/{row.pk}/change/"))  # type: ignore[attr-defined]
    assert "totp" in page.lower()
    assert row.data["secret"] not in page  # type: ignore[attr-defined]


def test_where_it_is_required_one_sets_it_up_before_anything_else(
    world: World, client: Client, clock: list[int], settings: Settings
) -> None:
    settings.SECOND_FACTOR = "required"
    first_step(client)
    for page in ("/", "/account/", "/collections/harbour/", "/admin/"):
        assert client.get(page)["Location"] == PAGE
    assert client.get("/api/collections/").status_code == 403
    assert client.get("/guide/start/").status_code == 200
    secret = secret_on(text(client.get(PAGE)))
    client.post(PAGE, {"code": code_of(secret, clock), "password": PASSWORD})
    assert client.get("/account/").status_code == 200
    assert client.get("/api/collections/").status_code == 200
    assert client.post(f"{PAGE}off/", {"code": code_of(secret, clock)}).status_code == 403
    assert len(rows()) == 2


def test_a_token_works_as_before_and_a_new_one_takes_a_code(
    world: World, client: Client, clock: list[int], settings: Settings
) -> None:
    token = make_token(world.ben).token
    secret = set_up(client, clock)
    settings.SECOND_FACTOR = "required"
    headers = {"Authorization": f"Token {token}"}
    assert Client().get("/api/collections/", headers=headers).status_code == 200
    wanted = {"username": "ben", "password": PASSWORD}
    told = Client().post("/api/token/", wanted)
    assert (told.status_code, "code" in told.json()["fields"]) == (400, True)
    assert Client().post("/api/token/", wanted | {"code": "000000"}).status_code == 400
    answer = Client().post("/api/token/", wanted | {"code": code_of(secret, clock)})
    assert answer.status_code == 200
    assert Client().post("/api/token/", wanted | {"username": "cleo"}).status_code == 403


def test_people_of_the_provider_are_not_asked(
    world: World, provider: Provider, client: Client, settings: Settings
) -> None:
    settings.SECOND_FACTOR = "required"
    provider.sign_in(client)
    assert client.get("/account/").status_code == 200
    assert client.get(PAGE).status_code == 403
    assert PAGE not in text(client.get("/account/"))


def test_where_it_is_off_there_are_no_pages_for_it(world: World, client: Client, settings: Settings) -> None:
    settings.SECOND_FACTOR = "off"
    client.force_login(world.ben)
    assert client.get(PAGE).status_code == client.get(CODES).status_code == 404
    assert PAGE not in text(client.get("/account/"))


def test_a_site_admin_ends_that_of_somebody_who_lost_everything(
    world: World, client: Client, clock: list[int]
) -> None:
    set_up(Client(), clock)
    world.ada.is_superuser = world.ada.is_staff = True
    world.ada.save()
    client.force_login(world.ada)
    for row in rows():
        client.post(f"/admin/mfa/authenticator/{row.pk}/delete/", {"post": "yes"})  # type: ignore[attr-defined]
    assert first_step(Client())["Location"] == "/"  # type: ignore[index]
    assert AdminAction.objects.filter(action="deleted under /admin/", actor=world.ada).count() == 2


def test_deletion_leaves_none(world: World, clock: list[int]) -> None:
    set_up(Client(), clock)
    delete_account(User.objects.get(username="ben"), by=world.ada)
    assert rows() == []
