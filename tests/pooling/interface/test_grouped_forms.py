"""Long forms: what they ask first, what opens by itself, and the figures they show."""

from __future__ import annotations

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from labeling.queues.forms import QueueForm
from pooling.interface.forms import GroupedForm
from pooling.models import Collection
from pooling.pools.building import build_pool
from pooling.pools.views import PoolForm
from tests.world import World

HTMX = {"HTTP_HX_REQUEST": "true"}
POOL = "runs=1&depth=10&strategy=hybrid&name=Pool+1&audit_share=0.2&seed=0&ties=docid&scores=float64"


def is_open(form: GroupedForm) -> dict[str, bool]:
    return {group.heading: group.is_open for group in form.groups}


def test_only_what_is_asked_first_is_seen_at_once(world: World) -> None:
    form = PoolForm(world.collection)
    assert [field.name for field in form.groups[0].fields] == ["runs", "depth", "strategy", "name"]
    assert is_open(form) == {"": True, "Budget and audit": False, "Order of each run": False}


def test_every_field_stands_in_one_group(world: World) -> None:
    world.build_pool()
    form = QueueForm(world.collection)
    shown = [one.name for group in form.groups for one in (*group.fields, *group.when_ticked)]
    assert sorted(shown) == sorted(field.name for field in form.visible_fields())


def test_a_group_opens_for_an_error_and_for_a_value_that_is_not_the_default(world: World) -> None:
    def opened(more: str) -> dict[str, bool]:
        return is_open(PoolForm(world.collection, QueryDict(f"{POOL}&{more}")))

    assert not any(list(opened("").values())[1:])
    assert opened("budget=no")["Budget and audit"]
    assert opened("budget=30") == {"": True, "Budget and audit": True, "Order of each run": False}
    assert opened("ties=rank")["Order of each run"]


def test_options_of_a_tick_box_stand_behind_it(world: World) -> None:
    world.build_pool()
    group = next(one for one in QueueForm(world.collection).groups if one.when_ticked)
    assert [field.name for field in group.fields] == ["adaptive"]
    assert "stop_missing" in [field.name for field in group.when_ticked]


def test_the_form_of_a_pool_answers_while_it_is_filled_in(world: World, client: Client) -> None:
    runs = world.import_runs()
    client.force_login(world.ada)
    address = reverse("pool_new", args=["harbour"])
    asked = {"runs": [run.pk for run in runs], "depth": 1, "strategy": "rrf"}
    page = client.get(address, {**asked, "depth": 2, "budget": 5}, **HTMX).content.decode()
    assert "Pairs down to the depth" in page
    assert "<dt>Chosen</dt><dd>5" in page
    pool = build_pool(world.collection, name="built", runs=runs, depth=2)
    assert f"<dd>{pool.pair_count} " in page
    assert "whole number" in client.get(address, {**asked, "depth": "x"}, **HTMX).content.decode()
    assert "audit share" in client.get(address, {**asked, "audit_share": 2}, **HTMX).content.decode().lower()
    client.force_login(world.vera)
    assert client.get(address, asked, **HTMX).status_code == 403


def test_the_form_of_a_queue_answers_while_it_is_filled_in(world: World, client: Client) -> None:
    pool = world.build_pool(depth=2)
    client.force_login(world.ada)
    address = reverse("queue_new", args=["harbour"])
    page = client.get(address, {"pool": pool.pk, "judgments_per_item": 3}, **HTMX).content.decode()
    assert f"<dt>Pairs to judge</dt><dd>{pool.pair_count}<" in page
    assert f"<dt>Judgments</dt><dd>{3 * pool.pair_count} " in page
    assert "Without a text" not in page
    world.collection.documents.update(text=None)
    page = client.get(address, {"pool": pool.pk, "judgments_per_item": 3}, **HTMX).content.decode()
    assert f"<dt>Without a text</dt><dd>{pool.pair_count} " in page
    refused = client.get(
        address, {"pool": pool.pk, "judgments_per_item": 3, "most_judgments_per_item": 5}, **HTMX
    )
    assert "never tie" in refused.content.decode()


@pytest.mark.usefixtures("everyone_creates")
def test_a_short_name_is_made_from_the_name(world: World, client: Client) -> None:
    client.force_login(world.ada)
    for name in ("Help centre: März", "Help centre: März", "Справка"):
        client.post(reverse("collection_new"), {"name": name, "question": "Does it help?"})
    made = Collection.objects.exclude(pk=world.collection.pk).order_by("pk")
    assert [one.slug for one in made] == ["help-centre-marz", "help-centre-marz-2", "collection"]


def test_guidelines_are_previewed_as_annotators_will_see_them(world: World, client: Client) -> None:
    address = reverse("guidelines_preview")
    assert client.post(address, {"guidelines": "*a*"}).status_code == 302
    client.force_login(world.ada)
    page = client.post(address, {"guidelines": "*a* <script>alert(1)</script>"}).content.decode()
    assert "<em>a</em>" in page
    assert "<script>" not in page
