"""Pausing annotators and restoring them: what stops, what is set aside, and what counts again."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from labeling.gold.options import GoldOptions
from labeling.gold.practice import practice_round
from labeling.gold.quarantine import annotator_named, impose, lift
from labeling.gold.questions import NewQuestion, add_question
from labeling.gold.scores import gold_answers, gold_rows
from labeling.gold_pages.practice_views import answer_practice
from labeling.items.numbers import number_of
from labeling.judging.blind_counts import own_figures
from labeling.judging.leases import PAUSED_FOR_YOU, claim
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import undo
from labeling.models import Item, Judgment, JudgmentEvent, Lease, Quarantine, Queue
from labeling.qrels.labels import current_labels
from pooling.interface.problems import InputError
from pooling.models import Document
from tests.labeling.helpers import judge, make_queue, only_lease
from tests.world import World, signed_in

NOW = timezone.now()
HALF = GoldOptions(gold_first_share=0.5, gold_share=0.5, practice_questions=0)


def gold_queue(world: World, questions: int = 14, **options: Any) -> Queue:
    """A queue of six pairs with as many gold questions as asked for, every second one relevant."""
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"g{number}", text="")
        for number in range(questions)
    )
    for number in range(questions):
        add_question(
            world.collection,
            NewQuestion(
                query="q1",
                document=f"g{number}",
                answer="not_relevant" if number % 2 else "relevant",
                reason=f"reason {number}",
            ),
        )
    return make_queue(world, pairs=6, gold=GoldOptions(**{**HALF.__dict__, **options}))


def answer_gold(queue: Queue, annotator: User, count: int, verdict: str = "not_relevant") -> None:
    for item in queue.items.filter(state="gold").order_by("pk")[:count]:
        judge(queue, annotator, item.pk, verdict)


def judge_all(queue: Queue, annotator: User, verdict: str = "not_relevant") -> None:
    for item in queue.items.filter(state="open").order_by("pk"):
        judge(queue, annotator, item.pk, verdict)


def counts(queue: Queue) -> list[tuple[int, int, str]]:
    items = Item.objects.filter(queue=queue, order_key__gt=0).order_by("pk")
    return list(items.values_list("done", "leased", "state"))


def test_always_no_is_paused_by_the_rule_and_the_items_come_up_again(world: World) -> None:
    queue = gold_queue(world)
    judge_all(queue, world.ben)
    assert counts(queue) == [(1, 0, "done")] * 6
    answer_gold(queue, world.ben, 13)
    assert counts(queue) == [(0, 0, "open")] * 6
    quarantine = Quarantine.objects.get()
    assert (quarantine.annotator, quarantine.imposed_by, quarantine.evidence["judgments"]) == (
        world.ben,
        None,
        6,
    )
    assert "0 of 7 relevant and 6 of 6 not relevant" in quarantine.reason
    assert current_labels(world.collection).frame.is_empty()
    assert Judgment.objects.count() == 19


def test_the_answer_that_leads_to_a_pause_says_so(world: World) -> None:
    queue, ben, states = gold_queue(world), signed_in(world.ben), []
    for item in queue.items.filter(state="gold").order_by("pk")[:13]:
        verdict = {"item": number_of(item.pk), "key": f"k{item.pk}", "verdict": "not_relevant"}
        path = f"/api/queues/{queue.pk}/judgments/"
        states.append(ben.post(path, [verdict], content_type="application/json").json()["state"])
    assert states == ["open"] * 12 + [PAUSED_FOR_YOU]


def test_somebody_careful_is_not(world: World) -> None:
    queue = gold_queue(world)
    for item in queue.items.filter(state="gold").select_related("document"):
        is_odd = int(item.document.external_id[1:]) % 2
        judge(queue, world.ben, item.pk, "not_relevant" if is_odd else "relevant")
    assert not Quarantine.objects.exists()
    (row,) = gold_rows(queue)
    assert (row.score.sensitivity, row.score.specificity, row.advice) == (1.0, 1.0, "continue")


def test_whoever_is_paused_gets_nothing_and_is_told_so(world: World) -> None:
    queue = gold_queue(world)
    claim(queue, world.ben, 4)
    impose(queue, world.ben, by=world.ada, reason="key mash")
    claimed = claim(queue, world.ben, 4)
    assert claimed.leases == []
    assert claimed.empty is not None
    assert claimed.empty.state == PAUSED_FOR_YOU
    assert not Lease.objects.filter(annotator=world.ben).exists()
    assert counts(queue) == [(0, 0, "open")] * 6
    assert own_figures(queue, world.ben)["left"] == 0 < own_figures(queue, world.cleo)["left"]


def test_others_go_on_with_what_was_set_aside(world: World) -> None:
    queue = gold_queue(world, questions=0)
    judge_all(queue, world.ben)
    impose(queue, world.ben, by=world.ada)
    assert len(claim(queue, world.cleo, 6).leases) == 6


def test_restoring_counts_everything_again_and_starts_the_rule_anew(world: World) -> None:
    queue = gold_queue(world, questions=16)
    judge_all(queue, world.ben)
    answer_gold(queue, world.ben, 13)
    before = Judgment.objects.counted().count()
    lift(queue, world.ben, by=world.ada, now=timezone.now())
    assert (before, Judgment.objects.counted().count()) == (0, 6)
    assert counts(queue) == [(1, 0, "done")] * 6
    quarantine = Quarantine.objects.get()
    assert (quarantine.lifted_by, quarantine.lifted_at is None) == (world.ada, False)
    for item in queue.items.filter(state="gold").order_by("pk")[13:]:
        judge(queue, world.ben, item.pk)
    assert Quarantine.objects.filter(lifted_at=None).count() == 0
    (row,) = gold_rows(queue)
    assert row.score.answers == 3


def test_a_pair_judged_by_others_meanwhile_has_all_its_judgments_after_restoring(world: World) -> None:
    queue = gold_queue(world, questions=0)
    judge_all(queue, world.ben, "relevant")
    impose(queue, world.ben, by=world.ada)
    judge_all(queue, world.cleo, "not_relevant")
    assert set(current_labels(world.collection).frame["relevance"].to_list()) == {0}
    lift(queue, world.ben, by=world.ada)
    assert current_labels(world.collection).counts["tie"] == 6
    assert counts(queue) == [(1, 0, "adjudication")] * 6


def test_a_verdict_on_its_way_is_stored_and_set_aside(world: World) -> None:
    queue = gold_queue(world, questions=0)
    lease = only_lease(queue, world.ben)
    impose(queue, world.ben, by=world.ada)
    assert judge(queue, world.ben, lease.item_id, key="late").status == "stored"
    assert counts(queue) == [(0, 0, "open")] * 6
    lift(queue, world.ben, by=world.ada)
    assert Judgment.objects.counted().count() == 1


def test_in_quarantine_a_verdict_that_nobody_could_give_again_is_not_undone(world: World) -> None:
    queue = gold_queue(world, questions=0)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, key="k")
    impose(queue, world.ben, by=world.ada)
    with pytest.raises(InputError, match="paused for you"):
        undo(queue, world.ben, "k")
    lift(queue, world.ben, by=world.ada)
    assert Judgment.objects.counted().exists()


def test_work_in_other_queues_is_left_alone_but_their_items_are_counted_anew(world: World) -> None:
    queue = gold_queue(world, questions=0)
    other = make_queue(world, pairs=6)
    judge_all(queue, world.ben)
    assert counts(other) == [(1, 0, "done")] * 6
    impose(queue, world.ben, by=world.ada)
    assert counts(other) == [(0, 0, "open")] * 6
    assert len(claim(other, world.cleo, 6).leases) == 6


def test_a_pause_that_is_only_proposed_waits_for_an_admin(world: World) -> None:
    queue = gold_queue(world, gold_pause="proposed")
    answer_gold(queue, world.ben, 13)
    assert not Quarantine.objects.exists()
    (row,) = gold_rows(queue)
    assert row.advice == "pause"


def test_cannot_judge_is_neither_right_nor_wrong(world: World) -> None:
    queue = gold_queue(world)
    for item in queue.items.filter(state="gold"):
        judge(queue, world.ben, item.pk, "cannot_judge", reason="other")
    (row,) = gold_rows(queue)
    assert (row.score.answers, row.cannot_judge) == (0, 14)


def test_the_evidence_has_every_answer_with_its_time(world: World) -> None:
    queue = gold_queue(world)
    item = queue.items.filter(state="gold").order_by("pk").first()
    assert item is not None
    judge(queue, world.ben, item.pk, "not_relevant", active_ms=900, now=NOW)
    (answer,) = gold_answers(queue, world.ben)
    given = {
        name: getattr(answer, name)
        for name in ("document", "verdict", "answer", "right", "reason", "active_ms")
    }
    assert given == {
        "document": "g0",
        "verdict": "not_relevant",
        "answer": "relevant",
        "right": False,
        "reason": "reason 0",
        "active_ms": 900,
    }
    assert answer.judged_at == NOW


def test_nobody_is_paused_twice_or_restored_without_a_pause(world: World) -> None:
    queue = gold_queue(world, questions=0)
    with pytest.raises(InputError, match="ben is not in quarantine"):
        lift(queue, world.ben)
    impose(queue, world.ben)
    with pytest.raises(InputError, match="ben is already in quarantine in this queue"):
        impose(queue, world.ben)


def test_only_annotators_can_be_named(world: World) -> None:
    queue = gold_queue(world, questions=0)
    assert annotator_named(queue, "ben") == world.ben
    with pytest.raises(InputError, match="Nobody called “dan” annotates in this queue"):
        annotator_named(queue, "dan")


def test_more_judgments_take_no_more_statements_for_each(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    queue = gold_queue(world, questions=0)
    judge_all(queue, world.ben)
    with django_assert_max_num_queries(25):
        impose(queue, world.ben)
    with django_assert_max_num_queries(25):
        lift(queue, world.ben)


def practice_queue(world: World, practice: int = 2) -> Queue:
    for document, answer in (("d3", "relevant"), ("d4", "not_relevant"), ("d5", "relevant")):
        add_question(
            world.collection,
            NewQuestion(
                query="q1", document=document, answer=answer, reason=f"see {document}", practice=True
            ),
        )
    return make_queue(world, pairs=2, gold=GoldOptions(0, 0, practice_questions=practice))


def test_practice_comes_before_the_first_item_and_explains_each_answer(world: World) -> None:
    queue = practice_queue(world)
    empty = claim(queue, world.ben, 1).empty
    assert empty is not None
    assert empty.state == "waiting for you to finish the practice round"
    said = []
    for number in range(2):
        state = practice_round(queue, world.ben)
        assert (state.total, state.answered) == (2, number)
        assert state.next is not None
        explained = answer_practice(queue, world.ben, Submission(state.next.pk, f"k{number}", "relevant"))
        said.append((explained.is_right, explained.reason))
    assert said == [(True, "see d3"), (False, "see d4")]
    assert practice_round(queue, world.ben).next is None
    assert len(claim(queue, world.ben, 5).leases) == 2


def test_practice_is_an_event_that_never_counts_nor_scores(world: World) -> None:
    queue = practice_queue(world, practice=1)
    item = practice_round(queue, world.ben).next
    assert item is not None
    answer_practice(queue, world.ben, Submission(item.pk, "k", "not_relevant"))
    assert JudgmentEvent.objects.get().gold is not None
    assert not Judgment.objects.counted().exists()
    assert gold_rows(queue) == []


def test_who_has_begun_is_not_sent_back_to_practice(world: World) -> None:
    queue = make_queue(world, pairs=2, gold=GoldOptions(0, 0, practice_questions=5))
    judge(queue, world.ben, only_lease(queue, world.ben).item_id)
    add_question(world.collection, NewQuestion(query="q1", document="d3", answer="relevant", practice=True))
    queue.refresh_from_db()
    assert len(claim(queue, world.ben, 1).leases) == 1


def test_an_ordinary_item_is_no_practice(world: World) -> None:
    queue = practice_queue(world)
    item = queue.items.filter(state="open")[0]
    with pytest.raises(InputError, match="not part of the practice round"):
        answer_practice(queue, world.ben, Submission(item.pk, "k", "relevant"))


def test_a_verdict_of_somebody_paused_is_set_aside_though_they_hold_the_pair_in_another_queue(
    world: World,
) -> None:
    queue, other = make_queue(world), make_queue(world)
    impose(queue, world.ben, by=world.ada)
    item = claim(other, world.ben, 1).leases[0].item
    twin = queue.items.get(query=item.query, document=item.document)
    assert judge(queue, world.ben, twin.pk).status == "stored"
    assert not Judgment.objects.counted().exists()
