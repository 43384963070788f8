"""A label counts everywhere from the moment it is there, and as long as it stands."""

from __future__ import annotations

import pytest
from django.test import Client

from evaluation.estimates.views import pool_finds
from labeling.gold.quarantine import impose, lift
from labeling.gold.questions import NewQuestion, add_question
from labeling.progress.judged_share import judged_share_of_pool
from labeling.qrels.imported import import_qrels
from labeling.qrels.labels import current_labels
from tests.labeling.helpers import judge, make_queue
from tests.world import World


def test_a_gold_question_counts_as_a_label_before_a_queue_holds_it(world: World) -> None:
    pool = world.build_pool(depth=2)
    add_question(world.collection, NewQuestion(query="q1", document="d1", answer="relevant"))

    finds = pool_finds(pool)

    assert finds is not None
    assert finds["labelled"] == 1
    # d1 is one of the two documents of q1 in each run, and there are three queries.
    assert {row["run"]: row["now"] for row in judged_share_of_pool(pool)} == pytest.approx(
        {"alpha": 1 / 6, "beta": 1 / 6}
    )


def test_a_pair_with_too_few_verdicts_by_a_pause_shows_its_imported_label(
    world: World, client: Client
) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    path = world.folder / "known.qrels"
    path.write_text("q1 0 d1 1\nq1 0 d2 1\n")
    import_qrels(world.collection, path, user=world.ada)
    first, second = queue.items.filter(order_key__gt=0).order_by("document__external_id")
    for person in (world.ben, world.cleo):
        judge(queue, person, first.pk, "not_relevant")
    judge(queue, world.ben, second.pk, "not_relevant")

    def labels() -> dict[str, tuple[int, str]]:
        rows = current_labels(world.collection).frame.select("document_id", "relevance", "source").rows()
        return {document: (relevance, source) for document, relevance, source in rows}

    # The second has one verdict of two: nobody is paused, and judging goes on.
    assert labels() == {"d1": (0, "human")}
    impose(queue, world.cleo, by=world.ada)
    assert labels() == {"d1": (1, "imported")}
    assert current_labels(world.collection).counts["not_final"] == 1
    client.force_login(world.ada)
    why = client.get("/collections/harbour/labels/", {"query": "q1", "document": "d1"}).content.decode()
    assert "from an imported file" in why
    lift(queue, world.cleo, by=world.ada)
    assert labels() == {"d1": (0, "human")}
