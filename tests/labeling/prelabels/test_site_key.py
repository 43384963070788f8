"""The site's own key: who may spend on it, and that no pass of a collection moves to it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from labeling.models import PrelabelJob, Queue
from labeling.prelabels import options as prelabel_options
from labeling.prelabels.costs import Prices
from labeling.prelabels.options import prelabeler_for, remove_key, store_key
from labeling.prelabels.passes import PassOptions, run_here, start_pass
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
def site_key(server: ModelServer, settings: Settings) -> None:
    server.key = settings.LLM_API_KEY = KEY


def start(queue: Queue, prompt: str = "binary", **options: Any) -> PrelabelJob:
    prelabeler = prelabeler_for(queue.collection, "small", prompt=prompt)
    return start_pass(queue, prelabeler, PassOptions(prices=PRICES, **options))


def ask(queue: Queue, **options: Any) -> PrelabelJob:
    return run_here(queue, prelabeler_for(queue.collection, "small"), PassOptions(prices=PRICES, **options))


def test_the_collections_own_key_is_no_part_of_it(queue: Queue, server: ModelServer) -> None:
    store_key(queue.collection, server.base_url, KEY)
    assert ask(queue, limit=3).cost == ALL_SIX / 2
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


def test_a_key_is_stored_and_removed_with_its_line_in_the_log_or_not_at_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, keys = "http://localhost:9/v1", world.collection.model_server_keys

    def fail(*given: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(prelabel_options, "record_action", fail)
        with pytest.raises(OSError, match="full"):
            store_key(world.collection, url, KEY, by=world.ada)
        assert not keys.exists()
    store_key(world.collection, url, KEY, by=world.ada)
    monkeypatch.setattr(prelabel_options, "record_action", fail)
    with pytest.raises(OSError, match="full"):
        remove_key(world.collection, url, by=world.ada)
    assert keys.exists()
