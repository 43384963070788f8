"""Practice: which passage decides, what is told after an answer, and that no number counts it."""

from __future__ import annotations

import pytest
from django.test import Client

from labeling.gold.options import GoldOptions
from labeling.gold.practice import practice_round
from labeling.gold.questions import NewQuestion, add_question, change_questions, follow_gold
from labeling.gold.scores import gold_answers, gold_rows
from labeling.gold_pages.practice_views import answer_practice, practised
from labeling.judging.blind_counts import own_figures
from labeling.judging.own_work import own_verdicts, own_work
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import undo
from labeling.judging.views import recent_verdicts
from labeling.models import GoldQuestion, Queue
from labeling.progress.counts import queue_progress
from labeling.progress.of_collection import seconds_taken
from labeling.qrels.labels import current_labels
from pooling.interface.problems import InputError
from pooling.models import Document
from tests.labeling.helpers import judge, make_queue, only_lease
from tests.world import World

TEXT = "It rains. The night bus leaves at one. Buses are green. Nobody is there."


@pytest.fixture
def queue(world: World) -> Queue:
    """Two practice questions before two pairs."""
    for document, answer in (("d3", "relevant"), ("d4", "not_relevant")):
        pair = {"query": "q1", "document": document}
        add_question(
            world.collection, NewQuestion(**pair, answer=answer, reason=f"see {document}", practice=True)
        )
    return make_queue(world, pairs=2, gold=GoldOptions(0, 0, practice_questions=2))


def answer(queue: Queue, world: World, verdict: str, key: str) -> None:
    item = practice_round(queue, world.ben).next
    assert item is not None
    answer_practice(queue, world.ben, Submission(item.pk, key, verdict, active_ms=900))


def test_the_passage_is_what_the_reason_quotes_or_somebody_s_evidence(world: World, queue: Queue) -> None:
    Document.objects.update(text=TEXT)
    GoldQuestion.objects.update(answer="relevant")
    item = practice_round(queue, world.ben).next
    assert item is not None
    question = GoldQuestion.objects.get(document=item.document_id)

    def passage(key: str) -> str | None:
        explained = answer_practice(queue, world.ben, Submission(item.pk, key, question.answer, active_ms=9))
        return explained.passage and TEXT[slice(*explained.passage)]

    GoldQuestion.objects.update(reason="Because “this is not in it”.")
    assert passage("k1") is None
    judge(queue, world.cleo, item.pk, evidence=[0, 9], version=item.document.version)
    assert passage("k2") == TEXT[:9]
    GoldQuestion.objects.update(reason="Because “Buses are green” says so.")
    assert passage("k3") == "Buses are green"


def test_practice_counts_in_no_number_of_ones_own(world: World, queue: Queue) -> None:
    answer(queue, world, "relevant", "k1")
    answer(queue, world, "relevant", "k2")
    own = own_figures(queue, world.ben)
    assert (own["done"], own["done_today"], own["left"], own["active_seconds"]) == (0, 0, 2, 0)
    assert recent_verdicts(queue, world.ben) == []
    assert not own_verdicts(queue, world.ben).exists()
    assert own_work(queue, world.ben).median_seconds is None
    with pytest.raises(InputError, match="None of your last"):
        undo(queue, world.ben, "k2")
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, key="k3")
    assert own_figures(queue, world.ben)["done"] == 1
    assert [one["key"] for one in recent_verdicts(queue, world.ben)] == ["k3"]


def test_practice_counts_in_no_number_of_verdicts_that_admins_see(world: World, queue: Queue) -> None:
    answer(queue, world, "relevant", "k1")
    answer(queue, world, "relevant", "k2")
    (row,) = queue_progress(queue)["annotators"]
    names = ("judged", "relevant", "gold", "practice", "timed", "active_seconds")
    assert [row[name] for name in names] == [0, 0, 0, 2, 0, 0]
    assert seconds_taken(world.collection) is None
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, active_ms=400)
    progress = queue_progress(queue)
    (row,) = progress["annotators"]
    assert [row[name] for name in names] == [1, 1, 0, 2, 1, 0.4]
    assert progress["cost"]["paid_judgments"] == 3, "practice is paid"
    assert seconds_taken(world.collection) == 0.4


def test_practice_answers_stay_practice_when_their_question_is_hidden(world: World, queue: Queue) -> None:
    for key in ("k1", "k2"):
        answer(queue, world, "relevant", key)
    change_questions(world.collection, list(GoldQuestion.objects.all()), practice=False)
    queue.gold_share, queue.practice_questions = 0.5, 0
    queue.save()
    follow_gold(world.collection)
    queue.refresh_from_db()
    assert (gold_rows(queue), gold_answers(queue, world.ben)) == ([], [])
    pair = only_lease(queue, world.ben).item
    assert own_figures(queue, world.ben)["left_in_query"] == 2
    judge(queue, world.ben, pair.pk)
    judge(queue, world.cleo, pair.pk, "not_relevant")
    # Practice would weigh against Ben.
    assert current_labels(world.collection, "weighted").counts["tie"] == 1


def test_the_summary_says_what_was_right(
    world: World, queue: Queue, django_assert_num_queries: object
) -> None:
    answer(queue, world, "relevant", "k1")
    answer(queue, world, "relevant", "k2")
    told = [(one.title, one.given, one.answer, one.is_right) for one in practised(queue, world.ben)]
    assert told == [
        ("Bicycles", "relevant", "relevant", True),
        ("Timetables", "relevant", "not relevant", False),
    ]
    assert practised(queue, world.cleo) == []


def test_reasons_and_texts_are_escaped(world: World, queue: Queue) -> None:
    world.collection.documents.update(title="<b>x</b>", text="<script>alert(1)</script>")
    world.collection.gold_questions.update(reason="<img src=x onerror=alert(1)>")
    client = Client()
    client.force_login(world.ben)
    address = f"/queues/{queue.pk}/practice/"
    for number in (1, 2):
        page = client.get(address)
        form = {"item": page.context["item"]["item"], "key": f"k{number}", "verdict": "relevant"}
        said = client.post(address, form).content.decode()
        assert "&lt;img src=x onerror=alert(1)&gt;" in said
        assert not [text for text in ("<script>alert", "<img src=x", "<b>x") if text in said]
    summary = client.get(address, {"summary": ""}).content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt;" in summary
    assert "<img src=x" not in summary
