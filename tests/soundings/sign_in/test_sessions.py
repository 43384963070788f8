"""Where people are signed in: listed, ended one by one or all others at once, and by themselves when idle."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from pooling.account_models import SeenSession
from soundings.sign_in import keeping
from soundings.sign_in.keeping import browser_in_words, forget_ended_sessions, sessions_of
from tests.labeling.helpers import make_queue
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db
LAPTOP = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile/15E148 Safari/604.1"


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the tests set forward."""
    found = [1_800_000_000.0]
    monkeypatch.setattr(keeping.time, "time", lambda: found[0])
    return found


def signed_in(name: str, agent: str = LAPTOP) -> Client:
    client = Client(headers={"User-Agent": agent})
    assert client.post("/sign-in/", {"username": name, "password": PASSWORD}).status_code == 302
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_the_account_lists_browsers_with_the_one_in_hand(world: World) -> None:
    laptop, _ = signed_in("ben"), signed_in("ben", PHONE)
    signed_in("cleo")
    page = laptop.get("/account/").content.decode()
    assert page.count("Firefox, Linux") == 1
    assert "Safari, iPhone" in page
    assert page.count("this one") == 1
    listed = laptop.get("/api/sessions/").json()
    assert [row["browser"] for row in listed] == ["Firefox, Linux", "Safari, iPhone"]
    assert "session_key" not in str(listed)


def test_one_session_is_ended_and_the_others_go_on(world: World) -> None:
    laptop, phone = signed_in("ben"), signed_in("ben", PHONE)
    row = sessions_of(world.ben).get(browser=PHONE)
    stranger = signed_in("cleo")
    assert stranger.post(f"/account/sessions/{row.pk}/end/").status_code == 404
    assert stranger.delete(f"/api/sessions/{row.pk}/").status_code == 404
    assert is_signed_in(phone)
    assert (
        "Signed out there." in laptop.post(f"/account/sessions/{row.pk}/end/", follow=True).content.decode()
    )
    assert (is_signed_in(laptop), is_signed_in(phone)) == (True, False)


def test_everywhere_else_is_signed_out_on_the_page_and_over_http(world: World) -> None:
    laptop, phone, other = signed_in("ben"), signed_in("ben", PHONE), signed_in("cleo")
    laptop.post("/account/sessions/end/")
    assert [is_signed_in(client) for client in (laptop, phone, other)] == [True, False, True]
    phone = signed_in("ben", PHONE)
    assert laptop.delete("/api/sessions/").status_code == 204
    assert [is_signed_in(client) for client in (laptop, phone, other)] == [True, False, True]


def test_signing_out_and_a_new_password_end_the_rows_too(world: World) -> None:
    laptop, phone = signed_in("ben"), signed_in("ben", PHONE)
    phone.post("/sign-out/")
    assert [row.browser for row in sessions_of(world.ben)] == [LAPTOP]
    phone = signed_in("ben", PHONE)
    new = "harbour-lights-77"
    laptop.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert (is_signed_in(laptop), is_signed_in(phone)) == (True, False)
    assert "this one" in laptop.get("/account/").content.decode()


def test_a_session_that_has_just_changed_the_password_can_be_ended_elsewhere(world: World) -> None:
    laptop, new = signed_in("ben"), "harbour-lights-77"
    laptop.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    phone = Client(headers={"User-Agent": PHONE})
    phone.post("/sign-in/", {"username": "ben", "password": new})
    assert [row.browser for row in sessions_of(world.ben)] == [PHONE, LAPTOP]
    phone.post("/account/sessions/end/")
    assert (is_signed_in(laptop), is_signed_in(phone)) == (False, True)


def test_a_session_that_nobody_uses_ends_and_one_in_use_does_not(
    world: World, settings: Settings, now: list[float]
) -> None:
    settings.SESSION_IDLE_MINUTES = 30
    used, idle = signed_in("ben"), signed_in("ben", PHONE)
    for _ in range(4):
        now[0] += 20 * 60
        assert is_signed_in(used)
    assert not is_signed_in(idle)
    assert idle.get("/account/")["Location"].startswith("/sign-in/?next=")


def test_without_the_setting_a_session_outlives_a_quiet_week(world: World, now: list[float]) -> None:
    client = signed_in("ben")
    now[0] += 7 * 86_400
    assert is_signed_in(client)


def test_use_is_written_down_every_few_minutes_alone(
    world: World, now: list[float], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client = signed_in("ben")
    client.get("/api/limits/")
    before = SeenSession.objects.get().seen_at
    now[0] += 60
    with django_assert_max_num_queries(3):
        client.get("/api/limits/")
    assert SeenSession.objects.get().seen_at == before
    now[0] += 300
    client.get("/api/limits/")
    assert SeenSession.objects.get().seen_at > before


def test_rows_of_sessions_that_ended_are_forgotten(world: World) -> None:
    signed_in("ben")
    SeenSession.objects.update(seen_at=timezone.now() - timedelta(days=15))
    Session.objects.update(expire_date=timezone.now() - timedelta(days=1))
    assert not sessions_of(world.ben).exists()
    forget_ended_sessions(timezone.now())
    assert not SeenSession.objects.exists()
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (LAPTOP, "Firefox, Linux"),
        (PHONE, "Safari, iPhone"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/150.0 Safari/537.36 Edg/150.0",
            "Edge, Windows",
        ),
        (
            "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/150.0 Mobile Safari/537.36",
            "Chrome, Android",
        ),
        ("", ""),
    ],
)
def test_a_browser_is_told_by_its_name(agent: str, words: str) -> None:
    assert browser_in_words(agent) == words


def test_a_form_that_is_sent_after_the_session_ended_leads_back_to_its_page(world: World) -> None:
    queue = make_queue(world)
    client, form = signed_in("ada"), f"/queues/{queue.pk}/state/"
    client.logout()
    page = {"Referer": f"http://testserver/queues/{queue.pk}/?page=2#top"}
    answer = client.post(form, {"state": "paused"}, headers=page, follow=True)
    assert answer.redirect_chain == [(f"/sign-in/?next=/queues/{queue.pk}/%3Fpage%3D2", 302)]
    assert "nothing was changed" in answer.content.decode()
    for stranger in ("", "https://elsewhere.example/", "http://testserver//elsewhere.example/"):
        answer = client.post(form, {"state": "paused"}, headers={"Referer": stranger})
        assert answer["Location"] == "/sign-in/"


def test_the_address_of_a_form_shows_a_page_with_a_way_on(world: World) -> None:
    answer = signed_in("ada").get(f"/queues/{make_queue(world).pk}/state/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "Your collections" in answer.content.decode()
