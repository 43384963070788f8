"""Lists over HTTP: one rule for pages, and what is refused."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.world import World

RUNS = "/api/collections/harbour/runs/"


@pytest.fixture
def http(world: World, client: Client) -> Client:
    world.build_pool()
    client.force_login(world.vera)
    return client


def test_a_list_without_a_page_is_whole_and_says_how_long_it_is(http: Client) -> None:
    answer = http.get(RUNS)
    assert [run["name"] for run in answer.json()] == ["alpha", "beta"]
    assert answer["X-Total-Count"] == "2"
    assert not answer.has_header("Link")


def test_a_page_says_where_the_next_one_is(http: Client) -> None:
    answer = http.get(f"{RUNS}?per_page=1&sort=-name")
    assert [run["name"] for run in answer.json()] == ["beta"]
    following = answer["Link"].split("<")[2].partition(">")[0]
    assert 'rel="next"' in answer["Link"]
    assert [run["name"] for run in http.get(following).json()] == ["alpha"]


def test_behind_the_last_page_there_is_nothing(http: Client) -> None:
    assert http.get(f"{RUNS}?page=3&per_page=1").json() == []


def test_a_list_is_searched_as_its_page_is(http: Client) -> None:
    assert [run["name"] for run in http.get(f"{RUNS}?q=alp").json()] == ["alpha"]


@pytest.mark.parametrize(
    ("asked", "field"),
    [("page=0", "page"), ("page=x", "page"), ("per_page=1001", "per_page"), ("sort=secret", "sort")],
)
def test_what_cannot_be_meant_is_refused_by_name(http: Client, asked: str, field: str) -> None:
    answer = http.get(f"{RUNS}?{asked}")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]


def test_a_filter_that_does_not_exist_is_refused(http: Client) -> None:
    assert list(http.get("/api/collections/harbour/jobs/?state=lost").json()["fields"]) == ["state"]
