"""The site's own key: who may spend on it, and that a month costs no more than the site says."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from labeling.language_models.site_key import month_of_site_key
from labeling.models import PrelabelJob, Queue
from labeling.prelabels.costs import Prices
from labeling.prelabels.options import prelabeler_for, remove_key, store_key
from labeling.prelabels.passes import PassOptions, cancel_pass, resume_pass, run_here, start_pass
from pooling.interface.problems import InputError
from tests.labeling.helpers import make_queue
from tests.labeling.model_server import KEY, ModelServer
from tests.world import World

pytestmark = pytest.mark.django_db
PRICES = Prices(Decimal(10), Decimal(100))  # each of six pairs 0.003
ALL_SIX = Decimal("0.018")


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world)


@pytest.fixture(autouse=True)
def monthly_sum(server: ModelServer, settings: Settings) -> None:
    server.key = settings.LLM_API_KEY = KEY
    settings.SITE_KEY_MONTHLY_SUM = Decimal(1)


def start(queue: Queue, prompt: str = "binary", **options: Any) -> PrelabelJob:
    prelabeler = prelabeler_for(queue.collection, "small", prompt=prompt)
    return start_pass(queue, prelabeler, PassOptions(prices=PRICES, **options))


def ask(queue: Queue, **options: Any) -> PrelabelJob:
    return run_here(queue, prelabeler_for(queue.collection, "small"), PassOptions(prices=PRICES, **options))


def left() -> Decimal:
    month = month_of_site_key()
    assert month is not None
    return month.left


def test_a_pass_sets_its_budget_aside_and_gives_back_what_it_did_not_need(queue: Queue) -> None:
    job = start(queue, budget=Decimal("0.4"))
    assert left() == Decimal("0.6")
    cancel_pass(job)
    assert left() == 1
    assert ask(queue).cost == ALL_SIX
    assert left() == 1 - ALL_SIX


def test_without_a_budget_a_pass_gets_what_the_month_has_left_and_the_next_one_nothing(queue: Queue) -> None:
    ask(queue, limit=2)
    assert start(queue).budget == 1 - ALL_SIX / 3
    with pytest.raises(InputError, match="used up or set aside"):
        start(queue, "graded")


def test_a_budget_above_what_is_left_is_refused_with_what_is(queue: Queue) -> None:
    start(queue, budget=Decimal("0.4"))
    with pytest.raises(
        InputError, match=r"0\.60 of 1\.00 USD left this month. Choose a budget of at most 0\.6"
    ):
        start(queue, "graded", budget=Decimal("0.7"))
    assert PrelabelJob.objects.count() == 1


def test_a_model_without_a_price_is_refused(queue: Queue) -> None:
    with pytest.raises(InputError, match="needs prices"):
        start_pass(queue, prelabeler_for(queue.collection, "small"), PassOptions())


def test_a_pass_of_an_earlier_month_counts_only_what_it_costs_in_this_one(queue: Queue) -> None:
    job = ask(queue, budget=Decimal("0.05"))
    assert job.state == PrelabelJob.State.PAUSED
    before = job.cost
    assert 0 < before < ALL_SIX
    PrelabelJob.objects.update(site_key_month=date(2020, 1, 1))
    assert left() == 1
    resume_pass(job, budget=Decimal("0.5"))
    assert left() == 1 - (Decimal("0.5") - before)


def test_the_collections_own_key_is_no_part_of_it(queue: Queue, server: ModelServer) -> None:
    store_key(queue.collection, server.base_url, KEY)
    assert ask(queue, limit=3).cost == ALL_SIX / 2
    assert left() == 1
    job = start(queue)
    remove_key(queue.collection, server.base_url)
    from labeling.prelabels.passes import run_in_background

    run_in_background.func(job.pk)
    job.refresh_from_db()
    assert (job.state, job.cost) == (PrelabelJob.State.PAUSED, 0)
    assert "key was removed" in job.detail


def test_only_site_admins_use_it_where_the_site_says_so(
    queue: Queue, world: World, server: ModelServer, settings: Settings, client: Client
) -> None:
    settings.SITE_KEY_USERS = "site-admins"
    api = APIClient()
    api.force_authenticate(world.ada)
    address, body = (
        f"/api/queues/{queue.pk}/prelabels/",
        {"model": "small", "input_price": 10, "output_price": 100},
    )
    refused = api.post(address, body, format="json")
    assert refused.status_code == 400
    assert "Only site admins may use the site's key" in str(refused.json())
    client.force_login(world.ada)
    assert "Only site admins may use" in client.get(f"/queues/{queue.pk}/prelabels/").content.decode()
    world.ada.is_staff = True
    world.ada.save()
    assert api.post(address, body, format="json").status_code == 202


def test_page_and_interface_tell_how_much_is_left(queue: Queue, world: World, client: Client) -> None:
    start(queue, budget=Decimal("0.25"))
    client.force_login(world.ada)
    told = "The site's key is used: 0.75 of 1.00 USD left this month."
    page = client.get(f"/queues/{queue.pk}/prelabels/").content.decode()
    assert told.replace("'", "&#x27;") in page
    api = APIClient()
    api.force_authenticate(world.ada)
    [server] = api.get(f"/api/queues/{queue.pk}/prelabels/").json()["servers"]
    assert server["site_key"] == told
