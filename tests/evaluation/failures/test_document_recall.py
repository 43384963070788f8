"""Recall by groups of documents on the page of a report and over HTTP."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.failures.document_recall import sentence_of
from evaluation.models import Report
from pooling.models import Document
from tests.evaluation.failures.test_ceiling import report_of
from tests.evaluation.failures.test_recall import of
from tests.world import World

pytestmark = pytest.mark.django_db

# Relevant are d1 and d4 to q1, d2 to q2, d3 to q3; at 1 alpha finds d1, d2 and d3, beta d4 alone.
INDEXED = {"d1": "2026-01-10", "d2": "2026-01-11", "d3": "2026-05-01", "d4": "2026-05-02"}


def dated(world: World) -> Report:
    report = report_of(world)
    for name, day in INDEXED.items():
        Document.objects.filter(collection=world.collection, external_id=name).update(
            metadata={"indexed_at": day, "source": "<b>wiki</b>"}
        )
    return report


def test_recall_by_month_of_the_index_is_that_counted_by_hand(world: World, client: Client) -> None:
    report = dated(world)
    client.force_login(world.vera)
    told = client.get(f"/api/reports/{report.pk}/documents/?by=indexed_at&run=alpha&k=1").json()
    assert (told["by"], told["keys"]) == ("indexed_at", ["indexed_at", "source"])
    rows = [(one["name"], one["found"], one["relevant"], one["recall"]["value"]) for one in told["groups"]]
    assert rows == [("2026-01", 2, 2, 1.0), ("2026-05", 1, 2, 0.5)]
    assert told["everything"]["recall"]["value"] == 0.75
    assert told["groups"][0]["p_holm"] is None  # two documents are too few
    page = client.get(f"/reports/{report.pk}/documents/?by=source").content.decode()
    assert "&lt;b&gt;wiki&lt;/b&gt;" in page
    assert f"/reports/{report.pk}/documents/" in client.get(f"/reports/{report.pk}/").content.decode()


def test_what_cannot_be_grouped_is_said_in_a_sentence(world: World, client: Client) -> None:
    report = report_of(world)
    client.force_login(world.vera)
    assert "no metadata to group them by" in client.get(f"/reports/{report.pk}/documents/").content.decode()
    assert client.get(f"/api/reports/{report.pk}/documents/").status_code == 400
    Document.objects.filter(external_id="d1").update(metadata={"source": "wiki"})
    refused = client.get(f"/api/reports/{report.pk}/documents/?by=age")
    assert (refused.status_code, "by" in refused.json()["fields"]) == (400, True)
    assert client.get(f"/api/reports/{report.pk}/documents/?k=7").status_code == 400


def test_the_clearest_difference_is_said() -> None:
    pairs = [(q, f"{g}{q}{n}", g == "new") for q in range(20) for g in ("old", "new") for n in range(2)]
    said = sentence_of(of(pairs, {one: one[:3] for _, one, _ in pairs}))
    assert "found less often than the rest" in said
    assert "difference of −1.000" in said
    alike = [(q, f"{g}{q}", True) for q in range(20) for g in "xy"]
    assert sentence_of(of(alike, {one: one[0] for _, one, _ in alike})).startswith("No group differs")
