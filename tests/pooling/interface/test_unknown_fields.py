"""A field that a call does not take is refused: what it says would be left out without a word."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from pooling.models import Pool
from tests.world import World

HARBOUR = "/api/collections/harbour/"
pytestmark = pytest.mark.anywhere


@pytest.fixture
def http(world: World, client: Client) -> Client:
    world.build_pool()
    client.force_login(world.ada)
    return client


def test_a_misspelt_field_is_refused_with_the_one_that_is_meant(http: Client) -> None:
    pool = {"name": "second", "runs": ["alpha"], "depth": 2, "audit_shares": 0.5}
    calls = [
        (f"{HARBOUR}reports/", {"min_relevence": 2, "confidense": 0.8}, ["confidence", "min_relevance"]),
        (f"{HARBOUR}pools/", pool, ["audit_share"]),
        (f"{HARBOUR}canaries/", {"webhook_secret": "x", "url_of_webhook": "x"}, ["webhook_url", "secret"]),
        (f"/api/pools/{Pool.objects.get().pk}/extend/", {"budjet": 50}, ["budget"]),
    ]
    for address, body, meant in calls:
        refused = http.post(address, body, content_type="application/json")
        assert refused.status_code == 400
        sentences = [f"This call takes no such field; write {name}." for name in meant]
        assert list(refused.json()["fields"].values()) == sentences
    assert Pool.objects.count() == 1


def test_a_field_like_no_other_is_refused_with_those_that_there_are(http: Client) -> None:
    refused = http.patch(HARBOUR, {"colour": "red"}, content_type="application/json")
    assert refused.json()["detail"].startswith("colour: This call takes no such field; it takes name, ")


def test_a_form_has_its_token_and_lists_by_place(http: Client) -> None:
    form = {"name": "second", "runs[0]": "alpha", "depth": 2, "csrfmiddlewaretoken": "x"}
    assert http.post(f"{HARBOUR}pools/", form).status_code == 201
    file = SimpleUploadedFile("queries.tsv", b"q9\tnight boat\n")
    refused = http.post(f"{HARBOUR}queries/", {"file": file, "nmae": "x"})
    assert refused.json()["fields"] == {"nmae": "This call takes no such field; write name."}


def test_fields_that_are_only_read_may_be_sent_back(http: Client) -> None:
    member = {"username": "ben", "role": "viewer", "since": "2026-01-01T00:00:00Z"}
    assert http.post(f"{HARBOUR}members/", member, content_type="application/json").status_code != 400
