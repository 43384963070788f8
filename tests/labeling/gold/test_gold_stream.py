"""Gold questions among the items: who gets which, where, and that nothing tells them apart."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby, pairwise
from statistics import mode
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from labeling.gold.options import GoldOptions, change_options
from labeling.gold.questions import NewQuestion, add_question, change_question
from labeling.gold.scores import gold_rows, score_of
from labeling.judging.blind_counts import own_figures
from labeling.judging.leases import claim, release, renew
from labeling.judging.offers import offers_of
from labeling.judging.verdicts import skip, undo
from labeling.models import Bookmark, GoldQuestion, Item, Judgment, JudgmentEvent, Lease, Queue
from labeling.progress.counts import queue_progress
from labeling.qrels.labels import current_labels
from labeling.queues.opening import open_queue
from pooling.interface.problems import InputError
from pooling.models import Document
from tests.labeling.helpers import judge, make_pool, make_queue, only_lease
from tests.world import World

NOW = timezone.now()
HALF = GoldOptions(gold_first_share=0.5, gold_share=0.5, practice_questions=0)
NONE = GoldOptions(gold_first_share=0, gold_share=0, practice_questions=0)


def gold(world: World, query: str = "q1", document: str = "d5", answer: str = "relevant", **more: Any) -> Any:
    """A gold question; d1 and d2 are in the pool of `make_pool`, the others are not."""
    return add_question(
        world.collection, NewQuestion(query=query, document=document, answer=answer, **more), user=world.ada
    )


def gold_item(queue: Queue, question: GoldQuestion) -> Item:
    return queue.items.get(query=question.query, document=question.document)


def states(queue: Queue) -> dict[str, int]:
    found: dict[str, int] = {}
    for state in queue.items.values_list("state", flat=True):
        found[state] = found.get(state, 0) + 1
    return found


def test_half_of_the_items_are_gold_when_half_are_to_be(world: World) -> None:
    for query in ("q1", "q2", "q3"):
        gold(world, query), gold(world, query, "d6", "not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    items = [lease.item for lease in claim(queue, world.ben, 4).leases]
    assert [item.state for item in items].count("gold") == 2
    assert {item.document.external_id for item in items if item.state == "gold"} == {"d5", "d6"}


def test_gold_is_of_the_query_at_hand_or_waits(world: World) -> None:
    """It would stand alone between documents of other queries."""
    gold(world, "q2"), gold(world, "q2", "d6", "not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    leases = claim(queue, world.ben, 6).leases
    queries = [lease.item.query.external_id for lease in leases]
    hidden = [lease.item.query.external_id for lease in leases if lease.item.state == "gold"]
    assert hidden == ["q2"]
    assert all(queries.count(query) == 2 for query in ("q1", "q2", "q3"))


def test_a_place_is_dealt_once_whatever_is_claimed_and_returned(world: World) -> None:
    for query in ("q1", "q2", "q3"):
        gold(world, query), gold(world, query, "d6", "not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    whole: list[int] = []
    for size in (1, 5, 2, 3, 6, 1, 4, 50, 1, 50):
        leases = claim(queue, world.ben, size).leases
        items = [lease.item_id for lease in leases]
        assert items[: len(whole)] == whole[: len(items)]
        whole = max(items, whole, key=len)
        release(queue, world.ben, [lease.token for lease in leases])
    late = NOW + timedelta(hours=1)
    assert [lease.item_id for lease in claim(queue, world.ben, 50, now=late).leases] == whole


def test_as_many_documents_of_a_query_come_at_a_time_with_gold_as_without(world: World) -> None:
    """Who knows how many documents a query has would know that there is a gold question among them."""
    gold(world, "q1"), gold(world, "q2", "d6", "not_relevant")
    queue = open_queue(make_pool(world, queries=3, documents=4), gold=HALF, seed=1)
    queries = [lease.item.query.external_id for lease in claim(queue, world.ben, 12).leases]
    assert [len(list(run)) for _, run in groupby(queries)] == [4, 4, 4]


def test_an_item_that_gives_its_place_to_gold_comes_later(world: World) -> None:
    gold(world, "q1"), gold(world, "q2", "d6", "not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    given = []
    while leases := claim(queue, world.ben, 2).leases:
        given += [lease.item_id for lease in leases]
        for lease in leases:
            judge(queue, world.ben, lease.item_id)
    assert sorted(given) == sorted(queue.items.values_list("pk", flat=True))


def test_what_goes_to_others_takes_the_gold_beside_it_along(world: World) -> None:
    """Gold that alone comes back of what was returned would be known by it."""
    gold(world)
    queue = make_queue(world, pairs=2, gold=HALF)
    leases = claim(queue, world.ben, 2).leases
    assert sorted(lease.item.state for lease in leases) == ["gold", "open"]
    ordinary = next(lease.item_id for lease in leases if lease.item.state == "open")
    release(queue, world.ben, [lease.token for lease in leases])
    judge(queue, world.cleo, ordinary)
    assert gold_item(queue, GoldQuestion.objects.get()).pk not in [
        lease.item_id for lease in claim(queue, world.ben, 50).leases
    ]


def test_nobody_gets_a_gold_question_twice(world: World) -> None:
    question = gold(world)
    queue = make_queue(world, pairs=6, gold=HALF)
    seen = []
    while leases := claim(queue, world.ben, 2).leases:
        for lease in leases:
            seen.append(lease.item_id)
            judge(queue, world.ben, lease.item_id)
    assert seen.count(gold_item(queue, question).pk) == 1
    assert len(seen) == 7


def test_a_skipped_gold_question_comes_again_like_a_skipped_pair(world: World) -> None:
    """When nothing else is left, in the order in which they were dealt."""
    for query in ("q1", "q2", "q3"):
        gold(world, query), gold(world, query, "d6", "not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    skipped = [lease.item for lease in claim(queue, world.ben, 4).leases]
    assert {item.state for item in skipped} == {"gold", "open"}
    for item in skipped:
        skip(queue, world.ben, item.pk)
    rest = claim(queue, world.ben, 50).leases
    assert not {lease.item_id for lease in rest} & {item.pk for item in skipped}
    for lease in rest:
        judge(queue, world.ben, lease.item_id)
    assert [lease.item_id for lease in claim(queue, world.ben, 50).leases] == [item.pk for item in skipped]


def test_many_people_hold_the_same_gold_question(world: World) -> None:
    question = gold(world)
    queue = make_queue(world, needed=2, pairs=2, gold=HALF)
    item = gold_item(queue, question)
    for person in (world.ben, world.cleo):
        held = [lease.item_id for lease in claim(queue, person, 2).leases]
        assert item.pk in held
    assert Lease.objects.filter(item=item).count() == 2
    item.refresh_from_db()
    assert (item.done, item.leased, item.state) == (0, 0, "gold")


def test_what_is_held_comes_again_in_the_same_order(world: World) -> None:
    gold(world), gold(world, query="q2", document="d6", answer="not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    first = [lease.token for lease in claim(queue, world.ben, 6).leases]
    assert [lease.token for lease in claim(queue, world.ben, 6).leases] == first


def test_an_expired_lease_on_a_gold_question_does_not_use_it_up(world: World) -> None:
    question = gold(world)
    queue = make_queue(world, pairs=2, gold=HALF)
    assert gold_item(queue, question).pk in [x.item_id for x in claim(queue, world.ben, 3, now=NOW).leases]
    later = NOW + timedelta(hours=1)
    assert gold_item(queue, question).pk in [x.item_id for x in claim(queue, world.ben, 3, now=later).leases]


def test_where_the_stock_is_used_up_ordinary_items_take_its_place(world: World) -> None:
    gold(world)
    queue = make_queue(world, pairs=6, gold=HALF)
    assert len(claim(queue, world.ben, 6).leases) == 6


def test_an_answer_fills_no_slot_and_is_no_label(world: World) -> None:
    question = gold(world)
    queue = make_queue(world, pairs=2, gold=HALF)
    outcome = judge(queue, world.ben, gold_item(queue, question).pk, "not_relevant")
    assert (outcome.status, outcome.detail) == ("stored", "Stored.")
    event = JudgmentEvent.objects.get()
    assert event.gold == question
    assert not Judgment.objects.counted().exists()
    assert current_labels(world.collection).frame.is_empty()
    assert score_of(queue, world.ben).relevant_wrong == 1


def test_a_pair_of_the_pool_takes_the_answer_as_its_label_and_is_no_ordinary_work(world: World) -> None:
    gold(world, document="d1", answer="not_relevant")
    queue = make_queue(world, pairs=2, gold=NONE)
    assert states(queue) == {"gold": 1, "open": 1}
    (lease,) = claim(queue, world.ben, 5).leases
    assert lease.item.document.external_id == "d2"
    judge(queue, world.ben, lease.item_id)
    rows = current_labels(world.collection).frame.rows()
    assert rows == [("q1", "d1", 0, "gold"), ("q1", "d2", 1, "human")]
    assert current_labels(world.collection).counts["gold"] == 1
    assert queue_progress(queue)["items"] == {"total": 2, "open": 0, "done": 2, "adjudication": 0}


def test_a_pair_that_becomes_gold_later_leaves_the_work_and_its_votes(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2, gold=NONE)
    lease = next(x for x in claim(queue, world.ben, 2).leases if x.item.document.external_id == "d1")
    judge(queue, world.ben, lease.item_id, "relevant")
    question = gold(world, document="d1", answer="not_relevant")
    assert current_labels(world.collection).frame.rows() == [("q1", "d1", 0, "gold")]
    change_question(question, active=False)
    item = gold_item(queue, question)
    assert (item.state, item.done, item.leased) == ("open", 1, 0)
    judge(queue, world.cleo, item.pk, "relevant")
    assert current_labels(world.collection).frame.rows() == [("q1", "d1", 1, "human")]


def test_leases_end_when_a_gold_question_becomes_ordinary_work(world: World) -> None:
    question = gold(world, document="d1")
    queue = make_queue(world, pairs=2, gold=HALF)
    for person in (world.ben, world.cleo):
        claim(queue, person, 2)
    change_question(question, active=False)
    item = gold_item(queue, question)
    assert (item.state, item.leased) == ("open", 0)
    assert not Lease.objects.filter(item=item).exists()


def test_an_answer_that_comes_after_the_question_was_withdrawn_is_kept_and_never_counts(world: World) -> None:
    question = gold(world)
    queue = make_queue(world, pairs=2, gold=HALF)
    claim(queue, world.ben, 3)
    change_question(question, active=False)
    assert gold_item(queue, question).state == "aside"
    assert judge(queue, world.ben, gold_item(queue, question).pk).status == "stored"
    assert not Judgment.objects.counted().exists()
    assert score_of(queue, world.ben).answers == 0


def test_undo_takes_an_answer_back_and_the_last_one_counts(world: World) -> None:
    question = gold(world)
    queue = make_queue(world, pairs=2, gold=HALF)
    item = gold_item(queue, question)
    claim(queue, world.ben, 3)
    judge(queue, world.ben, item.pk, "not_relevant", key="slip")
    lease = undo(queue, world.ben, "slip")
    assert lease is not None
    assert lease.item_id == item.pk
    assert score_of(queue, world.ben).answers == 0
    judge(queue, world.ben, item.pk, "relevant", lease=lease.token)
    assert score_of(queue, world.ben).relevant_right == 1


def test_an_answer_changed_after_the_next_verdict_counts_as_it_was(world: World) -> None:
    question = gold(world)
    queue = make_queue(world, pairs=6, gold=HALF)
    item = gold_item(queue, question)
    other = next(lease.item_id for lease in claim(queue, world.ben, 4).leases if lease.item_id != item.pk)
    judge(queue, world.ben, item.pk, "not_relevant", key="wrong")
    judge(queue, world.ben, other, key="next")
    lease = undo(queue, world.ben, "wrong")
    assert lease is not None
    judge(queue, world.ben, item.pk, "relevant", lease=lease.token, key="right")
    judge(queue, world.ben, item.pk, "relevant", key="once more")
    assert (score_of(queue, world.ben).relevant_wrong, score_of(queue, world.ben).answers) == (1, 1)
    # To Ben it is undone and said anew, like any other.
    assert own_figures(queue, world.ben)["relevant"] == 2
    assert undo(queue, world.ben, "once more") is None
    assert undo(queue, world.ben, "right") is not None
    assert score_of(queue, world.ben).relevant_wrong == 1


def test_claims_and_verdicts_take_as_many_statements_whatever_they_are_of(world: World) -> None:
    documents = Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"x{number}", text="") for number in range(74)
    )
    for place, document in enumerate(documents[:16]):
        answer = ("relevant", "not_relevant")[place % 2]
        gold(world, document=document.external_id, answer=answer)
    options = GoldOptions(gold_first_share=0.3, gold_share=0.3, practice_questions=0, repeat_share=0.2)
    queue = open_queue(make_pool(world, queries=1, documents=80), gold=options, seed=1)
    bookmark = Bookmark.objects.create(queue=queue, annotator=world.ben, handed_out=30)
    Bookmark.objects.update(gold_seed=1 ^ bookmark.pk)  # the row's key is part of every draw
    for item in queue.items.filter(state="open")[:27]:
        judge(queue, world.ben, item.pk)
    claims: dict[str, list[int]] = {}
    verdicts: dict[str, set[int]] = {}
    for _ in range(15):
        with CaptureQueriesContext(connection) as claiming:
            (lease,) = claim(queue, world.ben, 1).leases
        with CaptureQueriesContext(connection) as judging:
            judge(queue, world.ben, lease.item_id)
        claims.setdefault(lease.item.state, []).append(len(claiming))
        verdicts.setdefault(lease.item.state, set()).add(len(judging))
    assert claims.keys() == {"open", "gold", "repeat"}
    # More of them only where a block of places begins, whatever comes there: a repeat is made for it then.
    assert mode(claims["open"]) == mode(claims["gold"]) == mode(claims["repeat"])
    assert verdicts["open"] == verdicts["gold"] == verdicts["repeat"]


def test_a_lease_on_a_gold_question_is_renewed_like_any_other(world: World) -> None:
    gold(world)
    queue = make_queue(world, pairs=2, gold=HALF)
    leases = claim(queue, world.ben, 3, now=NOW).leases
    later = NOW + timedelta(minutes=5)
    assert len(renew(queue, world.ben, [lease.token for lease in leases], now=later)) == 3


def test_what_is_left_falls_by_one_with_every_verdict(world: World) -> None:
    gold(world), gold(world, query="q2", document="d6", answer="not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    told = [own_figures(queue, world.ben)["left"]]
    for lease in claim(queue, world.ben, 8).leases:
        assert offers_of(queue, world.ben, [lease])[0]["query"]["left"] > 0
        judge(queue, world.ben, lease.item_id)
        told.append(own_figures(queue, world.ben)["left"])
    # Six pairs and two hidden questions, which nobody is told are there; none at the end is none.
    assert told == [6, 5, 4, 3, 2, 1, 1, 1, 0]


def test_an_offer_of_a_gold_question_has_nothing_that_others_lack(world: World) -> None:
    gold(world)
    queue = make_queue(world, pairs=6, gold=HALF)
    leases = claim(queue, world.ben, 6).leases
    offers = offers_of(queue, world.ben, leases)
    shapes = {tuple((name, type(value)) for name, value in offer.items()) for offer in offers}
    assert len(shapes) == 1
    assert {tuple(offer["query"]) for offer in offers} == {("id", "text", "narrative", "left")}
    assert "gold" not in str(offers)


def test_numbers_of_items_tell_no_order(world: World) -> None:
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"x{number}", text="") for number in range(40)
    )
    queue = open_queue(make_pool(world, queries=3, documents=40), name="long", gold=NONE, seed=1)
    numbers = [offer["item"] for offer in offers_of(queue, world.ben, claim(queue, world.ben, 50).leases)]
    ups = sum(later > earlier for earlier, later in pairwise(numbers))
    assert 12 < ups < 37
    assert max(numbers) < 2**53  # a browser's numbers


def test_a_gold_question_stands_among_its_own_query(world: World) -> None:
    for document, answer in (("d3", "relevant"), ("d4", "not_relevant"), ("d5", "relevant")):
        gold(world, query="q2", document=document, answer=answer)
    queue = make_queue(world, pairs=6, gold=HALF)
    queries = [lease.item.query.external_id for lease in claim(queue, world.ben, 12).leases]
    assert queries.index("q2") + queries.count("q2") == len(queries) - queries[::-1].index("q2")


def test_a_claim_without_gold_takes_no_more_queries_than_before(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    queue = make_queue(world, pairs=6)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id)
    with django_assert_max_num_queries(9):
        claim(queue, world.ben, 1)


def test_a_claim_with_gold_takes_no_more_queries_but_where_a_stretch_is_dealt(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    gold(world), gold(world, document="d6", answer="not_relevant")
    queue = make_queue(world, pairs=6, gold=HALF)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id)
    for _ in range(4):
        with django_assert_max_num_queries(17):  # 9 within a stretch
            (lease,) = claim(queue, world.ben, 1).leases
        judge(queue, world.ben, lease.item_id)


def test_options_can_be_changed_while_people_judge(world: World) -> None:
    gold(world)
    queue = make_queue(world, pairs=6, gold=NONE)
    assert (queue.gold_count, states(queue)) == (0, {"open": 6})
    change_options(queue, {"gold_share": 0.5, "gold_first_share": 0.5})
    assert (queue.gold_count, states(queue)) == (1, {"open": 6, "gold": 1})


@pytest.mark.parametrize(
    "options",
    [{"gold_share": 0.6}, {"gold_first_share": -0.1}, {"practice_questions": 51}, {"gold_pause": "never"}],
)
def test_options_that_will_not_do_are_refused(world: World, options: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        make_queue(world, gold=GoldOptions(**{**HALF.__dict__, **options}))
    assert list(refused.value.fields) == list(options)


def test_the_stock_is_said_to_be_low(world: World) -> None:
    first = gold(world)
    queue = make_queue(world, pairs=6, gold=HALF)
    judge(queue, world.ben, gold_item(queue, first).pk)
    (row,) = gold_rows(queue)
    assert (row.username, row.left, row.is_low) == ("ben", {"relevant": 0, "not_relevant": 0}, True)
