"""What the tests of imported judgments share."""

from __future__ import annotations

import pytest

from pooling.models import Collection, Document, Query
from tests.world import DOCUMENTS, QUERIES


@pytest.fixture
def elsewhere() -> Collection:
    """A collection with the same queries and documents, in which nobody has judged."""
    collection = Collection.objects.create(slug="elsewhere", name="Elsewhere")
    for external_id, text in QUERIES.items():
        Query.objects.create(collection=collection, external_id=external_id, text=text)
    for external_id, (title, text) in DOCUMENTS.items():
        Document.objects.create(collection=collection, external_id=external_id, title=title, text=text)
    return collection
