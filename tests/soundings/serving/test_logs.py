"""A line for each request, which names who and where, and nothing that anybody wrote."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import reverse

from labeling.queues.opening import open_queue
from soundings.accounts.tokens import make_token
from soundings.serving.logs import REQUESTS, JsonLines, logging_of, only_kinds_and_places
from tests.world import World

SECRET = "never-in-a-log"


@contextmanager
def lines_of(*names: str) -> Iterator[list[dict[str, Any]]]:
    """The lines of some loggers, read when the block has ended."""
    written, lines = io.StringIO(), []
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    heard = [logging.getLogger(name) for name in names]
    loggers = [*heard, logging.getLogger(REQUESTS)]
    before = [logger.level for logger in loggers]
    for logger in heard:
        logger.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.INFO)
    try:
        yield lines
    finally:
        for logger in heard:
            logger.removeHandler(handler)
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
        lines += [json.loads(line) for line in written.getvalue().splitlines()]


def test_a_request_is_a_line_with_person_and_collection_and_its_number_is_sent_back(
    world: World, client: Client
) -> None:
    client.force_login(world.ada)
    with lines_of(REQUESTS) as lines:
        answer = client.get("/collections/harbour/runs/", headers={"X-Request-ID": "proxy-12345"})
    assert answer["X-Request-ID"] == "proxy-12345"
    (line,) = lines
    assert (line["request"], line["person"], line["collection"]) == ("proxy-12345", world.ada.pk, "harbour")
    assert (line["route"], line["status"]) == ("/collections/<slug:slug>/runs/", 200)
    assert line["seconds"] >= 0


@pytest.mark.parametrize("given", ["short", 'quo"te and more', "a" * 65, "line\nbreak-in"])
def test_what_is_no_number_of_a_request_is_replaced(client: Client, db: None, given: str) -> None:
    assert len(client.get("/health/", headers={"X-Request-ID": given})["X-Request-ID"]) == 32


def test_one_request_s_person_and_collection_are_not_the_next_one_s(world: World, client: Client) -> None:
    client.force_login(world.ada)
    with lines_of(REQUESTS) as lines:
        client.get("/collections/harbour/runs/")
        Client().get("/sign-in/")
    assert "person" in lines[0]
    assert not {"person", "collection"} & lines[1].keys()


def test_no_line_holds_what_somebody_wrote_judged_or_keeps_secret(world: World, client: Client) -> None:
    queue = open_queue(world.build_pool(), name="all", seed=1)
    token = make_token(world.ben).token
    headers = {"Authorization": f"Token {token}"}
    address = reverse("api_queue_claim", args=[queue.pk])
    with lines_of("django", "soundings") as lines:
        item = client.post(address, {"count": 1}, "application/json", headers=headers).json()["items"][0]
        verdict = {"item": item["item"], "key": SECRET, "verdict": "not_relevant", "note": SECRET}
        client.post(
            reverse("api_queue_judgments", args=[queue.pk]), [verdict], "application/json", headers=headers
        )
        client.get(f"/api/queues/{queue.pk}/search/?query={SECRET}", headers=headers)
        client.get(f"/nowhere/?text={SECRET}")
    assert [line["person"] for line in lines if line.get("route", "").startswith("/api/")] == [
        world.ben.pk
    ] * 3
    text = json.dumps(lines)
    for hidden in (SECRET, token, item["document"]["text"][:20], "not_relevant", "ben"):
        assert hidden not in text


def test_an_error_has_its_kind_and_place_and_no_message() -> None:
    with lines_of("soundings.tried") as lines:
        try:
            raise ValueError(SECRET)
        except ValueError:
            logging.getLogger("soundings.tried").exception("job %s failed", 3)
    assert (lines[0]["message"], lines[0]["error"]) == ("job 3 failed", "ValueError")
    assert "test_logs.py" in lines[0]["where"][-1]
    assert SECRET not in json.dumps(lines)


def test_what_is_sent_to_a_collector_of_errors_is_kinds_and_places() -> None:
    event = {
        "message": SECRET,
        "extra": {"text": SECRET},
        "user": {"username": SECRET},
        "request": {"method": "POST", "url": SECRET, "data": SECRET, "headers": {"Authorization": SECRET}},
        "exception": {
            "values": [
                {
                    "type": "ValueError",
                    "value": SECRET,
                    "stacktrace": {"frames": [{"function": "claim", "vars": {"key": SECRET}}]},
                }
            ]
        },
    }
    sent = only_kinds_and_places(event)
    assert SECRET not in json.dumps(sent)
    assert sent["request"] == {"method": "POST"}
    assert sent["exception"]["values"][0]["type"] == "ValueError"


def test_a_format_or_level_that_does_not_exist_is_named() -> None:
    with pytest.raises(ImproperlyConfigured, match="SOUNDINGS_LOG_FORMAT is “xml”; choose one of text, json"):
        logging_of("xml", "INFO", requests=False)
    with pytest.raises(ImproperlyConfigured, match="SOUNDINGS_LOG_LEVEL is “loud”"):
        logging_of("json", "loud", requests=False)
