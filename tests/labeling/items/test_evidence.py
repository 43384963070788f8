"""The span that shows why a document is relevant: sent, checked, stored, exported and shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from labeling.items.evidence import LONGEST_EVIDENCE
from labeling.items.numbers import number_of
from labeling.models import Item, Judgment, JudgmentEvent, Queue
from labeling.qrels.explanation import explain
from labeling.qrels.judgments import judgment_rows
from tests.labeling.helpers import make_queue
from tests.world import World

TEXT = "Trams stop at midnight. The N7 runs all night, until five."
DECIDES = "The N7 runs all night"


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world, pairs=2)


@pytest.fixture
def item(world: World, queue: Queue) -> Item:
    item = queue.items.select_related("document", "query").earliest("pk")
    item.document.text = TEXT
    item.document.save(update_fields=["text"])
    return item


def send(world: World, item: Item, **fields: Any) -> dict[str, Any]:
    said = {"item": number_of(item.pk), "version": item.document.version, "key": "k1", "verdict": "relevant"}
    (result,) = post(world, item, "judgments", [said | fields])["results"]
    return dict(result)


def post(world: World, item: Item, what: str, body: Any) -> dict[str, Any]:
    client = Client()
    client.force_login(world.ben)
    answer = client.post(f"/api/queues/{item.queue_id}/{what}/", body, content_type="application/json")
    return dict(answer.json())


def span_of(words: str) -> list[int]:
    start = TEXT.index(words)
    return [start, start + len(words)]


def quoted(world: World, item: Item) -> list[str]:
    found = explain(world.collection, item.query.external_id, item.document.external_id)
    return [opinion.evidence for opinion in found.opinions]


def test_it_is_stored_with_the_verdict_and_exported(world: World, item: Item) -> None:
    assert send(world, item, evidence=span_of(DECIDES))["status"] == "stored"
    (row,) = judgment_rows(world.collection)
    assert [row["evidence_start"], row["evidence_end"]] == span_of(DECIDES)
    assert len(row["evidence_sha256"]) == 64


def test_a_verdict_needs_none(world: World, item: Item) -> None:
    assert send(world, item, evidence=None)["status"] == "stored"
    (row,) = judgment_rows(world.collection)
    assert (row["evidence_start"], row["evidence_end"], row["evidence_sha256"]) == (None, None, "")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"verdict": "not_relevant", "evidence": [0, 5]}, "relevant"),
        ({"evidence": [5, 5]}, "start < end"),
        ({"evidence": [0, 1000]}, "58 characters"),
        ({"evidence": [0, LONGEST_EVIDENCE + 1]}, "2,000"),
        ({"evidence": [0]}, "evidence"),
        ({"evidence": "trams"}, "evidence"),
        ({"evidence": [-1, 5]}, "evidence"),
        ({"evidence": [0, 5], "version": None}, "version"),
    ],
)
def test_one_that_cannot_be_is_refused_with_its_reason(
    world: World, item: Item, fields: dict[str, Any], words: str
) -> None:
    result = send(world, item, **fields)
    assert result["status"] == "rejected"
    assert words in result["detail"]
    assert not Judgment.objects.exists()


def test_the_page_that_explains_a_label_quotes_it(world: World, item: Item) -> None:
    send(world, item, evidence=span_of(DECIDES))
    client = Client()
    client.force_login(world.ada)
    ids = {"query": item.query.external_id, "document": item.document.external_id}
    page = client.get("/collections/harbour/labels/", ids).content.decode()
    assert f'<q dir="auto">{DECIDES}</q>' in page
    assert f"<mark>{DECIDES}</mark>" in page


def test_of_a_text_that_has_changed_nothing_is_quoted(world: World, item: Item) -> None:
    send(world, item, evidence=span_of(DECIDES))
    item.document.text = "Now: " + TEXT
    item.document.save(update_fields=["text"])
    assert quoted(world, item) == [""]


def test_a_verdict_on_an_earlier_text_keeps_its_place_without_a_quotation(world: World, item: Item) -> None:
    item.document.version += 1
    item.document.save(update_fields=["version"])
    assert send(world, item, version=item.document.version - 1, evidence=[0, 900])["status"] == "stored"
    assert JudgmentEvent.objects.values_list("span_start", "span_end", "span_sha256").get() == (0, 900, "")
    assert quoted(world, item) == [""]


def test_undo_takes_it_away(world: World, item: Item) -> None:
    send(world, item, evidence=span_of(DECIDES))
    post(world, item, "undo", {"key": "k1"})
    assert quoted(world, item) == []


def test_characters_beyond_the_basic_plane_count_as_one(world: World, item: Item) -> None:
    item.document.text = "🚋 ends. 🚌 runs."
    item.document.save(update_fields=["text"])
    send(world, item, evidence=[8, 15])
    assert quoted(world, item) == ["🚌 runs."[:7]]
