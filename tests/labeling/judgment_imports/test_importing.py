"""Imported judgments count like others, are nobody's work, and can be taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.estimates.stored_sample import _labelled_before
from labeling.items.answers import own_answers
from labeling.judging.leases import claim
from labeling.judgment_imports.importing import JudgmentsImported, import_judgments
from labeling.judgment_imports.staging import ImportChoices
from labeling.models import Item, Judgment, JudgmentEvent, JudgmentImport, Lease, Queue
from labeling.progress.counts import queue_progress
from labeling.progress.own_views import hours_by_day
from labeling.qrels.judgments import judgment_rows
from labeling.qrels.labels import current_labels
from labeling.quality.figures import queue_quality
from pooling.formats.errors import FormatError
from pooling.interface.problems import InputError
from pooling.models import Collection, Membership
from pooling.tidying.doing import delete, restore
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db

BOOK = {
    "name": "Bus book",
    "show_rank": True,
    "support_implicit_judgements": False,
    "scale": [0, 1],
    "scale_with_labels": {"0": "bad", "1": "good"},
    "query_doc_pairs": [
        {
            "query_text": "night bus",
            "doc_id": "d1",
            "position": 1,
            "document_fields": {"title": "Night buses"},
            "information_need": None,
            "judgements": [
                {"rating": 1.0, "unrateable": False, "judge_later": False, "user_email": "eve@x.org"},
                {"rating": 0.0, "unrateable": False, "judge_later": False, "user_email": "fay@x.org"},
            ],
        },
        {
            "query_text": "night bus",
            "doc_id": "bus-9",
            "position": 2,
            "document_fields": {"title": "Line 9", "text": "It stops at noon."},
            "judgements": [
                {"rating": 0.0, "user_email": "eve@x.org", "explanation": "at noon"},
                {"rating": None, "unrateable": True, "user_email": "fay@x.org"},
                {"rating": 1.0, "judge_later": True, "user_email": "gus@x.org"},
            ],
        },
    ],
}


def saved(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def queue_of(done: JudgmentsImported) -> Queue:
    (name,) = done.queues
    return Queue.everything.get(name=name)


def take_in(world: World, name: str, content: object, **choices: Any) -> JudgmentsImported:
    return import_judgments(
        world.collection, saved(world.folder / name, content), ImportChoices(**choices), user=world.ada
    )


def said(collection: Collection) -> list[tuple[str, str, str, str]]:
    rows = judgment_rows(collection)
    return [(row["annotator"], row["query_id"], row["document_id"], row["verdict"]) for row in rows]


def test_a_quepid_book_becomes_judgments_of_imported_annotators(world: World) -> None:
    done = take_in(world, "book.json", BOOK, format="quepid")
    assert said(world.collection) == [
        ("eve@x.org", "q1", "d1", "relevant"),
        ("fay@x.org", "q1", "d1", "not_relevant"),
        ("eve@x.org", "q1", "bus-9", "not_relevant"),
        ("fay@x.org", "q1", "bus-9", "cannot_judge"),
    ]
    assert (done.new_documents, done.pairs, done.judgments) == (1, 2, 4)
    new = world.collection.documents.get(external_id="bus-9")
    assert (new.title, new.text) == ("Line 9", "It stops at noon.")
    queue = queue_of(done)
    assert (queue.name, queue.state, queue.pool.strategy) == ("book", "closed", "imported")
    states = dict(queue.items.values_list("document__external_id", "state"))
    assert states == {"d1": Item.State.ADJUDICATION, "bus-9": Item.State.DONE}


def test_nobody_can_sign_in_as_an_imported_annotator(world: World, client: Client) -> None:
    take_in(world, "book.json", BOOK, format="quepid")
    eve = User.objects.get(username="eve@x.org (imported)")
    assert not eve.is_active
    assert not eve.has_usable_password()
    assert not eve.email
    assert not Membership.objects.filter(user=eve).exists()
    answer = client.post(reverse("sign_in"), {"username": eve.username, "password": PASSWORD})
    assert not answer.wsgi_request.user.is_authenticated


def test_people_are_matched_to_accounts_only_when_asked_and_only_to_those_who_judge_here(
    world: World,
) -> None:
    User.objects.filter(pk=world.ben.pk).update(email="Eve@x.org")
    User.objects.filter(pk=world.dan.pk).update(email="fay@x.org")
    done = take_in(world, "book.json", BOOK, format="quepid", accounts=True)
    told = {one["name"]: (one["account"], one["is_imported"]) for one in done.people}
    assert told == {"eve@x.org": ("ben", False), "fay@x.org": ("fay@x.org (imported)", True)}


def test_the_same_person_of_two_files_is_one_person(world: World) -> None:
    take_in(world, "one.csv", "query,docid,eve\nnight bus,d1,1\n", format="quepid")
    take_in(world, "two.csv", "query,docid,eve\nnight bus,d4,1\n", format="quepid")
    assert User.objects.filter(username__startswith="eve").count() == 1


def test_imported_judgments_count_in_labels_and_agreement(world: World) -> None:
    done = take_in(
        world, "book.csv", "query,docid,eve,fay\nnight bus,d1,1,1\nnight bus,d4,1,0\n", format="quepid"
    )
    labels = current_labels(world.collection)
    assert labels.frame.rows() == [("q1", "d1", 1, "human")]
    assert labels.counts["tie"] == 1
    assert queue_quality(queue_of(done))["agreement"]["pairs"] == 2


def test_imported_judgments_are_nobodys_work_here(world: World) -> None:
    User.objects.filter(pk=world.ben.pk).update(email="ben@x.org")
    task = labelled_task("d1", "Relevant", completed_by={"email": "ben@x.org"}, lead_time=3600)
    done = take_in(world, "tasks.json", [task], format="label-studio", accounts=True)
    event = JudgmentEvent.objects.get()
    assert (event.annotator, event.active_ms) == (world.ben, 3_600_000)
    assert not own_answers(world.ben).exists()
    assert hours_by_day(world.ben, Queue.objects.all()) == []
    Queue.objects.update(price_per_judgment=2)
    told = queue_progress(Queue.objects.get(pk=queue_of(done).pk))
    assert told["pace"]["per_day"] == 0
    assert (told["cost"]["spent"], told["cost"]["active_seconds"]) == (0, 0)


def test_leases_stay_and_pairs_that_wait_elsewhere_are_done(world: World) -> None:
    queue = make_queue(world)
    (lease,) = claim(queue, world.ben, 1).leases
    pair = lease.item.query.text, lease.item.document.external_id
    other = queue.items.exclude(pk=lease.item_id).select_related("query", "document")[0]
    rows = f"{pair[0]},{pair[1]},1\n{other.query.text},{other.document.external_id},0\n"
    done = take_in(world, "case.csv", "query,docid,rating\n" + rows, format="quepid")
    assert Lease.objects.filter(pk=lease.pk).exists()
    other.refresh_from_db()
    assert other.state == Item.State.DONE
    delete(JudgmentImport.objects.get(pk=done.import_id), by=world.ada)
    other.refresh_from_db()
    assert other.state == Item.State.OPEN


def test_an_audit_knows_only_what_was_imported_before_it_was_drawn(world: World) -> None:
    before = make_pool(world, "before")
    text = '{"query_id": "q1", "document_id": "d1", "annotator": "eve", "kind": "verdict", '
    text += '"verdict": "relevant", "time": "2001-01-01T00:00:00+00:00"}\n'
    take_in(world, "old.jsonl", text)
    after = make_pool(world, "after")
    assert _labelled_before(before).rows() == []
    assert _labelled_before(after).rows() == [("q1", "d1")]


def test_what_somebody_says_here_stands_against_what_they_said_elsewhere(world: World) -> None:
    queue = make_queue(world)
    item = queue.items.get(query__external_id="q1", document__external_id="d1")
    judge(queue, world.ben, item.pk, "not_relevant")
    text = "query,docid,ben\nnight bus,d1,1\n"
    done = take_in(world, "book.csv", text, format="quepid", accounts=True)
    assert (done.overruled, done.judgments) == (1, 0)
    assert Judgment.objects.get().verdict == "not_relevant"
    assert "what they said here stands" in done.notes[0]


def test_an_import_is_taken_back_and_restored(world: World) -> None:
    done = take_in(world, "book.json", BOOK, format="quepid")
    before = said(world.collection), current_labels(world.collection).frame.rows()
    delete(JudgmentImport.objects.get(pk=done.import_id), by=world.ada)
    assert said(world.collection) == []
    assert current_labels(world.collection).frame.is_empty()
    assert not Queue.objects.filter(pk=queue_of(done).pk).exists()
    restore(JudgmentImport.everything.get(pk=done.import_id), by=world.ada)
    assert (said(world.collection), current_labels(world.collection).frame.rows()) == before


def test_a_file_is_imported_once(world: World) -> None:
    done = take_in(world, "book.json", BOOK, format="quepid")
    with pytest.raises(InputError, match=r"imported before, as “book.json”. Take that import back first"):
        take_in(world, "copy.json", BOOK, format="quepid")
    delete(JudgmentImport.objects.get(pk=done.import_id))
    take_in(world, "copy.json", BOOK, format="quepid")


def labelled_task(document: str, choice: str, **annotation: Any) -> dict[str, Any]:
    """A task as Label Studio exports it, with one annotation."""
    result = {
        "id": "r1",
        "from_name": "verdict",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": [choice]},
    }
    made = {"id": 5, "completed_by": 3, "result": [result], "was_cancelled": False, "ground_truth": False}
    data = {"query_id": "q1", "query": "night bus", "document_id": document, "text": "…"}
    return {"id": 1, "annotations": [{**made, **annotation}], "predictions": [], "data": data}


def test_a_label_studio_export_brings_time_effort_and_what_was_seen(world: World) -> None:
    tasks = [
        labelled_task("d1", "Relevant", created_at="2026-01-31T12:00:00.5Z", lead_time=2.5),
        labelled_task("d4", "Not relevant", parent_prediction=7),
        labelled_task("d5", "Relevant", was_cancelled=True),
    ]
    take_in(world, "project.json", tasks, format="label-studio")
    rows = list(judgment_rows(world.collection))
    facts = ("annotator", "verdict", "active_ms", "prelabel_seen")
    assert [tuple(row[name] for name in facts) for row in rows] == [
        ("3", "relevant", 2500, "never"),
        ("3", "not_relevant", None, "before"),
    ]
    assert rows[0]["time"] == "2026-01-31T12:00:00.500000+00:00"


@pytest.mark.parametrize("flat", [True, False])
def test_argilla_records_are_read_nested_and_flat(world: World, flat: bool) -> None:
    nested = {
        "id": "r1",
        "status": "completed",
        "fields": {"query": "night bus", "text": "…"},
        "metadata": {"document_id": "d1"},
        "suggestions": {"label": {"value": "relevant", "score": 0.9, "agent": "m"}},
        "responses": {
            "label": [
                {"value": "relevant", "user_id": "u1", "status": "submitted"},
                {"value": "irrelevant", "user_id": "u2", "status": "draft"},
            ]
        },
    }
    flattened = {
        "id": "r1",
        "query": "night bus",
        "document_id": "d1",
        "label.responses": ["relevant", "irrelevant"],
        "label.responses.users": ["u1", "u2"],
        "label.responses.status": ["submitted", "draft"],
        "label.suggestion": "relevant",
    }
    take_in(world, "records.json", [flattened if flat else nested], format="argilla")
    assert said(world.collection) == [("u1", "q1", "d1", "relevant")]
    assert JudgmentEvent.objects.get().prelabel_seen == "before"


def with_result(**result: Any) -> dict[str, Any]:
    """A task of Label Studio whose annotation has another result than a choice."""
    task = labelled_task("d4", "Relevant")
    task["annotations"][0]["result"] = [{"from_name": "other", "value": {}, **result}]
    return task


DRAFTS = {"query_id": "q1", "document_id": "d4", "a.responses": ["1"], "a.responses.status": ["draft"]}
GIVEN = {**DRAFTS, "document_id": "d1", "a.responses.status": ["submitted"]}
PASSED_OVER: dict[str, tuple[list[dict[str, Any]], str]] = {
    "label-studio": (
        [
            labelled_task("d1", "Relevant"),
            labelled_task("d5", "Relevant", was_cancelled=True),
            with_result(type="pairwise", value={"selected": "left"}),
            with_result(type="pairwise", value={"selected": "right"}),
            {"id": 2, "annotations": [], "data": {"query_id": "q1", "document_id": "d2"}},
        ],
        "Passed over: answers of the kind 'pairwise', which is not read (2), cancelled annotations (1), "
        "tasks without an annotation (1).",
    ),
    "argilla": (
        [
            {
                "query_id": "q1",
                "document_id": "d1",
                "a.responses": ["1"],
                "a.responses.status": ["submitted"],
            },
            DRAFTS,
            {"query_id": "q1", "document_id": "d5", "a.responses": []},
        ],
        "Passed over: records without a response (1), responses with the status 'draft' (1).",
    ),
}


@pytest.mark.parametrize("format", PASSED_OVER)
def test_what_is_not_read_is_counted_and_named(world: World, format: str) -> None:
    content, sentence = PASSED_OVER[format]
    done = take_in(world, "export.json", content, format=format)
    assert done.judgments == 1
    assert sentence in done.notes


def test_an_export_with_nothing_that_is_read_says_what_is_in_it(world: World) -> None:
    with pytest.raises(
        FormatError, match=r"there is no judgment in this file. Passed over: responses with"
    ) as caught:
        take_in(world, "export.json", [DRAFTS], format="argilla")
    assert "empty" not in str(caught.value)


def test_ratings_of_quepid_that_are_not_given_are_counted(world: World) -> None:
    done = take_in(world, "book.json", BOOK, format="quepid")
    assert "Passed over: judgements to be given later (1)." in done.notes
    case = "query,docid,rating\nnight bus,d4,1\nlost umbrella\nnight bus,d5,\n"
    done = take_in(world, "case.csv", case, format="quepid")
    assert "Passed over: empty ratings (1), queries without a rating (1)." in done.notes


def test_a_map_says_what_grades_mean_and_leaves_out(world: World) -> None:
    text = "query,docid,rating\nnight bus,d1,3.0\nnight bus,d4,1\nnight bus,d5,2\n"
    take_in(world, "case.csv", text, format="quepid", map="3=relevant\n1=not_relevant, 2=leave_out")
    assert [row[2:] for row in said(world.collection)] == [("d1", "relevant"), ("d4", "not_relevant")]


def test_queries_of_equal_text_are_named(world: World) -> None:
    world.collection.queries.create(external_id="q9", text="night bus")
    with pytest.raises(
        FormatError, match=r"book.json, line 1: the query text 'night bus' is that of 2 queries \(q1, q9\)"
    ):
        take_in(world, "book.json", BOOK, format="quepid")


def test_judgments_of_unknown_queries_are_left_out_and_counted(world: World) -> None:
    text = "query,docid,rating\nnight bus,d1,1\nday bus,d1,1\n"
    done = take_in(world, "case.csv", text, format="quepid")
    assert done.notes == ["Left out: 1 judgment of queries that the collection does not have ('day bus')."]


ROW = "event,queue,query_id,document_id,annotator,kind,verdict,undoes\n"
BAD = {
    "no-verdict.csv": (
        "soundings",
        "query_id,document_id,annotator,kind\nq1,d1,eve,verdict\n",
        "no column verdict",
    ),
    "kind.csv": ("soundings", ROW + "1,x,q1,d1,eve,vote,relevant,\n", "line 2: kind is 'vote'"),
    "twice.csv": (
        "soundings",
        ROW + 2 * "1,x,q1,d1,eve,verdict,relevant,\n",
        "line 3: event 1 is in the file twice",
    ),
    "undo.csv": (
        "soundings",
        ROW + "1,x,q1,d1,eve,undo,,7\n",
        "line 2: it undoes event 7, which is no earlier",
    ),
    "other.csv": ("soundings", ROW + "1,x,q99,d1,eve,verdict,relevant,\n", "has none of this file's queries"),
    "empty.csv": ("soundings", ROW, "there is no judgment in this file"),
    "map.csv": (
        "quepid",
        "query,docid,rating\nnight bus,d1,2\n",
        "line 2: the value '2' of query 'night bus' is in no map",
    ),
    "columns.csv": ("quepid", "q,d,r\nnight bus,d1,2\n", "line 1: the columns are 'q, d, r'"),
    "html.json": ("quepid", "<!DOCTYPE html><html></html>", "this is HTML, not JSON"),
    "page.json": ("label-studio", "<html></html>", "not a JSON array; it goes on with '<html></html>'"),
    "login.json": ("argilla", "<html></html>", "not a JSON array"),
    "cut.json": ("quepid", json.dumps(BOOK)[:-30], "the file ends in the middle of the JSON"),
    "list.json": ("quepid", '{"name": "x"}', "the object has no list 'query_doc_pairs'"),
    "ends.json": ("label-studio", '[{"data": {', "the file ends in the middle of the JSON"),
    "more.json": ("argilla", "[{}] x", "the JSON goes on after its end"),
    "min.json": (
        "label-studio",
        '[{"query_id": "q1", "verdict": "yes"}]',
        "Export the project as JSON, not as JSON-MIN",
    ),
    "fields.json": (
        "label-studio",
        [{"data": {"a": 1}, "annotations": labelled_task("d1", "yes")["annotations"]}],
        "no query id among the fields 'a'. Name its field with --query-field",
    ),
    "time.json": (
        "label-studio",
        [labelled_task("d1", "yes", created_at="yesterday")],
        "the time 'yesterday' is not an ISO time",
    ),
    "two.json": (
        "argilla",
        [{"query_id": "q1", "document_id": "d1", "a.responses": ["1"], "b.responses": ["1"]}],
        "2 questions are answered ('a, b'). Choose one with --question",
    ),
    "value.json": (
        "argilla",
        [{"query_id": "q1", "document_id": "d1", "a.responses": ["so-so"]}],
        "the value 'so-so'",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_sentence_and_stores_nothing(world: World, name: str) -> None:
    format, content, sentence = BAD[name]
    with pytest.raises((FormatError, InputError)) as refused:
        take_in(world, name, content, format=format)
    told = str(refused.value)
    assert sentence in told
    assert told.startswith(f"{name}")
    assert "\n" not in told
    assert not JudgmentImport.everything.exists()
    assert not User.objects.filter(is_active=False).exists()
    assert not JudgmentEvent.objects.exists()


@pytest.mark.parametrize("format", ["soundings", "quepid", "label-studio", "argilla"])
@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_named(world: World, format: str, encoding: str) -> None:
    name = "file.csv" if format == "soundings" else "file.json"
    content = (ROW + "1,x,q1,d1,é,verdict,relevant,\n") if format == "soundings" else '[{"é": "é"}]'
    if format == "quepid":
        content = '{"name": "é"}'
    path = world.folder / name
    path.write_bytes(content.encode(encoding))
    with pytest.raises(FormatError, match=r"UTF-16|not UTF-8"):
        import_judgments(world.collection, path, ImportChoices(format=format))


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"format": "doccano"}, "There is no format “doccano”"),
        ({"format": "quepid", "map": "1"}, "“1” is not VALUE=VERDICT"),
        ({"format": "quepid", "map": "1=great"}, "“1=great” is not VALUE=VERDICT"),
        ({"format": "quepid", "map": "1=relevant,1.0=not_relevant"}, "is mapped to two verdicts"),
        ({"map": "1=relevant"}, "has verdicts already; leave the map out"),
    ],
)
def test_a_map_that_cannot_be_read_says_why(world: World, choices: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        take_in(world, "book.json", BOOK, **choices)


def test_two_names_of_one_account_are_refused(world: World) -> None:
    User.objects.filter(pk=world.ben.pk).update(email="ben@x.org")
    text = "query,docid,ben,ben@x.org\nnight bus,d1,1,0\n"
    with pytest.raises(InputError, match="two names of the file belong to one account"):
        take_in(world, "book.csv", text, format="quepid", accounts=True)


def test_the_page_previews_imports_and_takes_back(world: World) -> None:
    browser = Client()
    browser.force_login(world.ada)
    url = reverse("judgments_import", args=["harbour"])
    file = SimpleUploadedFile("book.json", json.dumps(BOOK).encode())
    page = browser.post(url, {"file": file, "format": "quepid", "preview": "1"}, follow=True)
    shown = page.content.decode()
    assert "eve@x.org (imported), who cannot sign in" in shown
    assert not JudgmentImport.objects.exists()
    staged = page.context["previews"][0].staged
    done = browser.post(url, {"staged": staged}, follow=True)
    assert "Imported: 4 judgments of 2 people on 2 pairs" in done.content.decode()
    one = JudgmentImport.objects.get()
    assert "book.json" in browser.get(url).content.decode()
    back = reverse("tidied", args=["harbour"]) + f"?things=judgment-import:{one.pk}"
    assert "4 judgments count no longer" in " ".join(
        browser.post(back, {"action": "delete"}).content.decode().split()
    )
    browser.post(back, {"action": "delete", "sure": "yes"})
    assert not JudgmentImport.objects.exists()
    browser.force_login(world.ben)
    assert browser.get(url).status_code == 403


def test_the_http_call_previews_imports_lists_and_takes_back(world: World) -> None:
    api = APIClient()
    api.force_authenticate(world.ada)
    url = "/api/collections/harbour/judgments/imports/"

    def body() -> dict[str, Any]:
        return {"file": SimpleUploadedFile("book.json", json.dumps(BOOK).encode()), "format": "quepid"}

    previewed = api.post(url + "?preview=true", body())
    assert (previewed.status_code, previewed.data["judgments"]) == (200, 4)
    assert [previewed.data[key] for key in ("import_id", "url", "undo")] == [None] * 3
    assert previewed.data["detail"].startswith("Would import: 4 judgments of 2 people on 2 pairs")
    assert not JudgmentImport.objects.exists()
    made = api.post(url, body())
    assert made.status_code == 201
    assert [one["account"] for one in made.data["people"]] == ["eve@x.org (imported)", "fay@x.org (imported)"]
    assert [one["name"] for one in api.get(url).data] == ["book.json"]
    key = made.data["import_id"]
    assert api.delete(f"/api/judgment-imports/{key}/").status_code == 200
    assert api.get(url).data == []
    assert api.post(f"/api/judgment-imports/{key}/restore/").status_code == 200
    api.force_authenticate(world.ben)
    assert api.get(url).status_code == 403
    assert api.delete(f"/api/judgment-imports/{key}/").status_code == 403


def test_the_command_says_who_is_who(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(world.folder / "book.csv", "query,docid,eve\nnight bus,d1,2\n")
    with pytest.raises(CommandError, match="is in no map"):
        call_command("import_judgments", "harbour", str(path), "--format", "quepid")
    arguments = ["harbour", str(path), "--format", "quepid", "--map", "2=relevant", "0=not_relevant"]
    call_command("import_judgments", *arguments, "--dry-run")
    assert not JudgmentImport.objects.exists()
    call_command("import_judgments", *arguments)
    told = capsys.readouterr().out
    assert "Would import: 1 judgment of 1 person on 1 pair" in told
    assert "eve → eve (imported): 1 relevant, 0 not relevant, 0 can't judge" in told
