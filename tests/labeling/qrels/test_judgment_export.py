"""Single judgments as files: nothing overwritten, labels made of them again, names and answers kept."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.test import APIClient

from labeling.consensus.rules import VERDICTS, Ballots, decide
from labeling.gold.quarantine import impose
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import claim
from labeling.judging.verdicts import skip, undo
from labeling.models import JudgmentEvent, PrelabelSeen, Queue
from labeling.qrels import judgments as judgment_export
from labeling.qrels.judgments import COLUMNS, export_judgments, judgment_rows
from labeling.qrels.labels import current_labels
from pooling.formats.cells import guarded
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


def rows_of(world: World, format: str, **options: Any) -> list[dict[str, Any]]:
    text = b"".join(export_judgments(world.collection, format, **options)).decode()
    if format == "jsonl":
        return [json.loads(line) for line in text.split("\n")[:-1]]
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter="," if format == "csv" else "\t"))


def test_every_event_is_a_row_and_says_what_became_of_it(world: World, queue: Queue) -> None:
    rows = list(judgment_rows(world.collection))
    assert [row["event"] for row in rows] == list(
        JudgmentEvent.objects.order_by("pk").values_list("pk", flat=True)
    )
    told = [(row["annotator"], row["kind"], row["verdict"], row["state"], row["counts"]) for row in rows]
    assert told == [
        ("ben", "verdict", "not_relevant", "replaced", False),
        ("ben", "verdict", "relevant", "stands", True),
        ("ben", "verdict", "relevant", "undone", False),
        ("ben", "undo", "", "", False),
        ("ben", "verdict", "cannot_judge", "stands", True),
        ("cleo", "skip", "", "", False),
        ("cleo", "verdict", "relevant", "stands", True),
        ("cleo", "verdict", "not_relevant", "stands", True),
        ("ben", "verdict", "not_relevant", "stands", True),
        ("ada", "verdict", "not_relevant", "stands", False),
        ("ben", "verdict", "not_relevant", "stands", False),
    ]
    first, undone, undo_row, revealed, aside, gold = (rows[place] for place in (0, 2, 3, 7, 9, 10))
    names = ("active_ms", "shown", "document_version", "queue", "reason")
    assert [first[name] for name in names] == [1200, "passage", 1, "first", ""]
    assert undo_row["undoes"] == undone["event"]
    assert (aside["is_set_aside"], aside["is_gold"], gold["is_set_aside"], gold["is_gold"]) == (1, 0, 0, 1)
    # Against the model: Cleo and Ben on one pair, Ada on another, and Ben on the gold question.
    assert [row["prelabel_seen"] for row in rows].count(PrelabelSeen.AFTER) == 4
    assert gold["prelabel_seen"] == PrelabelSeen.AFTER
    seen = [revealed[f"prelabel_{name}"] for name in ("seen", "model", "prompt", "prompt_version", "verdict")]
    assert seen == ["after", "small", "binary", 1, "relevant"]
    assert {row["prelabel_model"] for row in rows if row["prelabel_seen"] == "never"} == {None}


def test_the_labels_can_be_made_of_the_rows_again(world: World, queue: Queue) -> None:
    rows = rows_of(world, "csv")
    votes = [[row[name] for name in VERDICTS] for row in rows if row["counts"] == "1"]
    pairs = {(row[0], row[1]) for row in votes}
    needed = pl.DataFrame(
        [(*pair, 2) for pair in pairs], schema=["query_id", "document_id", "needed"], orient="row"
    )
    decided = decide(Ballots.of(pl.DataFrame(votes, schema=VERDICTS, orient="row"), needed))
    labels = decided.filter(pl.col("outcome") == "final").select("query_id", "document_id", "label")
    current = current_labels(world.collection).frame.filter(pl.col("source") == "human")
    assert labels.rows() == current.select("query_id", "document_id", "relevance").rows() != []
    # And what stands follows from the order of the events alone.
    standing: dict[tuple[str, ...], list[str]] = {}
    undone = {row["undoes"] for row in rows if row["kind"] == "undo"}
    for row in rows:
        if row["kind"] == "verdict" and row["event"] not in undone:
            standing.setdefault((row["annotator"], row["query_id"], row["document_id"]), []).append(
                row["event"]
            )
    assert {row["event"] for row in rows if row["state"] == "stands"} == {
        one[-1] for one in standing.values()
    }


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_no_note_is_a_formula_and_every_note_comes_back(format: str, world: World, queue: Queue) -> None:
    notes = [row["note"] for row in rows_of(world, "jsonl")]
    assert "=1+1\r\nand more" in notes
    written = [row["note"] for row in rows_of(world, format)]
    assert not [note for note in written if note[:1] != "'" and guarded(note) != note]
    assert [note.removeprefix("'") for note in written] == notes


def test_a_pseudonym_stays_and_hides_the_name(world: World, queue: Queue) -> None:
    named, hidden = (rows_of(world, "jsonl", anonymous=choice) for choice in (False, True))
    who = {one["annotator"]: two["annotator"] for one, two in zip(named, hidden, strict=True)}
    assert len(set(who.values())) == len(who) == 3
    # Not whether a name is within: by chance, hexadecimal digits spell “ada” as well.
    assert all(re.fullmatch("annotator-[0-9a-f]{12}", pseudonym) for pseudonym in who.values())
    assert rows_of(world, "jsonl", anonymous=True) == hidden


def test_one_statement_reads_a_batch_whatever_it_holds(
    world: World, queue: Queue, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    # The newest event, a batch of eleven, and nothing after it; or six batches.
    with django_assert_num_queries(3):
        whole = list(judgment_rows(world.collection))
    monkeypatch.setattr(judgment_export, "BATCH", 2)
    with django_assert_num_queries(8):
        assert list(judgment_rows(world.collection)) == whole


def test_a_file_holds_what_was_there_when_its_first_row_was_read(world: World, queue: Queue) -> None:
    rows = judgment_rows(world.collection)
    next(rows)
    judge(queue, world.vera, queue.items.order_by("query", "document")[4].pk)
    assert len(list(rows)) == 10


def test_the_command_writes_what_the_suffix_says(world: World, queue: Queue, tmp_path: Path) -> None:
    other = make_queue(world, pairs=2, name="second")
    judge(other, world.ada, other.items.all()[0].pk)
    path = tmp_path / "all.jsonl.gz"
    call_command("export_judgments", "harbour", "--output", str(path), stdout=io.StringIO())
    assert [*json.loads(gzip.decompress(path.read_bytes()).split(b"\n")[0])] == list(COLUMNS)
    path = tmp_path / "second.tsv"
    options = ("--queue", "second", "--anonymous", "--output", str(path))
    call_command("export_judgments", "harbour", *options, stdout=io.StringIO())
    head, row = path.read_text().splitlines()
    assert head.split("\t") == list(COLUMNS)
    assert "annotator-" in row
    assert "ada" not in row.split("\t")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--output", "a.xlsx"), "the suffix says the format"),
        (("--output", "a.csv", "--queue", "nowhere"), "There is no queue “nowhere”"),
        (("--output", "/nowhere/a.csv"), "No such file"),
    ],
)
def test_what_the_command_cannot_write_is_one_line(
    arguments: tuple[str, ...], said: str, queue: Queue
) -> None:
    with pytest.raises(CommandError, match=said) as refused:
        call_command("export_judgments", "harbour", *arguments)
    assert refused.value.returncode == 2


@pytest.mark.parametrize("in_queue", [False, True])
def test_a_file_without_a_judgment_is_refused(world: World, client: Client, in_queue: bool) -> None:
    queue = make_queue(world)
    path = world.folder / "judgments.csv"
    arguments = ["--queue", queue.name] if in_queue else []
    where = queue.name if in_queue else "harbour"
    sentence = f"There are no judgments of pairs in “{where}”, so the file would be empty."
    with pytest.raises(CommandError, match=sentence) as refused:
        call_command("export_judgments", "harbour", "--output", path, *arguments)
    assert (refused.value.returncode, path.exists()) == (2, False)
    client.force_login(world.ada)
    wanted = {"queue": queue.pk} if in_queue else {}
    answer = client.get("/api/collections/harbour/judgments/", wanted)
    assert (answer.status_code, answer.json()["detail"]) == (400, sentence)
    page = client.get("/collections/harbour/judgments/", wanted, follow=True)
    assert sentence in page.content.decode()


def test_admins_alone_are_offered_the_download(world: World, queue: Queue, client: Client) -> None:
    page, call = "/collections/harbour/judgments/", "/api/collections/harbour/judgments/"
    api = APIClient()
    for person in (world.ben, world.vera):
        client.force_login(person)
        assert page not in client.get("/collections/harbour/").content.decode()
    client.force_login(world.ada)
    api.force_authenticate(world.ada)
    assert f"{page}?format=jsonl&amp;anonymous=1" in client.get("/collections/harbour/").content.decode()
    expected = b"".join(export_judgments(world.collection, "tsv", queue, anonymous=True))
    wanted = {"format": "tsv", "queue": queue.pk, "anonymous": "true"}
    for response in (client.get(page, wanted), api.get(call, wanted)):
        assert response.getvalue() == expected
        assert "harbour-first.judgments.tsv" in response["Content-Disposition"]
    for wrong in ({"format": "xml"}, {"anonymous": "perhaps"}):
        assert api.get(call, wrong).status_code == 400
        assert client.get(page, wrong).status_code == 302
    for number in ("0", "x", "9" * 30):
        assert api.get(call, {"queue": number}).status_code == 404
