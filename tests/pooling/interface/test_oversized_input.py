"""Input that is deep or long beyond sense: one refusal, which does not repeat it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from pooling.formats.bytes.nesting import DEEPEST
from tests.labeling.helpers import make_queue
from tests.world import World

pytestmark = pytest.mark.anywhere

LONG = "x" * 1_000_000
LONGEST_ANSWER = 5_000


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.fixture
def ada(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


def post(client: Client, path: str, body: str) -> Any:
    return client.post(f"/api/{path}", body, content_type="application/json")


@pytest.mark.usefixtures("everyone_creates")
@pytest.mark.parametrize("levels", [DEEPEST + 1, 900, 100_000])
@pytest.mark.parametrize(
    "around", ["%s", '{"slug": %s}', '{"slug": "tides", "name": "Tides", "question": %s}']
)
def test_a_body_that_is_nested_too_deeply_is_refused(ada: Client, levels: int, around: str) -> None:
    answer = post(ada, "collections/", around % deep(levels))
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert "nested too deeply" in answer.json()["detail"]


@pytest.mark.usefixtures("everyone_creates")
def test_nesting_that_is_only_unusual_is_read(ada: Client) -> None:
    assert "nested" not in post(ada, "collections/", deep(DEEPEST)).json()["detail"]


@pytest.mark.parametrize("levels", [DEEPEST + 1, 100_000])
def test_a_line_of_a_file_that_is_nested_too_deeply_is_named(ada: Client, levels: int) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    line = '{"_id": "q9", "text": "bus", "metadata": {"a": HERE}}\n'.replace("HERE", deep(levels))
    file = SimpleUploadedFile("queries.jsonl", line.encode())
    answer = ada.post("/api/collections/harbour/queries/", {"file": file})
    assert answer.status_code == 400
    assert "line 1: not JSON (nested too deeply)" in answer.json()["detail"]


def bodies() -> list[tuple[str, Any]]:
    return [
        ("collections/harbour/members/", {"username": "dan", "role": LONG}),
        ("collections/harbour/pools/", {"name": "p", "runs": [LONG], "depth": 2}),
        ("collections/harbour/pools/", {"name": "p", "runs": [], "depths": {LONG: 0}, "depth": 1}),
        ("collections/harbour/reports/", {"release": LONG, "runs": [LONG], "conventions": {LONG: LONG}}),
        (
            "collections/harbour/reports/",
            {"thresholds": dict.fromkeys((f"{n}{LONG[:9]}" for n in range(9999)), 1)},
        ),
        ("collections/harbour/replays/", {"release": LONG, "strategies": [LONG], "depth": LONG}),
        ("token/", {"username": LONG, "password": LONG}),
    ]


@pytest.mark.parametrize(("path", "body"), bodies())
def test_a_refusal_does_not_repeat_what_is_too_long(ada: Client, path: str, body: Any) -> None:
    answer = post(ada, path, json.dumps(body))
    assert answer.status_code in (400, 404, 409, 413)
    assert len(answer.content) < LONGEST_ANSWER


def test_a_verdict_that_is_refused_does_not_come_back_whole(world: World, ada: Client) -> None:
    queue = make_queue(world)
    for body in ({"key": LONG}, {"key": "k", "item": 1, "verdict": LONG}, {"key": "k", "item": LONG}):
        answer = post(ada, f"queues/{queue.pk}/judgments/", json.dumps([body]))
        assert answer.json()["results"][0]["status"] == "rejected"
        assert len(answer.content) < LONGEST_ANSWER


def test_half_a_character_is_refused_in_words(ada: Client) -> None:
    answer = post(ada, "collections/harbour/members/", '{"username": "dan", "role": "\\ud800"}')
    assert answer.status_code == 400
    assert "role" in answer.json()["fields"]
