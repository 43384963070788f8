"""A code works once; wrong ones are counted for all processes, and shut nobody out."""

from __future__ import annotations

import json

import pytest
from allauth.mfa.totp.internal import auth as totp
from axes.models import AccessAttempt
from django.core.cache import cache
from django.test import Client
from pytest_django.fixtures import Settings

from pooling.models import AdminAction
from tests.soundings.sign_in.codes import CODE, CODES, PAGE, code_of, first_step, secret_on, set_up, text
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db

ONE, TWO = "Wrong code.", "Enter two codes"


@pytest.fixture(autouse=True)
def _behind_a_proxy(settings: Settings) -> None:
    settings.PROXIES = 1
    cache.clear()


def browser(address: str = "10.0.0.1") -> Client:
    """A browser in which Ben's password was given."""
    client = Client(headers={"X-Forwarded-For": address})
    first_step(client)
    return client


def guess(client: Client, times: int, code: str = "000000") -> str:
    """The answer to the last of some wrong codes, each to another process."""
    for _ in range(times):
        cache.clear()
        answer = client.post(CODE, {"code": code})
        assert answer.status_code == 400
    return text(answer)


def two_codes(secret: str, clock: list[int]) -> str:
    """The next two codes as somebody types them."""
    return f"{code_of(secret, clock)} {code_of(secret, clock)}"


@pytest.mark.parametrize("again", ["{}", "{}-", " {} ", "{}!", "-{}"])
@pytest.mark.parametrize("used", ["to set it up", "to sign in"])
def test_a_code_works_once(world: World, clock: list[int], again: str, used: str) -> None:
    secret = set_up(Client(), clock)
    if used == "to sign in":
        assert browser().post(CODE, {"code": code_of(secret, clock)}).status_code == 302
    code = totp.format_hotp_value(totp.hotp_value(secret, clock[0]))
    cache.clear()  # another process
    assert browser().post(CODE, {"code": again.format(code)}).status_code == 400
    wanted = {"username": "ben", "password": PASSWORD, "code": again.format(code)}
    assert Client().post("/api/token/", wanted).status_code == 400


def test_a_code_that_is_older_than_the_last_one_no_longer_works(
    world: World, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = set_up(Client(), clock)
    now = clock[0] + 2
    monkeypatch.setattr(totp, "yield_hotp_counters_from_time", lambda: iter([now - 1, now, now + 1]))
    before, last = (totp.format_hotp_value(totp.hotp_value(secret, step)) for step in (now - 1, now))
    assert browser().post(CODE, {"code": last}).status_code == 302
    assert browser().post(CODE, {"code": before}).status_code == 400


def test_the_owner_signs_in_while_somebody_who_has_the_password_guesses(
    world: World, clock: list[int], settings: Settings
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    secret = set_up(Client(), clock)
    thief = browser()
    assert ONE in guess(thief, 9)
    assert TWO in guess(thief, 30)
    # From the thief's own network and from elsewhere.
    for address in ("10.0.0.1", "10.0.0.2"):
        guess(thief, 10)
        owner = browser(address)
        assert TWO in text(owner.get(CODE))
        assert TWO in guess(owner, 1, code_of(secret, clock))
        assert owner.post(CODE, {"code": two_codes(secret, clock)})["Location"] == "/"
        assert "wrong codes were entered since you last signed in" in text(owner.get("/"))
    wanted = {"username": "ben", "password": PASSWORD, "code": code_of(secret, clock)}
    assert Client().post("/api/token/", wanted).status_code == 200


def test_guesses_at_one_code_are_few_from_however_many_addresses(world: World, clock: list[int]) -> None:
    secret = set_up(Client(), clock)
    for number in range(10):
        guess(browser(f"10.0.1.{number}"), 1)
    code = code_of(secret, clock)
    assert TWO in guess(browser("10.0.2.1"), 1, code)
    for wrong in (f"{code} {code}", f"000000 {code}", f"{code_of(secret, clock)} 000000"):
        assert TWO in guess(browser("10.0.2.1"), 1, wrong)
    wanted = {"username": "ben", "password": PASSWORD, "code": code_of(secret, clock)}
    assert TWO in Client().post("/api/token/", wanted).json()["fields"]["code"]
    assert browser().post(CODE, {"code": two_codes(secret, clock)}).status_code == 302
    assert browser().post(CODE, {"code": code_of(secret, clock)}).status_code == 302


def test_two_codes_of_which_one_was_used_are_wrong(world: World, clock: list[int]) -> None:
    secret = set_up(Client(), clock)
    guess(browser(), 10)
    used = totp.format_hotp_value(totp.hotp_value(secret, clock[0]))
    assert TWO in guess(browser(), 1, f"{used} {code_of(secret, clock)}")


def test_two_recovery_codes_sign_in_as_well_and_none_is_lost_to_a_guess(
    world: World, clock: list[int]
) -> None:
    here = Client()
    set_up(here, clock)
    codes = text(here.get(f"{CODES}file/")).split()
    guess(browser(), 10)
    for wrong in (codes[0], f"{codes[0]} {codes[0]}", f"{codes[0]} 00000000"):
        assert TWO in guess(browser(), 1, wrong)
    assert browser().post(CODE, {"code": f"{codes[0]} {codes[1]}"}).status_code == 302
    assert text(here.get(f"{CODES}file/")).split() == codes[2:]


def test_an_address_that_guesses_at_many_accounts_gives_two_codes_for_each(
    world: World, clock: list[int], settings: Settings
) -> None:
    settings.FAILURES_PER_ADDRESS = 5
    secret = set_up(Client(), clock)
    cleo = Client()
    first_step(cleo, username="cleo")
    cleo.post(PAGE, {"code": code_of(secret_on(text(cleo.get(PAGE))), clock), "password": PASSWORD})
    thief = Client(headers={"X-Forwarded-For": "10.0.0.1"})
    first_step(thief, username="cleo")
    assert TWO in guess(thief, 5)
    assert TWO in guess(browser("10.0.0.1"), 1, code_of(secret, clock))
    assert browser("10.0.0.2").post(CODE, {"code": code_of(secret, clock)}).status_code == 302
    # Passwords count apart: this address may still sign in.
    assert browser("10.0.0.1").post(CODE, {"code": two_codes(secret, clock)}).status_code == 302


def test_wrong_codes_are_written_down_until_they_are_too_many(
    world: World, clock: list[int], settings: Settings
) -> None:
    settings.FAILURES_PER_ADDRESS = 3
    set_up(Client(), clock)
    guess(browser(), 5, "424242")
    lines = AdminAction.objects.filter(action="sign-in failed")
    assert [(line.about, line.detail) for line in lines] == [(world.ben, {"step": "code"})] * 3
    kept = AccessAttempt.objects.all()
    assert "424242" not in json.dumps([row.post_data for row in kept])
    assert not kept.filter(username="ben").exists()
