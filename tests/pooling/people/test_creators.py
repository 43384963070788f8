"""Who may create collections."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from pooling.models import Collection
from tests.world import World, signed_in

BODY = {"slug": "tides", "name": "Tides", "question": "Does it help?"}


def call(client: Client) -> int:
    return client.post("/api/collections/", BODY, content_type="application/json").status_code


def is_offered_it(client: Client) -> bool:
    """On the home page, or by the search box of every page: it is on both or on neither."""
    page = reverse("collection_new") in client.get("/").content.decode()
    found = reverse("collection_new") in client.get(reverse("find"), {"q": "new"}).content.decode()
    assert page == found
    return page


@pytest.mark.parametrize("name", ["ada", "ben", "vera", "dan"])
def test_by_default_an_account_creates_no_collection(world: World, name: str) -> None:
    client = signed_in(getattr(world, name))
    assert call(client) == 403
    assert client.get(reverse("collection_new")).status_code == 403
    assert client.post(reverse("collection_new"), BODY).status_code == 403
    assert not is_offered_it(client)
    assert not Collection.objects.filter(slug="tides").exists()


@pytest.mark.parametrize("right", ["is_staff", "is_superuser"])
def test_whoever_runs_the_site_creates_collections(world: World, right: str) -> None:
    setattr(world.dan, right, True)
    world.dan.save()
    client = signed_in(world.dan)
    assert is_offered_it(client)
    assert client.get(reverse("collection_new")).status_code == 200
    assert call(client) == 201


def test_a_setting_lets_everyone_create_collections(world: World, settings: Settings) -> None:
    settings.COLLECTION_CREATORS = "everyone"
    client = signed_in(world.dan)
    assert is_offered_it(client)
    assert call(client) == 201


def test_without_an_account_nobody_creates_a_collection(world: World, settings: Settings) -> None:
    settings.COLLECTION_CREATORS = "everyone"
    assert call(Client()) == 401
    assert Client().get(reverse("collection_new"))["Location"].startswith(reverse("sign_in"))


def test_the_refusal_says_whom_to_ask(world: World) -> None:
    client = signed_in(world.dan)
    answer = client.post("/api/collections/", BODY, content_type="application/json")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"] == "On this site, those who run it create collections. Ask one of them."
    assert "Ask one of them." in client.get(reverse("collection_new")).content.decode()
