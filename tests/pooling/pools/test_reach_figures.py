"""Figures of pools whose audit reaches deeper than they do: all of them count what is drawn, or say that they
end at the depth."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from pooling.merging.summary import as_text
from pooling.models import Document, Pool, Run
from pooling.pools.building import build_pool, pool_lines
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from tests.world import QUERIES, World, run_text

PAIR = ("query_id", "document_id")
NAMES = [f"e{number:02}" for number in range(30)]
RANKINGS = {"first": NAMES[:20], "second": [*NAMES[1::-1], *NAMES[14:]], "third": NAMES[::-1]}
REACHING: dict[str, Any] = {"depth": 4, "strategy": "learned", "audit_share": 0.5, "reach": 100, "seed": 3}


@pytest.fixture
def runs(world: World) -> list[Run]:
    Document.objects.bulk_create(
        Document(collection=world.collection, external_id=name, text=f"On {name}.") for name in NAMES
    )
    imported = []
    for name, ranking in RANKINGS.items():
        path = world.folder / f"{name}.run"
        path.write_text(run_text(dict.fromkeys(QUERIES, ranking)))
        imported.append(import_run(world.collection, path, user=world.ada))
    return imported


def rows_of(pool: Pool) -> list[dict[str, str]]:
    """The table that is downloaded."""
    heads, *lines = (line.rstrip("\n").split("\t") for line in pool_lines(pool))
    return [dict(zip(heads, line, strict=True)) for line in lines]


def test_a_pools_page_and_call_tell_what_its_table_holds(
    world: World, runs: list[Run], client: Client
) -> None:
    pool = build_pool(world.collection, name="reaching", runs=runs[:2], budget=24, **REACHING)
    rows = rows_of(pool)
    audit = sum(row["in_audit"] == "1" for row in rows)
    sizes = sorted(sum(row["query_id"] == query for row in rows) for query in QUERIES)
    client.force_login(world.vera)
    page = client.get(pool.get_absolute_url()).content.decode()
    told = client.get(f"/api/pools/{pool.pk}/diagnostics/").json()

    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page))
    assert [facts[name] for name in ("Pairs", "Chosen", "Audit sample", "Queries", "Pairs per query")] == [
        *(f"{len(rows)}", "24", f"{audit}", "3", f"{len(rows) / 3:.1f}")
    ]
    assert (told["audit"], told["sizes"]["mean"]) == (audit, pytest.approx(len(rows) / 3))
    assert [told["sizes"][name] for name in ("least", "most")] == [sizes[0], sizes[-1]]
    assert sorted(pairs for _, pairs, _ in told["queries"]) == sizes
    assert f"Pairs per query: least {sizes[0]}, " in as_text(pool.diagnostics)
    # What the runs bring is told down to the depth: six of a query, of which each has two alone.
    assert told["size_by_depth"][-1] == 3 * 6
    assert told["unique_finds"] == {"first": 3 * 2, "second": 3 * 2}
    assert [alone for _, _, alone in told["queries"]] == [4, 4, 4]
    assert "Pairs that each run found down to the depth of the pool" in page


def test_the_additions_of_a_version_are_those_of_its_table(world: World, runs: list[Run]) -> None:
    first = build_pool(world.collection, name="reaching", runs=runs[:2], budget=18, **REACHING)
    second = extend_pool(first, runs=runs[2:])
    rows, new = rows_of(second), second.diagnostics["new"]
    audited = [row["version"] for row in rows if row["in_audit"] == "1"]

    assert new["pairs"] == sum(row["version"] == "2" for row in rows)
    assert (second.diagnostics["audit"], new["audit"]) == (len(audited), audited.count("2"))


def test_a_version_says_how_many_pairs_of_earlier_ones_it_chose(
    world: World, runs: list[Run], client: Client
) -> None:
    first = build_pool(world.collection, name="reaching", runs=runs[:2], budget=12, **REACHING)
    out = StringIO()
    call_command(
        "build_pool", "harbour", "--extend", first.name, "--depth", "8", "--budget", "40", stdout=out
    )
    second = Pool.objects.get(extends=first)
    before = {tuple(row[name] for name in PAIR): row["inclusion_probability"] for row in rows_of(first)}
    chosen = [tuple(row[name] for name in PAIR) for row in rows_of(second) if row["inclusion_probability"]]
    earlier = sum(before.get(pair) == "" for pair in chosen)

    assert earlier > 0
    assert f" and {earlier} pairs of earlier versions chosen." in out.getvalue()
    client.force_login(world.vera)
    page = client.get(second.get_absolute_url()).content.decode()
    assert f"chosen to be judged, and {earlier} pairs of earlier versions; existing" in page


@pytest.mark.parametrize("budget", [None, 18, 36, 500])
def test_the_form_of_a_pool_tells_what_will_be_judged_and_drawn(
    world: World, runs: list[Run], client: Client, budget: int | None
) -> None:
    choice = {**REACHING, "strategy": "rrf", "budget": budget}
    pool = build_pool(world.collection, name="reaching", runs=runs[:2], **choice)
    client.force_login(world.ada)
    asked = {**choice, "budget": budget or "", "runs": [run.pk for run in runs[:2]]}
    form = client.get(reverse("pool_new", args=["harbour"]), asked, headers={"HX-Request": "true"})

    told = re.search(
        r"<dt>Chosen</dt><dd>(\d+) <[^>]+>about (\d+) of them drawn at random, (\d+) from beyond the depth",
        form.content.decode(),
    )
    assert told is not None, form.content.decode()
    to_judge, drawn, beyond = map(int, told.groups())
    assert "<dt>Pairs down to the depth</dt><dd>18 " in form.content.decode()
    assert to_judge == pool.chosen_count
    # Chance lets one more or less of a query's audit stand within the depth.
    assert drawn == pytest.approx(pool.entries.filter(in_audit=True).count(), abs=3)
    assert beyond == pytest.approx(pool.entries.filter(is_beyond=True).count(), abs=3)
