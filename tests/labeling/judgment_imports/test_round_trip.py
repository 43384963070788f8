"""Judgments exported and imported into another collection: the same, event by event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from labeling.gold.quarantine import impose
from labeling.gold.questions import NewQuestion, add_question, change_question
from labeling.judging.leases import claim
from labeling.judging.verdicts import skip, undo
from labeling.judgment_imports.importing import import_judgments
from labeling.models import Judgment, JudgmentEvent, Queue, Verdict
from labeling.qrels.explanation import explain
from labeling.qrels.judgments import export_judgments, judgment_rows
from labeling.qrels.labels import current_labels
from pooling.models import Collection
from tests.labeling.helpers import judge, make_prelabels, make_queue, show_prelabels
from tests.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(world: World) -> Queue:
    """Everything that can become of a verdict: revised, undone, skipped, gold, set aside, revealed to."""
    queue = make_queue(world, needed=2, name="first")
    one, two, three, four = queue.items.order_by("query", "document")[:4]
    judge(queue, world.ben, one.pk, "not_relevant", active_ms=1200, shown="passage", version=1)
    judge(queue, world.ben, one.pk, "relevant", note="=1+1\r\nand more")
    judge(queue, world.ben, two.pk, "relevant", key="slip")
    undo(queue, world.ben, "slip")
    judge(queue, world.ben, two.pk, "cannot_judge", reason="language")
    (lease,) = claim(queue, world.cleo, 1).leases
    skip(queue, world.cleo, lease.item_id, lease=lease.token)
    show_prelabels(queue, "reveal", make_prelabels(world))
    judge(queue, world.cleo, one.pk, "relevant", note="'quoted', \t\r odd")
    judge(queue, world.cleo, three.pk, "not_relevant")
    judge(queue, world.ben, three.pk, "not_relevant")
    judge(queue, world.ada, four.pk, "not_relevant")
    impose(queue, world.ada, by=world.ada)
    add_question(world.collection, NewQuestion(query="q3", document="d2", answer="relevant"))
    gold = queue.items.get(query__external_id="q3", document__external_id="d2")
    judge(queue, world.ben, gold.pk, "not_relevant")
    return queue


def exported(collection: Collection, path: Path, **options: Any) -> Path:
    pieces = export_judgments(collection, path.suffix[1:], **options)
    path.write_bytes(b"".join(pieces))
    return path


def renumbered(collection: Collection) -> list[dict[str, Any]]:
    """The rows, with the numbers of events counted from 1."""
    rows: list[dict[str, Any]] = [dict(row) for row in judgment_rows(collection)]
    place = {row["event"]: number for number, row in enumerate(rows, 1)}
    for row in rows:
        row |= {name: row[name] and place[row[name]] for name in ("event", "undoes", "repeats")}
    return rows


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_what_was_exported_and_imported_is_exported_the_same(
    world: World, queue: Queue, elsewhere: Collection, tmp_path: Path, suffix: str
) -> None:
    path = exported(world.collection, tmp_path / f"judgments.{suffix}")
    add_question(elsewhere, NewQuestion(query="q3", document="d2", answer="relevant"))
    done = import_judgments(elsewhere, path, user=world.ada)
    assert renumbered(elsewhere) == renumbered(world.collection)
    assert done.events == JudgmentEvent.objects.filter(collection=world.collection).count()
    assert done.queues == ["first"]


def test_a_second_round_trip_changes_nothing_either(
    world: World, queue: Queue, elsewhere: Collection, tmp_path: Path
) -> None:
    import_judgments(elsewhere, exported(world.collection, tmp_path / "one.csv"))
    third = Collection.objects.create(slug="third", name="Third")
    for query in elsewhere.queries.all():
        third.queries.create(external_id=query.external_id, text=query.text)
    import_judgments(third, exported(elsewhere, tmp_path / "two.csv"))
    assert renumbered(third) == renumbered(elsewhere)


def test_answers_to_gold_questions_that_are_none_here_count_as_verdicts(
    world: World, queue: Queue, elsewhere: Collection, tmp_path: Path
) -> None:
    assert ("q3", "d2", 1, "gold") in current_labels(world.collection).frame.rows()
    done = import_judgments(elsewhere, exported(world.collection, tmp_path / "judgments.csv"))
    assert ("q3", "d2", 0, "human") in current_labels(elsewhere).frame.rows()
    assert done.notes == [
        "1 pair is a gold question in the file but not here, such as query q3, document d2: verdicts on "
        "it count like any others. To have them as answers, take this import back and import the gold "
        "questions first."
    ]


def test_what_does_not_count_is_counted_and_explained(
    world: World, queue: Queue, elsewhere: Collection, tmp_path: Path
) -> None:
    gold = add_question(elsewhere, NewQuestion(query="q3", document="d2", answer="relevant"))
    import_judgments(elsewhere, exported(world.collection, tmp_path / "judgments.csv"))
    labels = current_labels(elsewhere)
    assert ("q3", "d2", 1, "gold") in labels.frame.rows()
    before = labels.counts["not_counted"]
    change_question(gold, active=False)
    assert current_labels(elsewhere).counts["not_counted"] == before + 1
    assert explain(elsewhere, "q3", "d2").because == (
        "Its verdicts do not count: they answer a gold question or are set aside."
    )
    assert explain(elsewhere, "q3", "d3").because == "Nobody has judged it."


def test_an_import_counts_the_judgments_people_and_pairs_that_are_new(
    world: World, queue: Queue, elsewhere: Collection, tmp_path: Path
) -> None:
    whole = exported(world.collection, tmp_path / "one.csv")
    done = import_judgments(elsewhere, whole)
    standing = Judgment.objects.filter(collection=elsewhere)
    assert str(done).startswith(f"{standing.count()} judgments of 3 people on 5 pairs, in")
    figures = {one["name"]: [one[word] for word in Verdict.values] for one in done.people}
    assert sum(map(sum, figures.values())) == standing.count()
    again = tmp_path / "two.csv"
    again.write_bytes(whole.read_bytes().replace(b"q3,d2,", b"q3,d4,"))
    done = import_judgments(elsewhere, again)
    assert str(done).startswith("1 judgment of 1 person on 1 pair, in")
    assert [sum(one[word] for word in Verdict.values) for one in done.people].count(0) == 2
