"""What a plan says of money and time, by hand, and what its queue says of them once it is open."""

from __future__ import annotations

from typing import Any

import pytest

from labeling.gold.questions import NewQuestion, add_question
from labeling.models import Queue
from labeling.progress.counts import queue_progress
from tests.evaluation.cast import make_release
from tests.evaluation.plans.test_plans import ALONE, API, planned
from tests.evaluation.reports.test_report_api import client_of
from tests.world import World

pytestmark = pytest.mark.anywhere

# Of both runs to depth 2 there are eight pairs. An hour a day, and 36 seconds for a verdict: 100 a day.
PACE = {"depth": 2, "seconds_per_judgment": 36, "hours_per_week": 7, "price_per_judgment": 0.5, "overhead": 0}


@pytest.mark.parametrize(
    ("asked", "judgments", "cost", "days"),
    [
        ({}, 8, 4.0, 0.08),
        ({"overhead": 0.2}, 8, 4.8, 0.08),  # a fifth more for each
        ({"judgments_per_item": 3}, 24, 12.0, 0.24 / 3),  # three people at least, who share it
        (
            {"judgments_per_item": 2, "most_judgments_per_item": 3, "tie_share": 1},
            24,
            12.0,
            0.24 / 3,
        ),  # all tie
        ({"practice_questions": 4}, 12, 6.0, 0.12),  # paid as any other
        ({"gold_first_share": 0.2}, 10, 5.0, 0.1),  # eight are four fifths of ten
        ({"budget": 6}, 6, 3.0, 0.06),
        ({"depth": 1}, 6, 3.0, 0.06),
        ({"price_per_judgment": 0}, 8, None, 0.08),  # no price is no amount
    ],
)
def test_cost_and_days_of_as_few_people_as_can_do_it(
    world: World, asked: dict[str, Any], judgments: float, cost: float | None, days: float
) -> None:
    world.import_runs()
    rows = planned(world, **{**PACE, "annotators": 3, **asked})["work"]["by_annotators"]
    row = next(row for row in rows if row["judgments"] is not None)
    assert row["judgments"] == pytest.approx(judgments)
    assert row["cost"] == (cost and pytest.approx(cost))
    assert row["days"] == pytest.approx(days)
    # Practice apart, who is many is as cheap and sooner ready.
    able = [row for row in rows if row["judgments"] is not None]
    assert [row["days"] for row in able] == sorted((row["days"] for row in able), reverse=True)


def test_a_plan_charges_no_more_gold_questions_than_there_are(world: World) -> None:
    world.import_runs()
    add_question(world.collection, NewQuestion("q1", "d3", "not_relevant"), user=world.ada)
    plan = planned(world, **PACE, gold_first_share=0.5)
    rows = {row["annotators"]: row for row in plan["work"]["by_annotators"]}
    assert [(rows[people]["gold"], rows[people]["judgments"]) for people in (1, 2)] == [(1, 9), (2, 10)]
    sentences = [row["sentence"] for row in plan["supposed"]]
    assert "The collection has 1 gold question, and nobody sees one twice." in sentences


@pytest.mark.database
@pytest.mark.parametrize(
    ("asked", "labels"),
    [
        ({}, ""),
        ({"judgments_per_item": 2, "overhead": 0.5}, ""),
        ({"budget": 6}, ""),
        ({}, "q1 0 d1 1\nq2 0 d2 1\n"),
        ({"audit_share": 0.2, "reach": 100}, ""),
        ({"budget": 7, "audit_share": 0.5, "reach": 100}, ""),
    ],
    ids=["plain", "twice", "budget", "labels", "reach", "reach and budget"],
)
def test_a_queue_costs_what_its_plan_said(world: World, asked: dict[str, Any], labels: str) -> None:
    world.import_runs()
    if labels:
        make_release(world, labels)
    plan = planned(world, **{**PACE, **asked})
    begun = client_of(world.ada).post(API, {"name": "spring", **ALONE, **PACE, **asked}, format="json")
    assert begun.status_code == 201, begun.json()
    cost = queue_progress(Queue.objects.get())["cost"]
    row = plan["work"]["by_annotators"][-1]
    assert (cost["spent"], cost["to_finish"]) == (0, pytest.approx(row["cost"]))
    assert cost["judgments_to_pay"] == pytest.approx(row["judgments"])


def test_the_more_pairs_are_drawn_the_narrower_the_interval_and_all_of_them_leave_none(world: World) -> None:
    world.import_runs()
    asked = {"depth": 3, "relevant_share": 0.3, "audit_share": 1.0}
    plans = [planned(world, **asked, budget=budget)["recall_interval"] for budget in (6, 9, 12)]
    widths = [one["mean_width"] for one in plans]
    assert 1 >= widths[0] > widths[1] > widths[2] == 0
    assert all(row["low"] == row["value"] == row["high"] for row in plans[2]["by_run"])
