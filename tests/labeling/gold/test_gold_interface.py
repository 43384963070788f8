"""Gold questions over HTTP, by command and on pages; and that annotators see nothing of them."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from pytest_django import DjangoAssertNumQueries

from labeling.gold import gaps
from labeling.gold.importing import import_gold
from labeling.gold.options import GoldOptions
from labeling.gold.questions import (
    NewQuestion,
    add_question,
    gold_balance,
)
from labeling.gold_pages.proposals import accept_proposals, decline_proposals, suggestions
from labeling.items.numbers import number_of
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment, skip
from labeling.models import GoldQuestion, Judgment, Quarantine, Queue
from pooling.formats import FormatError
from pooling.interface.problems import InputError
from pooling.models import AdminAction
from tests.labeling.helpers import judge, make_pool, make_queue
from tests.world import DOCUMENTS, World, signed_in

HALF = GoldOptions(gold_first_share=0.5, gold_share=0.5, practice_questions=0)
GOOD = "query_id,document_id,answer,reason,practice\nq1,d5,relevant,It says so.,\nq1,d6,0,,1\n"


def call(user: User, method: str, path: str, body: Any = None) -> Any:
    client, place = signed_in(user), f"/api/{path}"
    if method == "get":
        return client.get(place)
    return getattr(client, method)(place, json.dumps(body or {}), content_type="application/json")


def write(world: World, text: str, name: str = "gold.csv") -> Path:
    path = world.folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gold.csv", GOOD),
        ("gold.tsv", GOOD.replace(",", "\t")),
        (
            "gold.jsonl",
            '{"query_id": "q1", "document_id": "d5", "answer": "relevant", "reason": "It says so."}\n'
            '{"query_id": "q1", "document_id": "d6", "answer": 0, "practice": true}\n',
        ),
    ],
)
def test_a_file_of_gold_questions_is_imported(world: World, name: str, text: str) -> None:
    done = import_gold(world.collection, write(world, text, name))
    assert (done.created, done.changed, done.unchanged) == (2, 0, 0)
    rows = GoldQuestion.objects.order_by("pk").values_list(
        "document__external_id", "answer", "reason", "practice"
    )
    assert list(rows) == [("d5", "relevant", "It says so.", False), ("d6", "not_relevant", "", True)]
    assert str(import_gold(world.collection, write(world, text, name))) == "0 new, 2 as before"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("q9,d5,relevant,,", "gold.csv, line 3: there is no query “q9” in the collection"),
        ("q1,d99,relevant,,", "gold.csv, line 3: there is no document “d99” in the collection"),
        ("q1,d6,perhaps,,", "gold.csv, line 3: 'perhaps' is not a valid answer"),
        ("q1,d6,1,,often", "gold.csv, line 3: practice is 'often'"),
        ("q1,d5,1,,", "gold.csv, line 3: query 'q1', document 'd5' appears again (first on line 2)"),
        (
            "q1,d4,relevant,,",
            "gold.csv, line 3: the answer is relevant here and not_relevant in the collection",
        ),
        (f"q1,d6,1,{'x' * 2001},", "gold.csv, line 3: the reason has more than 2,000 characters"),
    ],
)
def test_a_file_with_an_error_stores_nothing_and_names_its_line(
    world: World, line: str, problem: str
) -> None:
    add_question(world.collection, NewQuestion(query="q1", document="d4", answer="not_relevant"))
    path = write(world, "\n".join([*GOOD.splitlines()[:2], line]) + "\n")
    with pytest.raises(FormatError) as refused:
        import_gold(world.collection, path)
    assert str(refused.value).startswith(problem)
    assert GoldQuestion.objects.count() == 1


def test_a_file_without_the_columns_says_which_are_missing(world: World) -> None:
    with pytest.raises(FormatError, match="no answer among"):
        import_gold(world.collection, write(world, "query_id,document_id,why\nq1,d1,x\n"))


def test_the_command_imports_and_tells_the_balance(world: World) -> None:
    out, err = StringIO(), StringIO()
    call_command("import_gold", "harbour", write(world, GOOD), stdout=out, stderr=err)
    balance = "Now 1 relevant and 0 not relevant; for practice 0 relevant and 1 not relevant."
    assert out.getvalue() == f"Gold questions: 2 new, 0 as before. {balance}\n"
    assert "about the same number for each answer" in err.getvalue()
    with pytest.raises(CommandError, match=r"gold\.csv, line 2: 'x' is not a valid answer"):
        call_command("import_gold", "harbour", write(world, "query_id,document_id,answer\nq1,d1,x\n"))


def test_open_queue_takes_the_options(world: World) -> None:
    make_pool(world)
    options = [
        "--gold-first-share",
        "0.3",
        "--gold-share",
        "0",
        "--practice",
        "2",
        "--gold-pause",
        "proposed",
    ]
    call_command("open_queue", "harbour", "pool", *options, stdout=StringIO())
    queue = Queue.objects.get()
    assert (queue.gold_first_share, queue.gold_share) == (0.3, 0)
    assert (queue.practice_questions, queue.gold_pause) == (2, "proposed")
    with pytest.raises(CommandError, match=r"The share of gold questions is 0 to 0\.5"):
        call_command("open_queue", "harbour", "pool", "--name", "b", "--gold-share", "2")


def test_unanimous_pairs_are_suggested_accepted_and_declined(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=6)
    items = list(queue.items.order_by("pk"))
    for item in items[:3]:
        for person in (world.ben, world.cleo):
            judge(queue, person, item.pk, "relevant")
    judge(queue, world.ben, items[3].pk, "relevant")
    judge(queue, world.cleo, items[3].pk, "not_relevant")
    judge(queue, world.ben, items[4].pk, "relevant")
    pairs = [(row["query"], row["document"]) for row in suggestions(world.collection)]
    assert set(pairs) == {(item.query_id, item.document_id) for item in items[:3]}
    other = (items[3].query_id, items[3].document_id)
    assert accept_proposals(world.collection, [pairs[0], other], user=world.ada) == 1
    assert decline_proposals(world.collection, [pairs[1]], user=world.ada) == 1
    assert [(row["query"], row["document"]) for row in suggestions(world.collection)] == pairs[2:]
    question = GoldQuestion.objects.get()
    assert (question.answer, question.origin) == ("relevant", "unanimous")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"query": "q9"}, "query"),
        ({"document": "a\0b"}, "document"),
        ({"answer": "cannot_judge"}, "answer"),
        ({"reason": "x" * 2001}, "reason"),
    ],
)
def test_what_is_no_gold_question_is_refused(world: World, changes: dict[str, str], field: str) -> None:
    with pytest.raises(InputError) as refused:
        add_question(
            world.collection,
            NewQuestion(**{"query": "q1", "document": "d1", "answer": "relevant", **changes}),
        )
    assert list(refused.value.fields) == [field]


def test_gold_questions_over_http(world: World) -> None:
    path = "collections/harbour/gold/"
    made = call(world.ada, "post", path, {"query": "q1", "document": "d5", "answer": "relevant"})
    assert made.status_code == 201
    again = call(world.ada, "post", path, {"query": "q1", "document": "d5", "answer": "relevant"})
    assert (again.status_code, "already a gold question" in again.json()["detail"]) == (409, True)
    changed = call(world.ada, "patch", f"gold/{made.json()['id']}/", {"practice": True})
    assert changed.json()["practice"] is True
    file = SimpleUploadedFile("gold.csv", b"query_id,document_id,answer\nq1,d6,0\n")
    imported = signed_in(world.ada).post(f"/api/{path}import/", {"file": file})
    assert (imported.status_code, imported.json()["detail"]) == (201, "Gold questions: 1 new, 0 as before.")
    listed = call(world.ada, "get", path).json()
    assert listed["balance"] == {
        "relevant": 0,
        "not_relevant": 1,
        "practice_relevant": 1,
        "practice_not_relevant": 0,
    }
    assert [question["document"] for question in listed["questions"]] == ["d6", "d5"]


def test_suggestions_over_http(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    for item in queue.items.all():
        for person in (world.ben, world.cleo):
            judge(queue, person, item.pk, "not_relevant")
    path = "collections/harbour/gold/suggestions/"
    first, second = call(world.ada, "get", path).json()
    assert (first["answer"], first["votes"]) == ("not_relevant", 2)
    pairs = [{name: row[name] for name in ("query", "document")} for row in (first, second)]
    decided = call(world.ada, "post", path, {"accept": pairs[:1], "decline": pairs[1:]})
    assert decided.json() == {"accepted": 1, "declined": 1}
    assert gold_balance(world.collection).not_relevant == 1


def test_quarantine_and_restore_over_http(world: World) -> None:
    queue = make_queue(world, pairs=2)
    judge(queue, world.ben, queue.items.all()[0].pk)
    paused = call(world.ada, "post", f"queues/{queue.pk}/annotators/ben/quarantine/", {"reason": "too fast"})
    assert paused.status_code == 200
    assert (paused.json()["imposed_by"], paused.json()["evidence"]["judgments"]) == ("ada", 1)
    assert call(world.ada, "post", f"queues/{queue.pk}/annotators/ben/quarantine/", {}).status_code == 409
    empty = call(world.ben, "post", f"queues/{queue.pk}/claim/", {}).json()["empty"]
    assert empty["state"].startswith("paused for you")
    restored = call(world.ada, "post", f"queues/{queue.pk}/annotators/ben/restore/").json()
    assert restored["lifted_by"] == "ada"
    assert call(world.ada, "post", f"queues/{queue.pk}/annotators/nobody/restore/").status_code == 404
    shown = call(world.ada, "get", f"queues/{queue.pk}/gold/").json()
    assert [row["annotator"] for row in shown["quarantines"]] == ["ben"]


def test_a_queue_s_options_over_http(world: World) -> None:
    body = {"name": "q", "gold_share": 0.1, "practice_questions": 0, "gold_pause": "proposed"}
    opened = call(world.ada, "post", f"pools/{make_pool(world).pk}/queue/", body).json()
    path = f"queues/{opened['id']}/gold/"
    shown = call(world.ada, "get", path).json()
    assert (shown["gold_first_share"], shown["gold_share"], shown["gold_pause"]) == (0.2, 0.1, "proposed")
    assert call(world.ada, "patch", path, {"gold_share": 0.2}).json()["gold_share"] == 0.2
    assert call(world.ada, "patch", path, {"gold_share": 0.9}).status_code == 400


def test_queries_without_gold_and_people_who_skip_are_named(world: World) -> None:
    add_question(world.collection, NewQuestion(query="q2", document="d5", answer="relevant"))
    queue = make_queue(world, gold=HALF)
    items = list(queue.items.order_by("state", "pk"))
    for item in items[:3]:
        skip(queue, world.ben, item.pk)
    judge(queue, world.ben, items[-1].pk)
    shown = call(world.ada, "get", f"queues/{queue.pk}/gold/").json()
    assert shown["queries_without"] == ["q1", "q3"]
    row = {"username": "ben", "skipped": 3, "checks": 1, "answered": 1, "is_much": False}
    assert shown["skips"] == [row]
    page = signed_in(world.ada).get(f"/queues/{queue.pk}/gold/").content.decode()
    assert "No gold question for 2 queries with pairs left" in page
    assert "q1, q3" in page
    assert "Of them gold or shown again" in page
    assert "q1, q3" in signed_in(world.ada).get("/collections/harbour/gold/").content.decode()


def test_who_skips_more_than_they_answer_is_marked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaps, "FEW_SKIPS", 2)
    queue = make_queue(world, gold=HALF)
    for item in queue.items.all()[:2]:
        skip(queue, world.ben, item.pk)
    (row,) = gaps.skips_in(queue)
    assert row.is_much
    assert (
        "skips more than they answer"
        in signed_in(world.ada).get(f"/queues/{queue.pk}/gold/").content.decode()
    )


def test_practice_over_http(world: World) -> None:
    add_question(
        world.collection,
        NewQuestion(query="q1", document="d3", answer="relevant", reason="Look.", practice=True),
    )
    queue = make_queue(world, pairs=2, gold=GoldOptions(0, 0, practice_questions=3))
    path = f"queues/{queue.pk}/practice/"
    assert call(world.ben, "post", f"queues/{queue.pk}/claim/", {}).json()["items"] == []
    state = call(world.ben, "get", path).json()
    assert (state["total"], state["answered"], state["question"]["document"]["id"]) == (1, 0, "d3")
    verdict = {"item": state["question"]["item"], "key": "k", "verdict": "not_relevant"}
    assert call(world.ben, "post", path, verdict).json() == {
        "right": False,
        "answer": "relevant",
        "reason": "Look.",
        "passage": None,
        "total": 1,
        "answered": 1,
        "question": None,
    }
    assert call(world.ben, "get", path).json()["question"] is None
    assert len(call(world.ben, "post", f"queues/{queue.pk}/claim/", {}).json()["items"]) == 2
    other = {"item": number_of(queue.items.filter(state="open")[0].pk), "key": "l", "verdict": "relevant"}
    assert call(world.ben, "post", path, other).status_code == 400


def without_names(answer: Any, known: dict[str, str]) -> Any:
    """An answer with everything that differs between any two items made alike."""
    if isinstance(answer, dict):
        return {
            name: type(value).__name__ if name in known else without_names(value, known)
            for name, value in answer.items()
        }
    return [without_names(value, known) for value in answer] if isinstance(answer, list) else answer


def test_no_answer_to_an_annotator_differs_between_gold_and_other_items(world: World) -> None:
    add_question(
        world.collection, NewQuestion(query="q2", document="d5", answer="relevant", reason="secret reason")
    )
    queue = make_queue(world, needed=2, pairs=6, gold=HALF)
    gold, ordinary = queue.items.get(state="gold"), queue.items.filter(query__external_id="q3")[0]
    any_item = dict.fromkeys(
        ("item", "lease", "expires_at", "id", "title", "text", "marks", "title_marks", "left", "key"), ""
    )
    told: list[list[Any]] = []
    for item, person in ((gold, world.ben), (ordinary, world.cleo)):
        offer = None
        while offer is None:
            items = call(person, "post", f"queues/{queue.pk}/claim/", {"count": 10}).json()["items"]
            offer = next((one for one in items if one["item"] == number_of(item.pk)), None)
            assert items, "the item never came"
        path = f"queues/{queue.pk}/"
        verdict = {
            "item": offer["item"],
            "lease": offer["lease"],
            "key": f"k{item.pk}",
            "verdict": "not_relevant",
        }
        leases = {"leases": [offer["lease"]]}
        answers = [
            offer,
            call(person, "post", path + "renew/", leases).json(),
            call(person, "post", path + "judgments/", [verdict]).json(),
            call(person, "post", path + "judgments/", [verdict]).json(),
            call(person, "post", path + "undo/", {"key": verdict["key"]}).json(),
            call(person, "post", path + "skip/", {"item": offer["item"]}).json(),
        ]
        progress = call(person, "get", path + "progress/").json()
        told.append([without_names(answer, any_item) for answer in answers] + [sorted(progress)])
        assert "secret reason" not in json.dumps(answers)
    assert told[0] == told[1]


def test_the_judging_page_of_a_gold_question_is_like_any_other(world: World) -> None:
    add_question(
        world.collection, NewQuestion(query="q2", document="d5", answer="relevant", reason="secret reason")
    )
    queue = make_queue(world, pairs=6, gold=HALF)
    gold, ordinary = queue.items.get(state="gold"), queue.items.filter(state="open")[0]
    client = signed_in(world.ben)
    client.post(f"/api/queues/{queue.pk}/claim/", {"count": 10}, content_type="application/json")
    pages = [
        client.get(f"/queues/{queue.pk}/judge/", {"item": number_of(item.pk)}) for item in (gold, ordinary)
    ]
    assert [page.context["item"]["item"] for page in pages] == [number_of(gold.pk), number_of(ordinary.pk)]
    assert sorted(pages[0].context["item"]) == sorted(pages[1].context["item"])
    assert not {"secret", "gold"} & set(re.findall(r"\w+", pages[0].content.decode().lower()))


def test_the_pages_of_an_admin(world: World) -> None:
    ada = signed_in(world.ada)
    form = {"query": "q1", "document": "d5", "answer": "relevant", "reason": "<b>because</b>"}
    assert ada.post("/collections/harbour/gold/", form).status_code == 302
    page = ada.post("/collections/harbour/gold/", form).content.decode()
    assert "is already a gold question" in page
    assert "&lt;b&gt;because&lt;/b&gt;" in page
    question = GoldQuestion.objects.get()
    ada.post(f"/gold/{question.pk}/", {"change": "inactive"})
    question.refresh_from_db()
    assert not question.active
    ada.post(f"/gold/{question.pk}/", {"change": "active"})
    file = SimpleUploadedFile("gold.csv", b"query_id,document_id,answer\nq1,d6,0\n")
    assert ada.post("/collections/harbour/gold/import/", {"file": file}, follow=True).status_code == 200
    assert GoldQuestion.objects.filter(active=True).count() == 2


def test_an_admin_pauses_and_restores_on_the_pages(world: World) -> None:
    add_question(
        world.collection, NewQuestion(query="q1", document="d5", answer="relevant", reason="so it is")
    )
    queue = make_queue(world, pairs=2, gold=HALF)
    judge(queue, world.ben, queue.items.get(state="gold").pk, "not_relevant", active_ms=1500)
    ada = signed_in(world.ada)
    listed = ada.get(f"/queues/{queue.pk}/gold/").content.decode()
    assert "low: add some" in listed
    address = f"/queues/{queue.pk}/gold/ben/"
    evidence = ada.get(address).content.decode()
    assert re.search("so it is.*1.5", evidence, re.DOTALL)
    ada.post(address, {"action": "pause", "reason": "answers too fast"})
    listed = ada.get(f"/queues/{queue.pk}/gold/").content.decode()
    assert "answers too fast" in listed
    assert "Judgments set aside when paused" in listed
    ada.post(address, {"action": "restore"})
    assert Quarantine.objects.get().lifted_by == world.ada
    actions = [(row.action, row.subject_name) for row in AdminAction.objects.order_by("pk")]
    assert actions[-2:] == [("annotator paused", "ben"), ("annotator restored", "ben")]


def test_who_left_or_was_imported_is_found_by_the_name_that_the_pages_list(world: World) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, queue.items.earliest("pk").pk)
    world.collection.memberships.filter(user=world.ben).delete()
    world.ben.username = "ben (imported)"
    world.ben.save()
    ada = signed_in(world.ada)
    assert (
        "Nobody called"
        not in ada.get(f"/queues/{queue.pk}/gold/ben%20(imported)/", follow=True).content.decode()
    )
    assert (
        call(world.ada, "post", f"queues/{queue.pk}/annotators/ben (imported)/quarantine/").status_code == 200
    )
    assert Judgment.objects.counted().count() == 0


def test_practice_on_pages(world: World) -> None:
    add_question(
        world.collection,
        NewQuestion(query="q1", document="d3", answer="relevant", reason="Look.", practice=True),
    )
    queue = make_queue(world, pairs=2, gold=GoldOptions(0, 0, practice_questions=3))
    ben = signed_in(world.ben)
    page = ben.get(f"/queues/{queue.pk}/judge/", follow=True)
    assert page.redirect_chain[-1][0] == f"/queues/{queue.pk}/practice/"
    form = {"item": page.context["item"]["item"], "key": page.context["key"], "verdict": "not_relevant"}
    said = ben.post(f"/queues/{queue.pk}/practice/", form).content.decode()
    assert re.search("Not right: you said not relevant, the answer is relevant.*Look[.]", said, re.DOTALL)
    assert DOCUMENTS["d3"][0] in said
    assert ben.get(f"/queues/{queue.pk}/practice/").status_code == 302
    summary = ben.get(f"/queues/{queue.pk}/practice/?summary").content.decode()
    assert re.search("0 of 1 right.*Bicycles.*Look[.].*Start judging", summary, re.DOTALL)
    assert ben.get(f"/queues/{queue.pk}/judge/").status_code == 200


def test_the_queue_page_takes_as_many_queries_for_more_people(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for document in ("d3", "d4", "d5"):
        add_question(world.collection, NewQuestion(query="q1", document=document, answer="relevant"))
    queue = make_queue(world, pairs=2, gold=HALF)
    for person in (world.ben, world.cleo, world.ada):
        for item in queue.items.filter(state="gold"):
            record_judgment(queue, person, Submission(item.pk, f"k{item.pk}", "relevant"))
    client = signed_in(world.ada)
    with django_assert_max_num_queries(15):
        client.get(f"/queues/{queue.pk}/gold/")
