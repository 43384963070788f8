"""Implausible work is proposed to admins, who decide; nothing of it reaches annotators but a question."""

from __future__ import annotations

from typing import Any

from labeling.gold.reader import proposals, proposals_in
from labeling.gold.record import decisions_on
from labeling.judging.leases import claim
from labeling.models import Judgment, Queue
from labeling.queues.opening import open_queue
from pooling.models import Document
from tests.labeling.helpers import judge, make_pool
from tests.world import World, signed_in


def clicked_queue(world: World, spent: int = 900, documents: int = 10) -> Queue:
    """Ben judged three queries of long texts, each pair in `spent` milliseconds."""
    text = "A bus that runs all night, and where it goes, in more words than anybody reads in a moment. " * 4
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"a{at}", text=text) for at in range(documents)
    )
    pool = make_pool(world, documents=documents)
    queue = open_queue(pool, judgments_per_item=1, seed=1, user=world.ada, name="q")
    for at, item in enumerate(queue.items.order_by("query", "pk")):
        judge(queue, world.ben, item.pk, "relevant" if at % 2 else "not_relevant", active_ms=spent)
    return queue


def decide(world: World, queue: Queue, decision: str, **more: str) -> Any:
    address = f"/api/queues/{queue.pk}/implausible/"
    body = {"annotator": "ben", "decision": decision, **more}
    return signed_in(world.ada).post(address, body, content_type="application/json")


def test_admins_see_a_proposal_where_it_matters_and_nobody_else_does(world: World) -> None:
    queue = clicked_queue(world)
    (proposal,) = proposals(queue)
    assert (proposal.username, proposal.finding.answers) == ("ben", 30)
    assert [one.finding for one in proposals_in(world.collection)] == [proposal.finding]
    words = "30 of 30 answers came faster than anybody can read."
    pages = (
        queue.get_absolute_url(),
        f"/queues/{queue.pk}/quality/",
        "/collections/harbour/qrels/new/",
    )
    for page in pages:
        assert words in signed_in(world.ada).get(page).content.decode()
    assert "Implausible work" not in signed_in(world.vera).get(pages[1]).content.decode()
    assert words not in signed_in(world.ben).get(pages[0]).content.decode()


def test_careful_work_is_not_proposed(world: World) -> None:
    queue = clicked_queue(world, spent=9_000, documents=3)
    assert proposals(queue) == proposals_in(world.collection) == []


def test_answers_to_gold_questions_do_not_count_as_signs(world: World) -> None:
    queue = clicked_queue(world)
    Judgment.objects.update(is_gold=True)
    assert proposals(queue) == []


def test_what_is_ignored_is_not_proposed_again_until_it_is_undone(world: World) -> None:
    queue = clicked_queue(world)
    made = decide(world, queue, "ignore").json()
    assert made["signs"]
    assert proposals(queue) == []
    address = f"/api/queues/{queue.pk}/implausible/{made['id']}/undo/"
    ada = signed_in(world.ada)
    assert ada.post(address).json()["undone_at"]
    assert [one.username for one in proposals(queue)] == ["ben"]
    assert ada.post(address).status_code == 409
    record = ada.get(f"/api/queues/{queue.pk}/implausible/").json()["decisions"]
    assert [one["decision"] for one in record] == ["ignore"]


def test_a_pause_sets_the_work_aside_and_undoing_it_brings_it_back(world: World) -> None:
    queue = clicked_queue(world)
    made = decide(world, queue, "pause").json()
    assert not Judgment.objects.counted().exists()
    assert decide(world, queue, "pause").status_code == 404
    signed_in(world.ada).post(f"/queues/{queue.pk}/decisions/{made['id']}/undo/")
    assert Judgment.objects.counted().count() == 30
    assert proposals(queue) == []
    assert claim(queue, world.ben, 1).empty is not None  # nothing left, and no longer paused


def test_a_question_is_shown_to_the_annotator_and_answered_once(world: World) -> None:
    queue = clicked_queue(world)
    asked = signed_in(world.ada).post(
        f"/queues/{queue.pk}/decisions/",
        {"annotator": "ben", "decision": "ask", "question": "Is the text shown at all?"},
        follow=True,
    )
    assert "Undo</button>" in asked.content.decode()
    ben, page = signed_in(world.ben), f"/queues/{queue.pk}/mine/"
    assert "Is the text shown at all?" in ben.get(page).content.decode()
    (decision,) = decisions_on(queue)
    address = f"/queues/{queue.pk}/mine/questions/{decision.id}/"
    assert signed_in(world.cleo).post(address, {"reply": "Mine"}).status_code == 404
    assert "Write an answer first." in ben.post(address, {"reply": " "}, follow=True).content.decode()
    ben.post(address, {"reply": "No, it is <b>empty</b>."})
    again = ben.post(address, {"reply": "Twice"}, follow=True).content.decode()
    assert "You have answered this question already." in again
    quality = signed_in(world.ada).get(f"/queues/{queue.pk}/quality/").content.decode()
    assert "No, it is &lt;b&gt;empty&lt;/b&gt;." in quality


def test_a_decision_that_cannot_be_made_is_refused(world: World) -> None:
    queue = clicked_queue(world)
    address = f"/api/queues/{queue.pk}/implausible/"
    for sent, field, words in [
        ({"annotator": "cleo", "decision": "ignore"}, "annotator", "nothing to decide about “cleo”"),
        ({"annotator": "ben", "decision": "dismiss"}, "decision", "Choose one of pause, ask and ignore."),
        ({"annotator": "ben", "decision": "ask", "question": " "}, "question", "Write what you want to ask."),
        (
            {"annotator": "ben", "decision": "ask", "question": "x" * 501},
            "question",
            "at most 500 characters",
        ),
    ]:
        response = signed_in(world.ada).post(address, sent, content_type="application/json")
        assert response.status_code in (400, 404)
        assert field in response.json()["fields"]
        page = signed_in(world.ada).post(f"/queues/{queue.pk}/decisions/", sent, follow=True)
        assert words in page.content.decode()
        assert decisions_on(queue) == []


def test_a_question_is_read_and_answered_over_http(world: World) -> None:
    queue = clicked_queue(world)
    asked = decide(world, queue, "ask", question="Are you all right?").json()
    ben = signed_in(world.ben)
    (question,) = ben.get(f"/api/queues/{queue.pk}/questions/").json()
    assert (question["id"], question["question"], question["reply"]) == (
        asked["id"],
        "Are you all right?",
        "",
    )
    url = f"/api/queues/{queue.pk}/questions/{question['id']}/reply/"
    statuses = [ben.post(url, {"reply": "Yes."}, content_type="application/json").status_code for _ in "ab"]
    assert statuses == [200, 409]
    assert signed_in(world.cleo).post(url, {"reply": "x"}, content_type="application/json").status_code == 404
