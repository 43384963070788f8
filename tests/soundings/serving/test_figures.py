"""Figures for Prometheus: who may read them, what they count, and that a dashboard names no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from labeling.models import Prelabeler, PrelabelJob
from labeling.queues.opening import open_queue
from labeling.signals import items_claimed, verdict_recorded
from pooling.models import Job
from soundings.serving import figures
from tests.patience import PATIENCE_SECONDS
from tests.soundings.processes import ROOT, free_port, start
from tests.world import World

TOKEN = "a-token-of-prometheus"
ASKED = {"Authorization": f"Bearer {TOKEN}"}
DASHBOARD = ROOT / "deploy" / "grafana.json"


@pytest.fixture
def counted(settings: Settings) -> Iterator[None]:
    """A process that counts, until the end of the test."""
    prometheus = pytest.importorskip("prometheus_client", reason="the extra metrics is not installed")
    settings.METRICS_TOKEN = TOKEN
    before = set(prometheus.REGISTRY._collector_to_names)
    figures.start_counting()
    cache.delete("site-state")
    yield
    for collector in set(prometheus.REGISTRY._collector_to_names) - before:
        prometheus.REGISTRY.unregister(collector)
    figures._COUNTERS.clear()
    items_claimed.disconnect(figures._count_claim)
    verdict_recorded.disconnect(figures._count_verdict)
    cache.delete("site-state")


def told(client: Client) -> dict[str, float]:
    """The figures, by name and labels."""
    answer = client.get("/metrics/", headers=ASKED)
    assert answer.status_code == 200
    rows = [line.rpartition(" ") for line in answer.content.decode().splitlines() if line[0] != "#"]
    return {name: float(value) for name, _, value in rows}


def test_only_the_token_and_the_networks_that_are_named_read_figures(
    client: Client, db: None, settings: Settings, counted: None
) -> None:
    assert client.get("/metrics/", headers=ASKED).status_code == 200
    for headers in ({}, {"Authorization": "Bearer another"}, {"Authorization": "Bearer "}):
        assert client.get("/metrics/", headers=headers).status_code == 404
    settings.METRICS_NETWORKS = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
    assert client.get("/metrics/", REMOTE_ADDR="10.1.2.3").status_code == 200
    assert client.get("/metrics/", REMOTE_ADDR="fd00::7").status_code == 200
    assert client.get("/metrics/", REMOTE_ADDR="11.1.2.3").status_code == 404
    settings.PROXIES = 1
    assert (
        client.get("/metrics/", REMOTE_ADDR="10.1.2.3", headers={"X-Forwarded-For": "11.0.0.1"}).status_code
        == 404
    )


def test_without_a_setting_there_is_nothing(client: Client, db: None) -> None:
    assert client.get("/metrics/", headers={"Authorization": "Bearer "}).status_code == 404


def test_what_people_do_is_counted(world: World, client: Client, counted: None) -> None:
    queue = open_queue(world.build_pool(), name="all", seed=1)
    Job.objects.create(collection=world.collection, kind="import")
    model = Prelabeler.objects.create(collection=world.collection, model="m")
    PrelabelJob.objects.create(queue=queue, prelabeler=model, cost=Decimal("1.25"), currency="USD")
    client.force_login(world.ben)
    items = client.post(reverse("api_queue_claim", args=[queue.pk]), {"count": 3}, "application/json").json()
    item = items["items"][0]["item"]
    verdicts = [
        {"item": item, "key": "one", "verdict": "relevant"},
        {"item": item, "key": "two", "verdict": "nonsense"},
    ]
    address = reverse("api_queue_judgments", args=[queue.pk])
    client.post(address, verdicts, "application/json")
    found = told(client)
    assert found["soundings_claimed_items_total"] == 3
    assert found['soundings_claims_total{found="yes"}'] == 1
    assert found['soundings_verdicts_total{status="stored"}'] == 1
    route = 'route="/api/queues/<int:queue_id>/judgments/"'
    assert found[f'soundings_requests_total{{method="POST",{route},status="200"}}'] == 1
    assert found[f"soundings_request_seconds_count{{{route}}}"] == 1
    assert found["soundings_leases"] == 2
    left = queue.items.filter(state="open").count()
    assert found[f'soundings_queue_left{{collection="harbour",queue="{queue.pk}"}}'] == left > 0
    assert found['soundings_jobs{state="queued"}'] == 1
    assert found["soundings_oldest_waiting_job_seconds"] >= 0
    assert found['soundings_model_cost{collection="harbour",currency="USD"}'] == 1.25


def test_every_figure_of_the_dashboard_exists_and_is_in_the_guide(
    world: World, client: Client, counted: None, settings: Settings
) -> None:
    settings.TASKS = {"default": settings.TASKS["default"] | {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    text = client.get("/metrics/", headers=ASKED).content.decode()
    kinds = re.findall(r"^# TYPE (soundings_\w+) (\w+)$", text, flags=re.MULTILINE)
    endings = {"histogram": ("_bucket", "_sum", "_count")}
    exist = {name + ending for name, kind in kinds for ending in endings.get(kind, ("",))}
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = {name for panel in board["panels"] for one in panel["targets"] for name in _named(one["expr"])}
    assert asked
    assert asked - exist == set()
    guide = (ROOT / "templates" / "docs" / "operating.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\| `(soundings_\w+)` \|", guide, flags=re.MULTILINE))
    assert described == {name for name, kind in kinds if not name.endswith("_created")}


def _named(expression: str) -> list[str]:
    return re.findall(r"soundings_\w+", expression)


@pytest.mark.slow
def test_processes_of_one_site_count_together(data_folder: Path) -> None:
    pytest.importorskip("prometheus_client", reason="the extra metrics is not installed")
    import httpx2

    port = free_port()
    served = ["serve", "--only", "web", "--port", str(port), "--workers", "2"]
    site = start(
        data_folder, *served, SOUNDINGS_METRICS_TOKEN=TOKEN, DJANGO_SETTINGS_MODULE="soundings.settings"
    )
    try:
        assert site.stdout
        for line in site.stdout:
            if "Soundings is at" in line:
                break
        url = f"http://127.0.0.1:{port}"
        for _ in range(20):
            httpx2.get(f"{url}/guide/", timeout=PATIENCE_SECONDS)  # each on a connection of its own
        text = httpx2.get(f"{url}/metrics/", headers=ASKED, timeout=PATIENCE_SECONDS).text
    finally:
        site.terminate()
        site.communicate(timeout=PATIENCE_SECONDS)
    row = re.search(r'^soundings_requests_total\{.*route="/guide/".*\} (\S+)$', text, flags=re.MULTILINE)
    assert row
    assert float(row[1]) == 20
