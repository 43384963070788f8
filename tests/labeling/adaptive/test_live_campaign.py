"""A campaign through a live queue in small, with every sentence of the protocol asserted after each act; the
same on real collections is `benchmarks/bench_adaptive.py --hard`."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from benchmarks.live_campaign import RESTLESS, Campaign
from labeling.adaptive.options import AdaptiveOptions
from labeling.queues.score_order import order_by_scores
from pooling.models import Document, Membership
from tests.labeling.helpers import make_adaptive_queue, make_prelabels
from tests.world import World

DOCUMENTS, BUDGET = 40, 54


@pytest.mark.anywhere
@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("rule", ["share", "greedy"])
def test_every_sentence_holds_after_each_act_of_a_restless_campaign(
    world: World, caplog: pytest.LogCaptureFixture, rule: str
) -> None:
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=f"e{number:02}", text="")
        for number in range(DOCUMENTS - 6)
    )
    users = User.objects.bulk_create(
        User(username=f"annotator {number}", password="!") for number in range(6)
    )
    Membership.objects.bulk_create(
        Membership(collection=world.collection, user=user, role="annotator") for user in users
    )
    queue = make_adaptive_queue(
        world,
        2,
        most_judgments_per_item=3,
        documents=DOCUMENTS,
        adaptive=AdaptiveOptions(budget=BUDGET, budget_rule=rule),
    )
    if rule == "share":
        # One of the two starts from a model's scores, which say the same of every document.
        order_by_scores(queue, make_prelabels(world))
    draw = random.Random(1)
    truth: dict[str, dict[str, bool]] = {}
    for query, document in queue.pool.entries.values_list("query__external_id", "document__external_id"):
        truth.setdefault(query, {})[document] = draw.random() < 0.3
    habits = replace(RESTLESS, quarantine_after=50)
    campaign = Campaign(queue, users, truth, seed=1, habits=habits, check_every=50)
    campaign.run()
    assert campaign.judged > 2 * BUDGET
    assert {"skips", "taken back", "revisions", "quarantined", "“can't judge”"} <= set(campaign.done)
    assert not [
        record
        for record in caplog.records
        if record.name == "labeling.adaptive.reordering" and record.exc_info
    ]
