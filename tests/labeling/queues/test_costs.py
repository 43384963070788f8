"""What judgments cost and how long they take, by hand; and who is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from labeling.models import Queue
from labeling.queues.costs import change_prices, cost_of
from labeling.queues.workload import Terms, judgments_needed, team_work
from tests.labeling.helpers import make_queue, only_lease
from tests.world import World

pytestmark = pytest.mark.anywhere


@pytest.mark.parametrize(
    ("options", "gold", "left", "paid", "to_pay", "spent", "to_finish"),
    [
        ({}, 0, 10, (4, 0), 10, 2.0, 5.0),  # 0.50 each
        ({"overhead": 0.2}, 0, 10, (4, 0), 10, 2.4, 6.0),  # a fifth on top of each
        ({"price_per_judgment": 0}, 0, 10, (4, 0), 10, None, None),  # no price is no amount
        ({"gold_share": 0.2}, 0, 10, (4, 0), 10, 2.0, 5.0),  # a share without questions asks none
        ({"gold_share": 0.2}, 3, 10, (4, 0), 12.5, 2.0, 6.25),  # 10 are four fifths
        ({"gold_share": 0.2}, 2, 10, (4, 0), 12, 2.0, 6.0),  # two questions, each asked once
        ({"repeat_share": 0.2}, 0, 10, (4, 1), 12.5, 2.5, 6.25),  # and a repeat is paid as any verdict
        # Half is neither; with one question the rest is four fifths.
        ({"gold_share": 0.3, "repeat_share": 0.2}, 9, 7, (0, 0), 14, 0.0, 7.0),
        ({"gold_share": 0.3, "repeat_share": 0.2}, 1, 7, (0, 0), 10, 0.0, 5.0),
        ({}, 0, 0, (9, 2), 0, 5.5, 0.0),  # done: eleven were paid
    ],
)
def test_cost_so_far_and_to_finish(
    options: dict[str, Any],
    gold: int,
    left: float,
    paid: tuple[int, int],
    to_pay: float,
    spent: float | None,
    to_finish: float | None,
) -> None:
    queue = Queue(**{"price_per_judgment": 0.5, "overhead": 0, "currency": "EUR", **options})
    cost = cost_of(queue, left, gold, paid=paid[0], paid_gold=0, paid_repeats=paid[1])
    assert cost["judgments_to_pay"] == round(to_pay)
    assert cost["spent"] == (None if spent is None else pytest.approx(spent))
    assert cost["to_finish"] == (None if to_finish is None else pytest.approx(to_finish))


@pytest.mark.parametrize(
    ("terms", "needed", "people", "judgments", "cost", "days"),
    [
        # 360 · 10 s = 1 hour, of 7 a week: a day.
        (Terms(seconds=10, hours_per_week=7, price=0.1), 360, 1, 360, 36.0, 1.0),
        # The same by four: a quarter of a day, for as much.
        (Terms(seconds=10, hours_per_week=7, price=0.1), 360, 4, 360, 36.0, 0.25),
        # 20 of the first 25 are pairs; 81 later ones are 90 % of 90: 115 and half on top.
        (Terms(gold_first_share=0.2, gold_share=0.1, price=1, overhead=0.5), 101, 1, 115, 172.5, None),
        # The same where there are eight questions in all: six fewer are asked.
        (Terms(gold_first_share=0.2, gold_share=0.1, gold_questions=8, price=1), 101, 1, 109, 109.0, None),
        # Repeats are among later ones alone: 25 + 75 / 0.75.
        (Terms(repeat_share=0.25, price=1), 100, 1, 125, 125.0, None),
        # Practice is everybody's: 2 · 50 and 2 · 5.
        (Terms(practice_questions=5, price=1), 100, 2, 110, 110.0, None),
        # Three judgments of a pair need three people.
        (Terms(judgments_per_item=2, most_judgments_per_item=3, price=1), 10, 2, None, None, None),
        (Terms(judgments_per_item=3), 30, 3, 30, None, None),
    ],
)
def test_what_a_team_does_and_costs(
    terms: Terms, needed: float, people: int, judgments: float | None, cost: float | None, days: float | None
) -> None:
    work = team_work(needed, terms, people)
    assert work.judgments == (judgments and pytest.approx(judgments))
    assert work.cost == (cost and pytest.approx(cost))
    if days is not None:
        assert work.days == pytest.approx(days)


@pytest.mark.parametrize(
    ("terms", "pairs", "done", "needed"),
    [
        (Terms(2, 3, tie_share=0.25), 8, 0, 18),  # a quarter of eight ties
        (Terms(2, None, tie_share=0.25), 8, 0, 16),  # nobody is asked about a tie
        (Terms(3, 5, tie_share=0.25), 8, 4, 20),  # three cannot tie
        (Terms(4, 5, tie_share=1.0), 3, 1, 14),  # all tie: 3 · 5 − 1
        (Terms(1), 3, 9, 0),  # more than needed is not given back
    ],
)
def test_judgments_that_bring_labels(terms: Terms, pairs: int, done: int, needed: float) -> None:
    assert judgments_needed(pairs, terms, done=done) == pytest.approx(needed)


TERMS = st.builds(
    Terms,
    gold_first_share=st.floats(0, 0.5),
    gold_share=st.floats(0, 0.5),
    gold_questions=st.none() | st.integers(1, 50),
    practice_questions=st.integers(0, 10),
    repeat_share=st.floats(0, 0.2),
    price=st.floats(0.01, 10),
    overhead=st.floats(0, 2),
    seconds=st.floats(1, 600),
    hours_per_week=st.floats(1, 60),
)


@given(terms=TERMS, needed=st.integers(1, 5000), people=st.integers(1, 60))
def test_more_people_are_never_slower_and_nothing_is_cheaper_than_the_labels_alone(
    terms: Terms, needed: int, people: int
) -> None:
    one, more = team_work(needed, terms, people), team_work(needed, terms, people + 1)
    assert one.days is not None
    assert more.days is not None
    assert more.days <= one.days * (1 + 1e-9)
    assert one.judgments is not None
    assert one.gold is not None
    assert 0 <= one.gold <= one.judgments
    least = needed * terms.price * (1 + terms.overhead)
    assert one.cost is not None
    assert one.cost >= least * (1 - 1e-9)
    # Hours and cost tell of the same items.
    assert one.hours_each is not None
    assert one.hours_each * people * 3600 / terms.seconds == pytest.approx(one.judgments)


@pytest.mark.django_db
def test_who_judges_finds_no_price_and_who_looks_on_does(world: World, client: Client) -> None:
    queue = make_queue(world)
    change_prices(queue, {"price_per_judgment": 7.7131, "overhead": 0.1919, "currency": "XTS"}, by=world.ada)
    only_lease(queue, world.ben)
    pages = ["/", "/collections/harbour/", f"/queues/{queue.pk}/", f"/queues/{queue.pk}/judge/"]
    calls = [f"/api/queues/{queue.pk}/", f"/api/queues/{queue.pk}/progress/"]
    for user, is_told in ((world.ben, False), (world.vera, True), (world.ada, True), (world.dan, False)):
        client.force_login(user)
        shown = "".join(client.get(page).content.decode() for page in (*pages, *calls))
        assert ("XTS" in shown) is is_told, user
        assert is_told or not any(amount in shown for amount in ("7.7131", "0.1919"))


@pytest.mark.database
@pytest.mark.django_db
def test_it_is_written_down_who_set_a_price(world: World) -> None:
    queue = make_queue(world)
    api = APIClient()
    api.force_authenticate(world.ada)
    assert (
        api.patch(f"/api/queues/{queue.pk}/", {"price_per_judgment": 0.25}, format="json").status_code == 200
    )
    action = queue.collection.admin_actions.get(action="queue prices changed")
    assert (action.actor, action.detail["price_per_judgment"]) == (world.ada, "0.2500")
