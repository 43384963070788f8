"""Pools for other tools."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from pooling.models import Document, PoolEntry
from tests.world import DOCUMENTS, QUERIES, World


def exported(world: World, name: str, *options: str) -> str:
    path = world.folder / "pool.out"
    call_command("export_pool", "harbour", name, *options, "--output", str(path), stdout=io.StringIO())
    return path.read_text()


def test_label_studio_tasks_hold_texts_and_nothing_of_ranks(world: World) -> None:
    pool = world.build_pool()
    tasks = json.loads(exported(world, pool.name, "--format", "label-studio"))
    pairs = {(task["data"]["query_id"], task["data"]["document_id"]) for task in tasks}
    first = tasks[0]["data"]

    assert pairs == set(PoolEntry.objects.values_list("query__external_id", "document__external_id"))
    assert len(tasks) == len(pairs)
    assert {key for task in tasks for key in (*task, *task["data"])} == {
        "data", "query_id", "query", "narrative", "document_id", "title", "text",
    }  # fmt: skip
    assert first["query"] == QUERIES[first["query_id"]]
    assert (first["title"], first["text"]) == DOCUMENTS[first["document_id"]]


def test_the_order_of_tasks_is_not_that_of_the_pool(world: World) -> None:
    pool = world.build_pool(depth=3)
    before = exported(world, pool.name, "--format", "label-studio")
    for entry in PoolEntry.objects.all():
        PoolEntry.objects.filter(pk=entry.pk).update(position=100 - entry.position, best_rank=50)

    assert exported(world, pool.name, "--format", "label-studio") == before


def test_page_call_and_command_give_the_same_file(world: World) -> None:
    pool = world.build_pool()
    client, api = Client(), APIClient()
    client.force_login(world.vera)
    api.force_authenticate(world.vera)
    for name in ("tsv", "label-studio"):
        page = client.get(reverse("pool_download", args=["harbour", pool.pk]), {"format": name})
        call = api.get(f"/api/pools/{pool.pk}/file/", {"format": name})
        assert (
            b"".join(page).decode() == b"".join(call).decode() == exported(world, pool.name, "--format", name)
        )
    assert client.get(reverse("pool_download", args=["harbour", pool.pk]), {"format": "x"}).status_code == 404
    assert api.get(f"/api/pools/{pool.pk}/file/", {"format": "x"}).status_code == 400
    client.force_login(world.ben)
    assert client.get(reverse("pool_download", args=["harbour", pool.pk])).status_code == 403


def test_a_table_with_tabs_says_so_where_the_name_promises_commas(world: World) -> None:
    pool = world.build_pool()
    errors = io.StringIO()
    for name in ("out.tsv", "out.csv"):
        path = str(world.folder / name)
        call_command(
            "export_pool", "harbour", pool.name, "--output", path, stdout=io.StringIO(), stderr=errors
        )
    assert errors.getvalue() == f"{path}: its values are separated by tabs; name it .tsv to say so.\n"


def test_a_pool_that_does_not_exist_is_one_sentence(world: World) -> None:
    with pytest.raises(CommandError, match="There is no pool “none” in “harbour”"):
        exported(world, "none")


@pytest.mark.parametrize("sign", ["\t", "\n", "\r"])
@pytest.mark.parametrize("of", ["queries", "documents"])
def test_an_id_that_would_add_lines_or_columns_is_refused_in_tsv(world: World, of: str, sign: str) -> None:
    pool = world.build_pool()
    rows = getattr(world.collection, of)
    rows.filter(external_id="q1" if of == "queries" else "d4").update(external_id=f"x{sign}q9\td9\t1")
    client, api = Client(), APIClient()
    client.force_login(world.vera)
    api.force_authenticate(world.vera)
    page = client.get(reverse("pool_download", args=["harbour", pool.pk]), follow=True)
    call = api.get(f"/api/pools/{pool.pk}/file/")

    assert (page.redirect_chain, call.status_code) == ([(pool.get_absolute_url(), 302)], 400)
    assert "has a tab or a line end" in page.content.decode()
    assert "has a tab or a line end, which TSV cannot hold." in call.json()["detail"]
    with pytest.raises(CommandError, match="which TSV cannot hold"):
        exported(world, pool.name)
    tasks = json.loads(exported(world, pool.name, "--format", "label-studio"))
    assert any("q9" in task["data"]["query_id"] + task["data"]["document_id"] for task in tasks)


def test_tasks_of_which_none_is_left_are_refused(world: World) -> None:
    pool = world.build_pool()
    Document.objects.update(deleted_at=timezone.now())
    with pytest.raises(CommandError, match="has no pair to judge"):
        exported(world, pool.name, "--format", "label-studio")
    assert not (world.folder / "pool.out").exists()
    client = Client()
    client.force_login(world.vera)
    page = client.get(reverse("pool_download", args=["harbour", pool.pk]), {"format": "label-studio"})
    assert page.status_code == 302
    call = client.get(f"/api/pools/{pool.pk}/file/", {"format": "label-studio"})
    assert (call.status_code, call.json()["detail"][:4]) == (400, "Pool")
