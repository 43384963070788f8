"""Choosing a language: for a browser and for an account, and what stays English whatever was chosen."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from labeling.queues.opening import open_queue
from pooling.account_models import Preferences
from pooling.people.invitations import invite
from tests.labeling.helpers import make_pool
from tests.world import PASSWORD, World

pytestmark = pytest.mark.anywhere

GERMAN = {"HTTP_ACCEPT_LANGUAGE": "de-AT,de;q=0.9,en;q=0.5"}


def page(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def test_a_page_without_an_account_follows_the_browser(world: World) -> None:
    assert '<html lang="de">' in page(Client(**GERMAN), "/sign-in/")
    assert '<html lang="en">' in page(Client(HTTP_ACCEPT_LANGUAGE="fi"), "/sign-in/")


def test_a_choice_goes_before_the_browser_and_back_to_the_page(world: World) -> None:
    client = Client(**GERMAN)
    answer = client.post("/language/", {"language": "en"}, HTTP_REFERER="http://testserver/sign-in/")
    assert answer["Location"] == "/sign-in/" or answer["Location"].endswith("/sign-in/")
    assert '<html lang="en">' in page(client, "/sign-in/")


def test_the_account_brings_the_language_to_another_browser(world: World) -> None:
    client = Client()
    client.force_login(world.ben)
    client.post("/language/", {"language": "de"})
    elsewhere = Client()
    elsewhere.post("/sign-in/", {"username": "ben", "password": PASSWORD})
    assert "Deine Sammlungen" in page(elsewhere, "/")
    elsewhere.post("/sign-out/")
    assert "Anmelden" in page(elsewhere, "/sign-in/")


def test_a_new_account_keeps_what_was_chosen_on_the_invitation(world: World) -> None:
    client = Client()
    client.post("/language/", {"language": "de"})
    link = f"/invitations/{invite(world.collection, 'annotator', by=world.ada).token}/"
    assert "lädt dich zum Beurteilen ein" in page(client, link)
    form = {"username": "eva", "password1": "harbour lights 7", "password2": "harbour lights 7"}
    answer = client.post(link, form, follow=True)
    assert "Deine Rolle in Harbour ist jetzt: Annotator." in answer.content.decode()
    assert Preferences.objects.get(user__username="eva").language == "de"


def test_nothing_else_than_a_language_of_the_site_is_kept(world: World) -> None:
    client = Client()
    client.force_login(world.ben)
    client.post("/language/", {"language": "tlh"})
    assert not Preferences.objects.exclude(language="").exists()
    assert '<html lang="en">' in page(client, "/")


def in_german(user: User) -> Client:
    client = Client(**GERMAN)
    client.force_login(user)
    client.post("/language/", {"language": "de"})
    return client


@pytest.mark.parametrize(
    "path", ["/", "/collections/harbour/", "/collections/harbour/queues/", "/queues/{}/"]
)
def test_admins_pages_stay_english(path: str, world: World) -> None:
    queue = open_queue(make_pool(world), seed=1, user=world.ada)
    client = Client()
    client.force_login(world.ada)
    before = client.get(path.format(queue.pk))
    after = in_german(world.ada).get(path.format(queue.pk))
    assert '<html lang="en">' in after.content.decode()
    assert without_tokens(before.content) == without_tokens(after.content)


def without_tokens(page: bytes) -> list[str]:
    return [line for line in page.decode().splitlines() if "csrfmiddlewaretoken" not in line]


@pytest.mark.parametrize(
    "path",
    [
        "/queues/{}/mine/?format=csv",
        "/collections/harbour/queues/?format=csv",
        "/account/work/hours.csv",
        "/api/queues/{}/progress/",
        "/api/queues/999/progress/",
        "/api/queues/{}/gold/",
    ],
)
def test_files_and_answers_to_programs_are_the_same_in_every_language(path: str, world: World) -> None:
    queue = open_queue(make_pool(world), seed=1, user=world.ada)
    client = Client()
    client.force_login(world.ben)
    claimed = client.post(f"/api/queues/{queue.pk}/claim/", {"count": 1}, "application/json").json()
    verdict = {"item": claimed["items"][0]["item"], "key": "k", "verdict": "not_relevant", "active_ms": 1500}
    client.post(f"/api/queues/{queue.pk}/judgments/", [verdict], "application/json")
    english, german = (one.get(path.format(queue.pk)) for one in (client, in_german(world.ben)))
    assert body_of(english) == body_of(german)


def body_of(answer: object) -> bytes:
    return b"".join(answer)  # type: ignore[call-overload, no-any-return]


def test_the_judging_page_is_told_in_its_language_what_is_wrong(world: World) -> None:
    queue = open_queue(make_pool(world), seed=1, user=world.ada)
    client = in_german(world.ben)
    skipped = {"item": 999, "lease": None}
    address = f"/api/queues/{queue.pk}/skip/"
    assert (
        client.post(address, skipped, "application/json").json()["detail"]
        == "This pair is not in this queue."
    )
    told = client.post(address, skipped, "application/json", headers={"X-Language": "de"}).json()
    assert told["detail"] == "Dieses Paar gehört nicht zu dieser Warteschlange."


def test_the_scripts_get_their_own_words_alone(world: World) -> None:
    answer = Client().get("/words/de.js")
    assert answer["Cache-Control"] == "public, max-age=3600"
    assert "Alles gespeichert" in answer.content.decode()
    assert len(answer.content) < 40_000
    assert Client().get("/words/tlh.js").status_code == 404
    assert "/words/" not in page(Client(), "/sign-in/")
    assert "/words/de.js" in page(Client(**GERMAN), "/sign-in/")


def test_a_language_costs_no_query(world: World) -> None:
    queue = open_queue(make_pool(world), seed=1, user=world.ada)
    counts = []
    english = Client()
    english.force_login(world.ben)
    for client in (english, in_german(world.ben)):
        client.get(f"/queues/{queue.pk}/judge/")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/queues/{queue.pk}/judge/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_every_language_has_a_catalogue_and_is_named_in_itself() -> None:
    names = dict(settings.LANGUAGES)
    shown = page(Client(**GERMAN), "/sign-in/")
    assert all(f">{name}</button>" in shown for name in ("English", "Deutsch", "Español", "日本語"))
    assert set(names) - {"en"} == {path.name for path in settings.LOCALE_PATHS[0].iterdir()}
