"""The page and the HTTP interface of pre-labels: what admins do there, and nobody else."""

from __future__ import annotations

import socket
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from labeling.models import Prelabel, PrelabelFailure, PrelabelJob, Queue
from labeling.prelabels.page import models_of
from pooling.models import Document
from tests.labeling.helpers import make_prelabels, make_queue
from tests.labeling.model_server import KEY, ModelServer
from tests.world import World

pytestmark = [pytest.mark.anywhere, pytest.mark.django_db]
FORM = {"model": "small", "prompt": "binary", "concurrency": "4"}


@pytest.fixture
def server(server: ModelServer, settings: Settings) -> ModelServer:
    server.key = KEY
    settings.LLM_PRICES = ["small=10/100"]
    settings.LLM_API_KEY = KEY
    return server


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world)


@pytest.fixture
def api(world: World) -> APIClient:
    client = APIClient()
    client.force_authenticate(world.ada)
    return client


def form(server: ModelServer, **changes: str) -> dict[str, str]:
    return {**FORM, "base_url": server.base_url, **changes}


@pytest.mark.database
def test_an_admin_estimates_starts_and_downloads(
    queue: Queue, server: ModelServer, world: World, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    client.force_login(world.ada)
    page = f"/queues/{queue.pk}/prelabels/"
    told = client.post(f"{page}start/", {**form(server), "estimate": "1"}).content.decode()
    assert "Estimate: small, binary v1" in told
    assert server.requests == []
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"{page}start/", form(server, budget="2.5"))
    shown = client.get(page).content.decode()
    assert "0.0180" in shown
    assert "of 2.5" in shown
    assert KEY not in shown
    prelabeler = Prelabel.objects.first().prelabeler_id  # type: ignore[union-attr]
    file = client.get(f"{page}{prelabeler}/csv/")
    assert file["Content-Disposition"].startswith("attachment")
    assert len(file.content.splitlines()) == 7
    assert (
        "small"
        not in client.get(page, headers={"HX-Request": "true"}).content.decode().partition("<table")[0]
    )


def test_a_pass_without_an_answer_offers_to_retry_its_pairs(
    queue: Queue, server: ModelServer, world: World, client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    client.force_login(world.ada)
    page = f"/queues/{queue.pk}/prelabels/"
    server.fault_of = lambda query, document: "refusal"
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"{page}start/", form(server))
    text = client.get(page).content.decode()
    assert "No pair got an answer: 6 pairs failed, for example q" in text
    assert ": I cannot help with that. Retry failed pairs in another pass." in text
    assert ">Retry failed pairs</a>" in text
    assert 'value="resume"' not in text


@pytest.mark.database
def test_what_will_not_do_is_said_beside_its_field(
    queue: Queue, server: ModelServer, world: World, client: Client
) -> None:
    client.force_login(world.ada)
    start = f"/queues/{queue.pk}/prelabels/start/"
    for changes, said in (
        ({"model": "unpriced", "budget": "1"}, "A budget needs the prices"),
        ({"threshold": "2"}, "Only a graded prompt has a threshold"),
        ({"base_url": "http://169.254.169.254/v1"}, "not one of the available choices"),
        ({"input_price": "1"}, "Give both prices"),
    ):
        assert said in client.post(start, form(server, **changes)).content.decode()
    assert not PrelabelJob.objects.exists()


def test_without_server_or_key_the_page_says_so(
    queue: Queue, world: World, client: Client, settings: Settings
) -> None:
    client.force_login(world.ada)
    page = f"/queues/{queue.pk}/prelabels/"
    settings.LLM_SERVERS = ["https://api.openai.com/v1"]
    assert "Everything except pre-labels works without" in client.get(page).content.decode()
    settings.LLM_SERVERS = []
    assert "No language model server is configured" in client.get(page).content.decode()


def test_a_stored_key_is_never_shown(queue: Queue, server: ModelServer, world: World, client: Client) -> None:
    client.force_login(world.ada)
    page = f"/queues/{queue.pk}/prelabels/"
    body = {"key_server": server.base_url, "key": "sk-other-998877"}
    shown = client.post(f"{page}key/", body, follow=True).content.decode()
    assert "saved" in shown
    assert "sk-other" not in shown
    broken = client.post(f"{page}key/", {**body, "key": "sk-with blank"}).content.decode()
    assert "without spaces" in broken
    assert "sk-with" not in broken
    assert "is removed" in client.post(f"{page}key/", {**body, "key": ""}, follow=True).content.decode()
    assert not queue.collection.model_server_keys.exists()


def test_what_was_had_without_a_price_is_not_said_to_cost_nothing(
    queue: Queue,
    server: ModelServer,
    api: APIClient,
    world: World,
    client: Client,
    settings: Settings,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.LLM_PRICES = []
    place = f"/api/queues/{queue.pk}/prelabels/"
    with django_capture_on_commit_callbacks(execute=True):
        api.post(place, {"model": "small"}, format="json")
    (row,) = api.get(place).json()["models"]
    assert (row["answered"], row["cost"]) == (6, None)
    told = api.get(f"/api/prelabelers/{row['prelabeler']['id']}/").json()
    assert (told["spent"], told["cost"]["per_pair"]) == (None, None)
    client.force_login(world.ada)
    assert "no prices" in client.get(f"/prelabelers/{row['prelabeler']['id']}/").content.decode()
    page = client.get(f"/queues/{queue.pk}/prelabels/").content.decode()
    assert "no prices" in page
    assert "People judge blind. No verdict asks for a second opinion." in page


def test_the_interface_estimates_starts_pauses_resumes_and_downloads(
    queue: Queue, server: ModelServer, api: APIClient, django_capture_on_commit_callbacks: Any
) -> None:
    place = f"/api/queues/{queue.pk}/prelabels/"
    body = {"model": "small", "budget": 1, "limit": 4}
    estimate = api.post(f"{place}estimate/", body, format="json").json()
    assert (estimate["to_ask"], estimate["rests_on"], server.requests) == (4, 0, [])
    assert len(estimate["cost"]) == 2
    started = api.post(place, body, format="json")
    assert (started.status_code, started.json()["state"]) == (202, "queued")
    assert api.post(place, body, format="json").status_code == 409
    one = f"/api/prelabel-passes/{started.json()['id']}/"
    assert api.post(one, {"action": "pause"}, format="json").json()["state"] == "paused"
    with django_capture_on_commit_callbacks(execute=True):
        api.post(one, {"action": "resume", "budget": 2}, format="json")
    done = api.get(one).json()
    assert (done["state"], done["answered_count"], done["cost"], done["budget"]) == ("done", 4, 0.012, 2)
    told = api.get(place).json()
    assert (told["models"][0]["answered"], len(told["passes"])) == (4, 1)
    number = told["models"][0]["prelabeler"]["id"]
    assert api.get(f"{place}qrels/?prelabeler={number}&format=trec").content.count(b" llm:small:") == 4
    assert api.get(f"{place}qrels/?prelabeler=x").status_code == 400
    assert api.post(one, {"action": "cancel"}, format="json").status_code == 409


def test_what_a_model_cost_is_for_admins_and_no_key_is_for_anybody(
    queue: Queue,
    server: ModelServer,
    world: World,
    client: Client,
    api: APIClient,
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = api.post(
            f"/api/queues/{queue.pk}/prelabels/", {"model": "small", "budget": 1.7131}, format="json"
        )
    model, own = job.json()["prelabeler"]["id"], f"/queues/{queue.pk}/prelabels/"
    costly = [own, f"/api{own}", f"/api/prelabel-passes/{job.json()['id']}/", f"/prelabelers/{model}/"]
    others = ["/", "/collections/harbour/", f"/queues/{queue.pk}/", f"/queues/{queue.pk}/judge/"]
    others += ["/collections/harbour/activity/", f"/api/queues/{queue.pk}/progress/"]
    told = {}
    for name in ("ada", "vera", "ben", "dan"):
        client.force_login(getattr(world, name))
        shown = "".join(client.get(page).content.decode() for page in (*costly, *others))
        assert KEY not in shown
        # With what stands around it: times and seconds taken can have these digits as well.
        told[name] = ('"cost":0.018' in shown, ">0.0180" in shown, "1.7131" in shown)
    assert told.pop("ada") == (True, True, True)
    assert told == dict.fromkeys(("vera", "ben", "dan"), (False, False, False))


def test_an_estimate_is_at_the_prices_that_are_given_else_those_of_the_settings(
    queue: Queue, server: ModelServer, api: APIClient, settings: Settings
) -> None:
    settings.LLM_PRICES = ["small=10/100"]

    def cost(**options: Any) -> Any:
        answer = api.post(
            f"/api/queues/{queue.pk}/prelabels/estimate/", {"model": "small", **options}, format="json"
        )
        return answer.json()["cost"]

    assert cost() == cost(input_price=10, output_price=100)
    # Six answers of 20 to 300 tokens, and nothing for what is read.
    assert cost(input_price=0, output_price=100) == [pytest.approx(0.012), pytest.approx(0.18)]
    assert cost(input_price=0, output_price=0) == [0, 0]
    assert cost(model="unpriced") is None
    assert server.requests == []


@pytest.mark.database
def test_a_pass_whose_process_is_gone_is_shown_as_paused_after_a_moment(
    queue: Queue, server: ModelServer, world: World, client: Client, api: APIClient
) -> None:
    client.force_login(world.ada)
    place = f"/queues/{queue.pk}/prelabels/"
    job = api.post(f"/api{place}", {"model": "small"}, format="json").json()["id"]
    gone = {"state": "running", "worker": f"{socket.gethostname()}:{2**22 + 1}"}
    for seconds, state in ((5, "running"), (60, "paused")):
        seen = timezone.now() - timedelta(seconds=seconds)
        PrelabelJob.objects.filter(pk=job).update(**gone, seen_at=seen)
        shown = client.get(place).content.decode()
        assert PrelabelJob.objects.get(pk=job).state == state
    assert "No answers are lost" in shown


def test_the_page_of_a_queue_leads_admins_alone_to_its_pre_labels(
    queue: Queue, world: World, client: Client
) -> None:
    told = {}
    for user in (world.ada, world.ben, world.vera):
        client.force_login(user)
        told[user.username] = "prelabels" in client.get(f"/queues/{queue.pk}/").content.decode()
    assert told == {"ada": True, "ben": False, "vera": False}


@pytest.mark.database
def test_failures_are_those_of_the_queues_pairs_and_part_of_the_cost(world: World, queue: Queue) -> None:
    prelabeler = make_prelabels(world)
    Prelabel.objects.update(cost=Decimal("0.01"))
    other = Document.objects.create(collection=world.collection, external_id="elsewhere", text="Elsewhere.")
    item = queue.items.first()
    assert item
    for document in (item.document, other):
        PrelabelFailure.objects.create(
            prelabeler=prelabeler,
            query=item.query,
            document=document,
            reason="malformed",
            cost=Decimal("0.5"),
            document_version=1,
            failed_at=timezone.now(),
        )
    (row,) = models_of(queue)
    assert row.failures == {"the answer could not be read": 1}
    assert row.cost == Decimal("0.56")
