"""Every page that the demo leads to: as an admin, a viewer and an annotator see it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import Resolver404, resolve, reverse
from pytest_django import DjangoDbBlocker, Settings

from evaluation.models import Canary, LatencyReport, Replay, Report
from labeling.models import Prelabeler, Queue
from pooling.models import Collection, Role
from pooling.people.membership import add_member
from soundings.demo.steps import SLUG
from soundings.installation.first_use import DEMO_ADMIN, DEMO_ANNOTATOR

LINK = re.compile(r'<a [^>]*?href="([^"]+)"')
# Other tests download files and draw pictures; and the session must not end on the way.
NOT_FOLLOWED = re.compile(r"^/(sign-out|admin|api|guide|static|media|s)/|/download|\.\w+$|/export")
# Of pages that there are many of, one for each query, document or pair, a few tell of all.
MOST_OF_A_VIEW = 3


def links_of(page: str) -> Iterator[str]:
    """The paths of our pages that a page links to, without what comes after the question mark."""
    for address in LINK.findall(page):
        parts = urlsplit(unescape(address))
        if not parts.netloc and parts.path.startswith("/") and not NOT_FOLLOWED.search(parts.path):
            yield parts.path if "=" not in parts.query else f"{parts.path}?{parts.query}"


def view_of(address: str) -> str:
    try:
        return resolve(urlsplit(address).path).view_name
    except Resolver404:
        return address


def crawled(client: Client) -> dict[str, int]:
    """The status of every page that can be reached from the home page by links."""
    found: dict[str, int] = {}
    seen_of_view: dict[str, int] = {}
    waiting = ["/"]
    while waiting:
        address = waiting.pop(0)
        view = view_of(address)
        if address in found or seen_of_view.get(view, 0) >= MOST_OF_A_VIEW:
            continue
        seen_of_view[view] = seen_of_view.get(view, 0) + 1
        response = client.get(address)
        found[address] = response.status_code
        if response.status_code == 200 and "text/html" in response["Content-Type"]:
            waiting += links_of(response.content.decode())
    return found


def main_pages() -> dict[str, str]:
    """The pages that somebody who tries the demo opens first."""
    collections = ("collection", "queries", "documents", "runs", "pools", "queues", "gold", "releases")
    results = ("reports", "replays", "latency_reports", "canaries", "activity", "jobs", "members")
    report = Report.objects.latest("pk")
    pages = {name: reverse(name, args=[SLUG]) for name in (*collections, *results, "prelabelers")}
    of_report = ("report", "report_comparisons", "report_where", "report_queries", "report_charts")
    pages |= {name: reverse(name, args=[report.pk]) for name in of_report}
    pages["report_comparisons"] += "?a=bm25&b=lsa"  # no unjudged document tells the best two apart
    pages["quality"] = reverse("quality", args=[Queue.objects.earliest("pk").pk])
    return pages


@pytest.fixture
def collection(
    demo: tuple[Path, str],
    tmp_path: Path,
    settings: Settings,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Collection]:
    """The demo's, in a copy of its database, which is the one of this process for the time of the test."""
    folder = shutil.copytree(demo[0], tmp_path / "demo")
    settings.MEDIA_ROOT = folder / "files"
    with django_db_blocker.unblock():
        connection.close()
        given = connection.settings_dict["NAME"]
        connection.settings_dict["NAME"] = str(folder / "soundings.sqlite3")
        try:
            yield Collection.objects.get(slug=SLUG)
        finally:
            connection.close()
            connection.settings_dict["NAME"] = given


@pytest.mark.slow
def test_every_page_of_the_demo_answers_each_role_and_the_main_ones_have_something_to_see(
    demo: tuple[Path, str], collection: Collection, client: Client
) -> None:
    assert "Released the qrels “v2”" in demo[1]
    _has_two_weeks_an_audit_a_canary_and_a_model(collection)
    viewer = User.objects.create_user("viewer")
    add_member(collection, "viewer", Role.VIEWER)

    client.force_login(User.objects.get(username=DEMO_ADMIN))
    reached = crawled(client)
    assert {address: status for address, status in reached.items() if status not in (200, 302)} == {}
    assert len({view_of(address) for address in reached}) > 40
    pages = {name: client.get(address).content.decode() for name, address in main_pages().items()}
    assert [name for name, page in pages.items() if 'class="empty"' in page] == []

    for person, least in ((viewer, 20), (User.objects.get(username=DEMO_ANNOTATOR), 5)):
        client.force_login(person)
        offered = crawled(client)
        assert {address: status for address, status in offered.items() if status not in (200, 302)} == {}
        assert len({view_of(address) for address in offered}) > least
        others = {address: client.get(address).status_code for address in reached.keys() - offered.keys()}
        refused = {address: status for address, status in others.items() if status not in (200, 302, 403)}
        assert refused == {}


def _has_two_weeks_an_audit_a_canary_and_a_model(collection: Collection) -> None:
    first, second = Report.objects.filter(collection=collection).order_by("created_at")
    assert (second.created_at - first.created_at).days >= 5
    assert set(second.result["runs"]) - set(first.result["runs"]) == {"lsa-2"}
    recall = {name: of_run["recall@10"]["mean"] for name, of_run in second.result["runs"].items()}
    assert recall["lsa-2"] > recall["lsa"]
    assert second.result["estimates"]["pool"]["name"] == "Top 20, version 2"
    assert Canary.objects.get(collection=collection).stretches.get().values.filter(run__name="lsa-2").exists()
    assert not collection.jobs.exclude(state="done").exists()
    for model in (Replay, LatencyReport, Prelabeler):
        assert model._default_manager.filter(collection=collection).exists()
