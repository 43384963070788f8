"""Who gets which item, and when: sentences 1 to 3 of `labeling/queues/opening.py`."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise, product
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from labeling.gold.options import GoldOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import MOST_BYTES, claim, release, renew
from labeling.judging.offers import offers_of
from labeling.judging.verdicts import skip
from labeling.models import Item, Lease
from labeling.queues.opening import change_state
from pooling.models import Document
from tests.labeling.helpers import judge, make_queue, only_lease
from tests.world import World

NOW = timezone.now()
LATER = NOW + timedelta(seconds=601)  # a lease lasts 600 seconds
HALF = GoldOptions(gold_first_share=0.5, gold_share=0.5, practice_questions=0)
NONE = GoldOptions(gold_first_share=0, gold_share=0, practice_questions=0)


def items_of(claimed: object) -> list[int]:
    return [lease.item_id for lease in claimed.leases]  # type: ignore[attr-defined]


def test_two_annotators_never_hold_the_same_item(world: World) -> None:
    queue = make_queue(world, pairs=6)
    bens, cleos = claim(queue, world.ben, 4), claim(queue, world.cleo, 4)
    assert len(items_of(bens)) == 4
    assert len(items_of(cleos)) == 2
    assert not set(items_of(bens)) & set(items_of(cleos))


def test_items_come_query_by_query_in_stored_order(world: World) -> None:
    queue = make_queue(world, pairs=6)
    items = [lease.item for lease in claim(queue, world.ben, 6).leases]
    assert [item.pk for item in items] == list(queue.items.order_by("order_key").values_list("pk", flat=True))
    queries = [item.query.external_id for item in items]
    assert queries[0::2] == queries[1::2]


def test_a_claim_again_returns_what_is_held_and_tops_it_up(world: World) -> None:
    queue = make_queue(world, pairs=6)
    first = claim(queue, world.ben, 2)
    again = claim(queue, world.ben, 3)
    assert [lease.token for lease in again.leases][:2] == [lease.token for lease in first.leases]
    assert len(again.leases) == 3
    assert Lease.objects.count() == 3


@pytest.mark.parametrize("gold", [NONE, HALF], ids=["without gold", "with gold"])
def test_a_claim_of_long_documents_hands_out_few(world: World, gold: GoldOptions) -> None:
    text = "é " * 500_000  # a megabyte and a half
    Document.objects.update(text=text)
    if gold is HALF:
        question = NewQuestion(query="q1", document="d5", answer="relevant")
        add_question(world.collection, question)
    queue = make_queue(world, pairs=6, gold=gold)
    seen: list[int] = []
    while leases := claim(queue, world.ben, 50).leases:
        assert len(leases) <= 2
        assert {lease.item.document.text for lease in leases} == {text}
        assert items_of(claim(queue, world.ben, 50)) == items_of(claim(queue, world.ben, 50))
        seen += [lease.item_id for lease in leases]
        for lease in leases:
            judge(queue, world.ben, lease.item_id)
    assert sorted(seen) == sorted(queue.items.values_list("pk", flat=True))


def test_a_document_longer_than_a_claim_may_be_comes_alone(world: World) -> None:
    Document.objects.update(text="x" * (MOST_BYTES + 1))
    queue = make_queue(world, pairs=2)
    (lease,) = claim(queue, world.ben, 2).leases
    assert len(lease.item.document.text or "") == MOST_BYTES + 1
    assert items_of(claim(queue, world.ben, 2)) == [lease.item_id]
    release(queue, world.ben, [lease.token])
    assert items_of(claim(queue, world.ben, 2)) == [lease.item_id]


def test_an_expired_lease_is_as_good_as_none(world: World) -> None:
    queue = make_queue(world, pairs=2)
    held = claim(queue, world.ben, 2, now=NOW)
    assert items_of(claim(queue, world.cleo, 2, now=NOW)) == []
    taken = claim(queue, world.cleo, 2, now=LATER)
    assert items_of(taken) == items_of(held)
    assert set(Lease.objects.values_list("annotator__username", flat=True)) == {"cleo"}
    assert set(Item.objects.values_list("leased", flat=True)) == {1}


def test_one_s_own_expired_lease_is_given_again_with_a_new_token(world: World) -> None:
    queue = make_queue(world, pairs=2)
    old = only_lease(queue, world.ben, now=NOW)
    new = claim(queue, world.ben, 2, now=LATER).leases
    assert old.item_id in [lease.item_id for lease in new]
    assert old.token not in [lease.token for lease in new]


def test_a_renewed_lease_lasts_longer(world: World) -> None:
    queue = make_queue(world, pairs=2)
    lease = only_lease(queue, world.ben, now=NOW)
    (renewed,) = renew(queue, world.ben, [lease.token], now=NOW + timedelta(seconds=500))
    assert renewed.expires_at == NOW + timedelta(seconds=1100)
    assert lease.item_id not in items_of(claim(queue, world.cleo, 2, now=LATER))


def test_nobody_renews_or_returns_somebody_else_s_lease(world: World) -> None:
    queue = make_queue(world, pairs=2)
    lease = only_lease(queue, world.ben)
    assert renew(queue, world.cleo, [lease.token]) == []
    assert release(queue, world.cleo, [lease.token]) == 0
    assert Lease.objects.get() == lease


def test_a_lease_that_ran_out_cannot_be_renewed(world: World) -> None:
    queue = make_queue(world, pairs=2)
    lease = only_lease(queue, world.ben, now=NOW)
    assert renew(queue, world.ben, [lease.token], now=LATER) == []


def test_a_returned_lease_frees_the_slot(world: World) -> None:
    queue = make_queue(world, pairs=2)
    tokens = [lease.token for lease in claim(queue, world.ben, 2).leases]
    assert release(queue, world.ben, tokens) == 2
    assert len(claim(queue, world.cleo, 2).leases) == 2


def test_a_claim_keeps_a_half_spent_lease_alive(world: World) -> None:
    queue = make_queue(world, pairs=2)
    claim(queue, world.ben, 2, now=NOW)
    claim(queue, world.ben, 2, now=NOW + timedelta(seconds=400))
    assert items_of(claim(queue, world.cleo, 2, now=LATER)) == []


def test_two_opinions_are_two_slots_for_two_people(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    ada, ben, cleo = (claim(queue, user, 2) for user in (world.ada, world.ben, world.cleo))
    assert len(ada.leases) == len(ben.leases) == 2
    assert cleo.leases == []
    assert cleo.empty is not None
    assert cleo.empty.leased == 2


def test_nobody_gets_a_pair_they_have_judged(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id)
    judge(queue, world.ben, only_lease(queue, world.ben).item_id, "cannot_judge", reason="expert")
    claimed = claim(queue, world.ben, 2)
    assert claimed.leases == []
    assert claimed.empty is not None
    assert claimed.empty.second_opinion == 2


def test_an_answer_to_a_check_waits_as_long_as_the_one_before_it(world: World) -> None:
    """If all checks left the count together, at its end, it would tell how many they were."""
    for query, document in product(("q1", "q2", "q3"), ("d3", "d4")):
        add_question(world.collection, NewQuestion(query, document, "relevant"), user=world.ada)
    queue = make_queue(world, needed=2, gold=HALF)
    order = []
    while leases := claim(queue, world.ben, 1).leases:
        order.append((leases[0].item_id, leases[0].item.state == Item.State.GOLD))
        judge(queue, world.ben, leases[0].item_id)
    assert {is_check for _, is_check in order} == {True, False}
    counts = []
    for item in (item for item, is_check in order if not is_check):
        judge(queue, world.cleo, item)
        empty = claim(queue, world.ben).empty
        counts.append(empty and empty.second_opinion)
    drops = [before - after for before, after in pairwise([len(order), *counts])]  # type: ignore[operator]
    places = [place for place, (_, is_check) in enumerate(order) if not is_check]
    gaps = [after - before for before, after in pairwise([0, *places[1:], len(order)])]
    assert drops == gaps


def test_a_skipped_item_comes_back_when_nothing_else_is_left(world: World) -> None:
    queue = make_queue(world, pairs=2)
    skipped = only_lease(queue, world.ben)
    skip(queue, world.ben, skipped.item_id, lease=skipped.token)
    other = only_lease(queue, world.ben)
    assert other.item_id != skipped.item_id
    assert items_of(claim(queue, world.ben, 2)) == [other.item_id]
    judge(queue, world.ben, other.item_id)
    assert items_of(claim(queue, world.ben, 2)) == [skipped.item_id]


def test_a_skipped_item_is_free_for_others_at_once(world: World) -> None:
    queue = make_queue(world, pairs=2)
    lease = only_lease(queue, world.ben)
    skip(queue, world.ben, lease.item_id, lease=lease.token)
    assert only_lease(queue, world.cleo).item_id == lease.item_id


def test_what_frees_behind_the_bookmark_is_found(world: World) -> None:
    queue = make_queue(world, pairs=6)
    held = only_lease(queue, world.cleo)
    for lease in claim(queue, world.ben, 6).leases:
        judge(queue, world.ben, lease.item_id)
    release(queue, world.cleo, [held.token])
    assert only_lease(queue, world.ben).item_id == held.item_id


def test_an_empty_queue_says_when_the_next_item_frees(world: World) -> None:
    queue = make_queue(world, pairs=2)
    claim(queue, world.ben, 2, now=NOW)
    empty = claim(queue, world.cleo, now=NOW).empty
    assert empty is not None
    assert (empty.leased, empty.second_opinion, empty.conflict) == (2, 0, 0)
    assert empty.next_free_at == NOW + timedelta(seconds=600)


def test_an_empty_queue_counts_conflicts(world: World) -> None:
    queue = make_queue(world, needed=2, pairs=2)
    for lease in claim(queue, world.ben, 2).leases:
        judge(queue, world.ben, lease.item_id, "relevant")
        judge(queue, world.cleo, lease.item_id, "not_relevant")
    empty = claim(queue, world.ada).empty
    assert empty is not None
    assert empty.conflict == 2


def test_a_paused_queue_hands_nothing_out_and_says_so(world: World) -> None:
    queue = make_queue(world, pairs=2)
    change_state(queue, "paused")
    claimed = claim(queue, world.ben)
    assert claimed.leases == []
    assert claimed.empty is not None
    assert claimed.empty.state == "paused"


def test_a_claim_takes_few_queries(
    world: World, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    queue = make_queue(world, pairs=6)
    lease = only_lease(queue, world.ben)
    judge(queue, world.ben, lease.item_id)
    # Two of them are the savepoint that the test's own transaction makes of ours.
    with django_assert_max_num_queries(9):  # in the stretch that one is in
        claim(queue, world.ben, 1)
    with django_assert_max_num_queries(14):  # and on to the next
        claim(queue, world.ben, 3)


def test_pairs_of_any_query_are_read_in_the_same_words_so_that_a_database_plans_them_once(
    world: World,
) -> None:
    queue = make_queue(world)
    statements: list[set[str]] = []

    def note(execute: Any, statement: str, *rest: Any) -> Any:
        statements[-1].add(statement)
        return execute(statement, *rest)

    leases = claim(queue, world.ben, 6).leases
    with connection.execute_wrapper(note):
        for lease in (leases[0], leases[-1]):
            statements.append(set())
            offers_of(queue, world.ben, [lease])
    first, last = statements
    assert first == last
