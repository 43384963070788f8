"""Every page of a collection marks its group and itself, and offers nobody what they may not open."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from labeling.models import JudgmentImport
from pooling.engines.options import EngineSettings
from pooling.engines.stored import create_engine
from pooling.models import Collection, Document, Query, TextImport
from pooling.tidying.doing import delete, restore
from pooling.tidying.kinds import KINDS
from soundings.pages.navigation import GROUPS
from tests.evaluation.canary_cast import make_canary
from tests.evaluation.cast import make_report
from tests.evaluation.indexes.test_latency_reports import make_latency_report
from tests.evaluation.plans.test_replays import make_replay
from tests.labeling.helpers import make_prelabels, make_queue
from tests.world import World


class Marks(HTMLParser):
    """The links that are marked as current within each navigation of a page, by the navigation's name."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: dict[str, list[tuple[str, str]]] = {}
        self._within = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "nav":
            self._within = values.get("aria-label") or ""
            self.found[self._within] = []
        elif self._within and values.get("aria-current"):
            self.found[self._within].append((values.get("href") or "", values["aria-current"] or ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "nav":
            self._within = ""


def marks(user: User, address: str) -> dict[str, list[tuple[str, str]]]:
    client = Client()
    client.force_login(user)
    return Marks(client.get(address, follow=True).content.decode()).found


def campaign(world: World) -> dict[str, int | str]:
    """One row of each kind, by the name it has in addresses."""
    pool = world.build_pool()
    queue = make_queue(world)
    report = make_report(world)
    return {
        "slug": world.collection.slug,
        "run_id": world.collection.runs.all()[0].pk,
        "pool_id": pool.pk,
        "queue_id": queue.pk,
        "prelabeler_id": make_prelabels(world).pk,
        "release_id": report.release_id,
        "report_id": report.pk,
        "replay_id": make_replay(world).pk,
        "canary_id": make_canary(world, tag="", measure="recall@2").pk,
        "engine_id": create_engine(
            world.collection, "shop", EngineSettings(address="https://host/?q={{query}}", id_path="r[*].id")
        ).pk,
        "job_id": world.collection.jobs.create(kind="report", state="done").pk,
    }


def addresses(known: dict[str, int | str], latency_report: int) -> Iterator[tuple[str, str]]:
    """The name and the address of each page that needs no more than `known`."""
    waiting: list[URLPattern | URLResolver] = list(get_resolver().url_patterns)
    for pattern in waiting:
        if isinstance(pattern, URLResolver):
            if pattern.namespace is None and str(pattern.pattern) != "api/":
                waiting.extend(pattern.url_patterns)
            continue
        wanted = set(pattern.pattern.regex.groupindex)
        if pattern.name == "tidy":
            yield from _tidy(known, latency_report)
        elif pattern.name and wanted and wanted <= set(known):
            values = known | {"report_id": latency_report} if pattern.name.startswith("latency") else known
            yield pattern.name, reverse(pattern.name, kwargs={name: values[name] for name in wanted})


def _tidy(known: dict[str, int | str], latency_report: int) -> Iterator[tuple[str, str]]:
    """The page that puts one thing away, for one of each kind."""
    ids = {name.removesuffix("_id"): number for name, number in known.items()}
    ids |= {"index": latency_report, "collection": Collection.objects.get().pk}
    ids |= {"query": Query.objects.first().pk, "document": Document.objects.first().pk}  # type: ignore[union-attr]
    made = TextImport.objects.create(collection=Collection.objects.get(), of=TextImport.QUERIES, name="file")
    ids["import"] = made.pk
    now = timezone.now()
    judged = JudgmentImport.objects.create(collection=made.collection, name="file", imported_at=now)
    ids["judgment-import"] = judged.pk
    for kind in KINDS:
        yield f"tidy {kind}", reverse("tidy", args=[known["slug"], kind, ids[kind]])


@pytest.mark.slow
def test_every_page_of_a_collection_marks_one_group_and_one_page(world: World) -> None:
    known = campaign(world)
    client = Client()
    client.force_login(world.ada)
    wrong, seen = {}, set()
    for name, address in addresses(known, make_latency_report(world).pk):
        response = client.get(address)
        if response.status_code != 200 or not response["Content-Type"].startswith("text/html"):
            continue
        found = Marks(response.content.decode()).found
        if "Collection" in found:
            seen.add(name)
            tabs = found.get(_current_group(found), [])
            if len(found["Collection"]) != 1 or len(tabs) != 1:
                wrong[name] = found
    assert wrong == {}
    # A single queue's quality page stands for the list of all.
    assert {page.address for group in GROUPS for page in group.pages} - seen == {"collection_quality"}
    assert {
        "run",
        "pool",
        "queue",
        "quality",
        "report",
        "report_where",
        "canary_edit",
        "job",
        "tidy index",
        "tidy query",
    } <= seen


def _current_group(found: dict[str, list[tuple[str, str]]]) -> str:
    """The name of the navigation below that of the collection."""
    return next((name for name in found if name in {group.label for group in GROUPS}), "")


def test_the_page_itself_and_one_below_it_are_told_apart(world: World) -> None:
    (run, _) = world.import_runs()
    runs = reverse("runs", args=["harbour"])
    assert marks(world.ada, runs) == {
        "Collection": [(reverse("queries", args=["harbour"]), "true")],
        "Data": [(runs, "page")],
    }
    assert marks(world.ada, run.get_absolute_url())["Data"] == [(runs, "true")]


def test_nobody_is_offered_what_they_may_not_open(world: World) -> None:
    overview = reverse("collection", args=["harbour"])
    offered = {}
    for user in (world.ada, world.vera, world.ben):
        client = Client()
        client.force_login(user)
        page = client.get(overview).content.decode()
        shown = {
            item.address
            for group in GROUPS
            for item in group.pages
            if f'href="{reverse(item.address, args=["harbour"])}"' in page
        }
        assert {client.get(reverse(name, args=["harbour"])).status_code for name in shown} == {200}
        offered[user.get_username()] = shown
    assert offered["ben"] == {"collection", "queues"}
    assert offered["ada"] - offered["vera"] == {
        "activity",
        "collection_edit",
        "engines",
        "gold",
        "messages",
        "prelabelers",
        "tidied",
        "webhooks",
    }


def test_the_quality_of_a_collection_is_that_of_its_queue_or_a_choice(world: World, client: Client) -> None:
    client.force_login(world.vera)
    address = reverse("collection_quality", args=["harbour"])
    none = "No queue of pairs. Archived and deleted queues are not listed."
    assert none in client.get(address).content.decode()
    first = make_queue(world, name="June")
    delete(first, by=world.ada)
    assert none in client.get(address).content.decode()
    restore(first, by=world.ada)
    assert client.get(address).headers["Location"] == reverse("quality", args=[first.pk])
    make_queue(world, name="July")
    page = client.get(address).content.decode()
    assert "June" in page
    assert "July" in page
    client.force_login(world.ben)
    assert client.get(address).status_code == 403
