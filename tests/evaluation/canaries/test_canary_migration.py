"""Canaries that were made before their queries were frozen measure on what they measured last."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

BEFORE, AFTER = ("evaluation", "0003_latency_and_canaries"), ("evaluation", "0004_canaries_told")


def migrated(target: tuple[str, str]) -> Any:
    """The models as they are after a migration."""
    executor = MigrationExecutor(connection)
    executor.migrate([target])
    return MigrationExecutor(connection).loader.project_state([target]).apps


@pytest.fixture
def before(transactional_db: None) -> Iterator[Any]:
    yield migrated(BEFORE)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_queries_are_frozen_and_messages_keep_what_they_tell(before: Any) -> None:
    def make(model: str, **values: Any) -> Any:
        return before.get_model(model).objects.create(**values)

    collection = make("pooling.Collection", slug="old", name="Old")
    for name, tags in (("q2", ["canary"]), ("q1", "canary"), ("q3", ["other"])):
        make("pooling.Query", collection=collection, external_id=name, text=name, metadata={"tags": tags})
    counts = dict.fromkeys(("pair_count", "relevant_count", "query_count"), 0)
    release = make("labeling.QrelsRelease", collection=collection, name="v1", **counts)
    common = {"collection": collection, "release": release, "measure": "recall@2", "threshold": 0.7}
    canary = make("evaluation.Canary", name="nightly", tag="canary", **common)
    make("evaluation.Canary", name="lost", tag="gone", **common)
    make("evaluation.Canary", name="all", **common)
    run = make("pooling.Run", collection=collection, name="dense", row_count=1, query_count=1, depth=1)
    value = make("evaluation.CanaryValue", canary=canary, run=run, queries=2, reasons=["below"])
    old = {"canary": canary, "channel": "webhook", "receiver": "host"}
    message = make("evaluation.CanaryDelivery", value=value, **old)
    test = make("evaluation.CanaryDelivery", state="sent", **old)

    after = migrated(AFTER)
    stretches = after.get_model("evaluation.CanaryStretch").objects.order_by("canary_id")
    assert list(stretches.values_list("canary__name", "queries", "scored")) == [
        ("nightly", ["q1", "q2"], 2),
        ("lost", [], 0),
        ("all", None, 0),
    ]
    assert stretches[0].started_at == canary.created_at
    assert after.get_model("evaluation.CanaryValue").objects.get().stretch == stretches[0]
    news = after.get_model("evaluation.CanaryNews").objects.order_by("pk")
    assert list(news.values_list("delivery", "canary", "value", "reasons")) == [
        (message.pk, canary.pk, value.pk, ["below"]),
        (test.pk, canary.pk, None, []),
    ]
    waiting = after.get_model("evaluation.CanaryDelivery").objects.get(state="waiting")
    assert waiting.collection_id == collection.pk
    assert waiting.next_try_at <= timezone.now() <= waiting.give_up_at
    assert waiting.give_up_at - waiting.created_at == timedelta(days=1)
