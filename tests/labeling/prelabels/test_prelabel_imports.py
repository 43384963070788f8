"""Pre-labels made elsewhere: matched by ids or texts, measured like others, and taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from labeling.models import Judgment, Prelabel, Prelabeler, PrelabelFailure, PrelabelJob, Queue
from labeling.prelabels.export import export_prelabels
from labeling.prelabels.importing import (
    PrelabelChoices,
    PrelabelsImported,
    import_prelabels,
    withdraw_prelabels,
)
from labeling.prelabels.page import models_of
from labeling.quality.blind_labels import evidence
from pooling.formats.errors import FormatError
from pooling.interface.problems import InputError
from pooling.interleaving.click_scores import ClickScore, score_lines
from pooling.models import Document
from tests.labeling.helpers import judge, make_prelabels, make_queue
from tests.world import DOCUMENTS, World

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world, name="first")


def row(document: str = "d1", judgment: int = 3, status: int = 1, **more: Any) -> dict[str, Any]:
    """A row as UMBRELA writes it."""
    title, text = DOCUMENTS[document]
    return {
        "model": "gpt-x",
        "query": "night bus",
        "passage": f"{title}\n{text}",
        "prompt": "…",
        "prediction": f"##final score: {judgment}",
        "judgment": judgment,
        "result_status": status,
        **more,
    }


def take_in(queue: Queue, folder: Path, rows: list[dict[str, Any]], **choices: Any) -> PrelabelsImported:
    path = folder / "umbrela.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return import_prelabels(queue, path, PrelabelChoices(**{"format": "umbrela", **choices}))


def pass_of(done: PrelabelsImported) -> PrelabelJob:
    return PrelabelJob.objects.get(pk=done.pass_id)


def test_umbrelas_rows_are_matched_by_their_texts(world: World, queue: Queue) -> None:
    done = take_in(queue, world.folder, [row("d1", 3), row("d2", 1, passage=DOCUMENTS["d2"][1])])
    found = Prelabel.objects.values_list("document__external_id", "verdict", "grade", "score")
    assert sorted(found) == [("d1", "relevant", 3, 1.0), ("d2", "not_relevant", 1, 1 / 3)]
    assert str(pass_of(done).prelabeler) == "gpt-x (imported)"
    assert done.notes == []


def test_an_answer_that_was_not_understood_is_no_label(world: World, queue: Queue) -> None:
    take_in(queue, world.folder, [row("d1", 3), row("d2", 0, status=0)])
    assert Prelabel.objects.count() == 1
    assert PrelabelFailure.objects.get().document.external_id == "d2"
    (model,) = models_of(queue)
    assert (model.answered, model.cost) == (1, None)
    assert model.failures == {"the answer could not be read": 1}


def test_what_cannot_be_matched_is_left_out_and_named(world: World, queue: Queue) -> None:
    Document.objects.filter(external_id="d2").update(title=DOCUMENTS["d1"][0], text=DOCUMENTS["d1"][1])
    rows = [row("d1"), row("d3", passage="never seen"), row("d2", passage="d2", qid="q1", docid="d2")]
    done = take_in(queue, world.folder, rows)
    unknown, ambiguous = done.notes
    assert unknown.startswith("Left out: 1 pair that this queue does not have ('night bus' × 'never seen'")
    assert ambiguous.startswith("Left out: 1 pair whose texts several pairs of this queue have")
    assert Prelabel.objects.get().document.external_id == "d2"


def test_imported_models_are_held_against_people_like_others(world: World, queue: Queue) -> None:
    take_in(queue, world.folder, [row("d1", 3)])
    item = queue.items.get(query__external_id="q1", document__external_id="d1")
    judge(queue, world.ben, item.pk, "relevant")
    assert len(evidence(world.collection)[Prelabeler.objects.get().pk].pairs) == 1


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_our_own_export_comes_back_the_same(world: World, queue: Queue, suffix: str) -> None:
    before = export_prelabels(queue, make_prelabels(world, "small:v1"), suffix)
    path = world.folder / f"prelabels.{suffix}"
    path.write_bytes(before)
    done = import_prelabels(queue, path)
    assert pass_of(done).prelabeler.model == "small:v1"
    assert export_prelabels(queue, pass_of(done).prelabeler, suffix) == before


def test_an_import_is_taken_back_unless_a_queue_uses_it(world: World, queue: Queue) -> None:
    job = pass_of(take_in(queue, world.folder, [row("d1"), row("d2", 0, status=0)]))
    with pytest.raises(InputError, match=r"has pre-labels of 1 pair of this file already"):
        take_in(queue, world.folder, [row("d1")])
    Queue.objects.filter(pk=queue.pk).update(prelabeler=job.prelabeler)
    with pytest.raises(InputError, match=r"Queue “first” uses the pre-labels of gpt-x"):
        withdraw_prelabels(job)
    Queue.objects.filter(pk=queue.pk).update(prelabeler=None)
    assert withdraw_prelabels(job) == 1
    assert not PrelabelJob.objects.exists()
    assert not Prelabel.objects.exists()
    assert not PrelabelFailure.objects.exists()
    take_in(queue, world.folder, [row("d1")])


BAD = {
    "html": ("<html></html>", "not JSON"),
    "grade": (json.dumps(row(judgment=4)), "line 1: the grade is '4'. Grades are 0 to 3"),
    "model": (json.dumps(row(model="")), "line 1: the model '' is empty"),
    "models": (json.dumps(row()) + "\n" + json.dumps(row("d2", model="b")), "line 2: the model is 'b' here"),
    "twice": (json.dumps(row()) + "\n" + json.dumps(row()), "line 2: the pair of line 1 again"),
    "cut": (json.dumps(row())[:-9], "line 1: not JSON"),
    "none": (json.dumps(row(passage="never seen")), "no pair of this file is in “first”"),
    "field": (json.dumps({"model": "m", "query": "night bus"}), "line 1: the passage 'None' is not text"),
    "empty": ("\n", "there is no pre-label in this file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_stores_nothing(world: World, queue: Queue, name: str) -> None:
    content, sentence = BAD[name]
    path = world.folder / "umbrela.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises((FormatError, InputError)) as refused:
        import_prelabels(queue, path, PrelabelChoices("umbrela"))
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("umbrela.jsonl")
    assert not Prelabeler.objects.exists()
    assert not PrelabelJob.objects.exists()


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_named(world: World, queue: Queue, encoding: str) -> None:
    path = world.folder / "umbrela.jsonl"
    path.write_bytes(json.dumps(row(query="é", prompt=""), ensure_ascii=False).encode(encoding))
    with pytest.raises(FormatError, match=r"UTF-16|not UTF-8"):
        import_prelabels(queue, path, PrelabelChoices("umbrela"))


def test_page_call_and_command_import(world: World, queue: Queue, capsys: pytest.CaptureFixture[str]) -> None:
    def body(model: str) -> dict[str, Any]:
        content = json.dumps(row("d1", 1)).encode()
        file = SimpleUploadedFile("umbrela.jsonl", content)
        return {"file": file, "format": "umbrela", "model": model, "threshold": 1}

    browser, api = Client(), APIClient()
    browser.force_login(world.ada)
    api.force_authenticate(world.ada)
    page = browser.post(reverse("prelabels_import", args=[queue.pk]), body("one"), follow=True)
    assert "Imported: 1 pre-label of one (imported)" in page.content.decode()
    made = api.post(f"/api/queues/{queue.pk}/prelabels/imports/", body("two"))
    assert (made.status_code, made.data["model"], made.data["rows"]) == (201, "two", 1)
    path = world.folder / "three.jsonl"
    path.write_text(json.dumps(row("d1", 1)))
    call_command("import_prelabels", "harbour", "first", str(path), "--format", "umbrela", "--model", "three")
    assert "Imported: 1 pre-label of three (imported)" in capsys.readouterr().out
    verdicts = dict(Prelabel.objects.values_list("prelabeler__model", "verdict"))
    assert verdicts == {"one": "relevant", "two": "relevant", "three": "not_relevant"}
    assert api.delete(f"/api/prelabel-passes/{made.data['pass_id']}/").status_code == 204
    api.force_authenticate(world.ben)
    assert api.post(f"/api/queues/{queue.pk}/prelabels/imports/", body("four")).status_code == 403


def clicks(world: World, *scores: tuple[str, str, tuple[float, float, float] | None]) -> Path:
    """What `score_clicks` writes."""
    pairs = [
        ClickScore(query, document, 40, 9, 12, *(of or [None] * 3), coec=1.0, note="" if of else "few")
        for query, document, of in scores
    ]
    path = world.folder / "scores.tsv"
    path.write_text("".join(score_lines(pairs)), encoding="utf-8")
    return path


def test_click_scores_are_proposals_where_their_interval_is_on_one_side(world: World, queue: Queue) -> None:
    high, low, open_ = (0.8, 0.6, 0.9), (0.1, 0.05, 0.2), (0.5, 0.3, 0.7)
    path = clicks(world, ("NIGHT  bus", "d1", high), ("night bus", "d2", low), ("lost umbrella", "d1", open_))
    done = import_prelabels(queue, path, PrelabelChoices("clicks"))
    found = Prelabel.objects.values_list("query__external_id", "document__external_id", "verdict", "score")
    assert sorted(found) == [("q1", "d1", "relevant", 0.8), ("q1", "d2", "not_relevant", 0.1)]
    assert Prelabeler.objects.get().source == Prelabeler.Source.CLICKS
    assert done.prelabeler == "score_clicks (clicks)"
    assert done.notes == [
        "Left out: 1 pair whose interval reaches across 0.5 ('lost umbrella' × 'd1' on line 4)."
    ]
    assert not Judgment.objects.exists()


def test_clicks_that_say_nothing_of_the_queue_are_counted_and_named(world: World, queue: Queue) -> None:
    score = (0.8, 0.6, 0.9)
    rows = [("night bus", "d1", score), ("night bus", "d2", None), ("night buss", "d1", score)]
    path = clicks(world, *rows, ("night buss", "d2", score), ("night bus", "d99", score))
    done = import_prelabels(queue, path, PrelabelChoices("clicks", model="pbm-october"))
    assert done.rows == 1
    assert done.notes == [
        "Passed over: rows without a score (1).",
        "Left out: 1 query whose text no query of this queue has ('night buss' on line 4).",
        "Left out: 1 pair that this queue does not have ('night bus' × 'd99' on line 6).",
    ]


def test_clicks_are_compared_with_people_and_taken_back_like_others(world: World, queue: Queue) -> None:
    path = clicks(world, ("night bus", "d1", (0.4, 0.3, 0.5)))
    done = import_prelabels(queue, path, PrelabelChoices("clicks", threshold=30))
    item = queue.items.get(query__external_id="q1", document__external_id="d1")
    judge(queue, world.ben, item.pk, "relevant")
    (known,) = evidence(world.collection).values()
    assert len(known.pairs) == 1
    assert withdraw_prelabels(pass_of(done)) == 1


def test_a_threshold_is_within_what_its_format_has(world: World, queue: Queue) -> None:
    path = clicks(world, ("night bus", "d1", (0.4, 0.3, 0.5)))
    with pytest.raises(InputError, match=r"The threshold is 1 to 99, not 100\."):
        import_prelabels(queue, path, PrelabelChoices("clicks", threshold=100))
    with pytest.raises(InputError, match=r"The threshold is 1 to 3, not 50\."):
        import_prelabels(queue, path, PrelabelChoices("umbrela", threshold=50))


def test_another_table_is_refused_by_its_columns(world: World, queue: Queue) -> None:
    path = world.folder / "scores.tsv"
    path.write_text("query\tdocument_id\tscore\nnight bus\td1\t0.5\n")
    with pytest.raises(FormatError, match=r"line 2: no column low. Give the table that score_clicks writes"):
        import_prelabels(queue, path, PrelabelChoices("clicks"))
