"""Rows of the database as frames, alike on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest
from django.db.models import Exists, F, OuterRef

from pooling.models import Document, Query
from pooling.storage.frames import rows_frame
from tests.world import World

pytestmark = pytest.mark.django_db

MOMENT = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)


def test_nothing_empty_text_lines_and_quotes_stay_what_they_are(world: World) -> None:
    texts = [None, "", 'a "b",\nc\r', "\\N", "t"]
    for at, text in enumerate(texts):
        Document.objects.create(collection=world.collection, external_id=f"odd-{at}", title="", text=text)
    rows = Document.objects.filter(external_id__startswith="odd-").order_by("external_id")
    frame = rows_frame(rows, "title", "text", "collection", name="external_id")
    assert frame["text"].to_list() == texts
    assert frame["title"].to_list() == [""] * 5
    assert frame["collection"].to_list() == [world.collection.pk] * 5
    assert frame.columns == ["title", "text", "collection", "name"]


@pytest.mark.parametrize("wanted", [["q1"], [], ["none"]])
def test_flags_and_times_have_their_types_with_rows_and_without(world: World, wanted: list[str]) -> None:
    Query.objects.filter(external_id="q1").update(deleted_at=MOMENT)
    others = Query.objects.filter(pk__gt=OuterRef("pk"))
    rows = Query.everything.filter(collection=world.collection, external_id__in=wanted)
    frame = rows_frame(rows.annotate(again=Exists(others), when=F("deleted_at")), "again", "when")
    assert frame.schema == {"again": pl.Boolean, "when": pl.Datetime("us", "UTC")}
    assert frame["when"].to_list() == [MOMENT] * (wanted == ["q1"])
