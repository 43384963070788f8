"""Audits by scores: the draw, what is kept of it, the ways in, and what nobody who judges sees."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from labeling.models import Item, Prelabel, Prelabeler, Queue
from labeling.qrels.imported import import_qrels
from labeling.quality.score_audits import AuditDraw, audits_of, draw_audit, plan_audit
from pooling.interface.problems import InputError
from pooling.models import Document, Pool, PoolEntry, Query
from tests.labeling.helpers import SENTINEL, judge, make_queue
from tests.world import World

pytestmark = pytest.mark.django_db
QUERIES, DOCUMENTS = 6, 40


def scored_pool(world: World, name: str = "wide", *, unscored: int = 0) -> tuple[Pool, Prelabeler]:
    """Of each query, documents 0 to 9 are relevant; scores fall from 1 to 0 with the document's number."""
    queries = [
        Query.objects.create(collection=world.collection, external_id=f"s{at}", text=f"question {at}")
        for at in range(QUERIES)
    ]
    documents = [
        Document.objects.create(
            collection=world.collection, external_id=f"s{at:02}", title="", text=f"text {at}"
        )
        for at in range(DOCUMENTS)
    ]
    pool = Pool.objects.create(
        collection=world.collection, name=name, depth=DOCUMENTS, strategy="rrf", pair_count=240
    )
    prelabeler = Prelabeler.objects.create(
        collection=world.collection, model=f"scorer of {name}", prompt="binary", options_hash=name
    )
    facts: dict[str, Any] = {"run_count": 1, "rrf": 0.1, "inclusion_probability": 1.0}
    for query in queries:
        PoolEntry.objects.bulk_create(
            PoolEntry(pool=pool, query=query, document=one, position=at + 1, best_rank=at + 1, **facts)
            for at, one in enumerate(documents)
        )
        Prelabel.objects.bulk_create(
            Prelabel(
                prelabeler=prelabeler,
                query=query,
                document=one,
                verdict="relevant" if at < 20 else "not_relevant",
                score=1 - at / DOCUMENTS,
                reasoning=SENTINEL,
                document_version=1,
                created_at=timezone.now(),
            )
            for at, one in enumerate(documents[: DOCUMENTS - unscored])
        )
    return pool, prelabeler


def is_relevant(item: Item) -> bool:
    return int(item.document.external_id[1:]) < 10


def test_the_audit_is_drawn_from_what_has_no_label_and_keeps_how(world: World) -> None:
    pool, prelabeler = scored_pool(world, unscored=2)
    path = world.folder / "known.qrels"
    path.write_text("".join(f"s0 0 s{at:02} {int(at < 10)}\n" for at in range(30)) + "s1 0 s00 -1\n")
    import_qrels(world.collection, path, user=world.ada)
    queue = draw_audit(pool, prelabeler, AuditDraw(130, strata=3, seed=4), by=world.ada)
    drawn, facts = queue.pool, queue.pool.provenance
    # 30 are certain; a negative label is none.
    assert (drawn.pair_count, drawn.chosen_count, facts["certain"]) == (210, 130, 30)
    assert (drawn.strategy, drawn.is_picked, facts["pool"]["id"]) == (Pool.STRATA, True, pool.pk)
    assert [one["name"] for one in facts["strata"]][-1] == "no score"
    assert facts["strata"][-1]["pairs"] == facts["strata"][-1]["drawn"] == 12
    assert not drawn.entries.filter(query__external_id="s0", document__external_id="s05").exists()
    for stratum, order in zip(facts["strata"], facts["drawn"], strict=True):
        assert len(order) == stratum["drawn"] == len({tuple(pair) for pair in order})
        chances = drawn.entries.filter(
            in_audit=True, query__external_id=order[0][0], document__external_id=order[0][1]
        ).values_list("inclusion_probability", flat=True)
        assert list(chances) == [stratum["drawn"] / stratum["pairs"]]
    weights = drawn.entries.filter(in_audit=True).values_list("inclusion_probability", flat=True)
    assert sum(1 / one for one in weights) == pytest.approx(210)
    assert drawn.entries.filter(in_audit=False, inclusion_probability__isnull=False).count() == 0
    assert queue.items.count() == 130
    again = draw_audit(pool, prelabeler, AuditDraw(130, strata=3, seed=4)).pool.provenance["drawn"]
    assert again == facts["drawn"]


def test_pairs_that_wait_elsewhere_are_drawn_too_and_one_verdict_settles_both(world: World) -> None:
    from labeling.queues.opening import open_queue

    pool, prelabeler = scored_pool(world)
    whole = open_queue(pool, seed=1)
    queue = draw_audit(pool, prelabeler, AuditDraw(90, strata=2, seed=4))
    item = queue.items.select_related("query", "document").order_by("order_key")[0]
    judge(queue, world.ben, item.pk)
    same = whole.items.get(query=item.query, document=item.document)
    assert same.state == Item.State.DONE
    assert plan_audit(pool, prelabeler, 150).certain == 1


def test_what_will_not_do_is_refused_with_what_to_do_and_leaves_nothing(world: World) -> None:
    pool, prelabeler = scored_pool(world)
    before = world.collection.pools.count()
    wrong: list[tuple[dict[str, int], str]] = [
        (
            {"pairs": 100, "strata": 5},
            "too few for 5 strata with at least 30 each: it takes 150, or fewer strata",
        ),
        ({"pairs": 241, "strata": 3}, "there are 240"),
        ({"pairs": 6000, "strata": 3}, "1 to 5,000"),
        ({"pairs": 100, "strata": 11}, "from 1 to 10"),
        ({"pairs": 100, "strata": 3, "judgments_per_item": 0}, "needs 1 to"),
    ]
    for options, message in wrong:
        with pytest.raises(InputError, match=message):
            draw_audit(pool, prelabeler, AuditDraw(**options))
    empty = Prelabeler.objects.create(collection=world.collection, model="empty", options_hash="e")
    with pytest.raises(InputError, match="no pre-labels by empty"):
        plan_audit(pool, empty, 100)
    sample = draw_audit(pool, prelabeler, AuditDraw(100, strata=2)).pool
    with pytest.raises(InputError, match="picked individually"):
        plan_audit(sample, prelabeler, 50)
    path = world.folder / "all.qrels"
    path.write_text("".join(f"s{q} 0 s{at:02} 0\n" for q in range(QUERIES) for at in range(DOCUMENTS)))
    import_qrels(world.collection, path, user=world.ada)
    with pytest.raises(InputError, match="nothing to draw from"):
        plan_audit(pool, prelabeler, 50)
    assert world.collection.pools.count() == before + 1


@pytest.mark.anywhere
def test_supposed_rates_come_from_blind_labels_where_there_are_enough(world: World) -> None:
    pool, prelabeler = scored_pool(world)
    queue = draw_audit(pool, prelabeler, AuditDraw(120, strata=2, seed=1))
    for item in queue.items.select_related("document"):
        judge(queue, world.ben, item.pk, "relevant" if is_relevant(item) else "not_relevant")
    low, high = plan_audit(pool, prelabeler, 100, strata=2).plan.strata
    assert (low.rests_on, high.rests_on) == ("labels", "labels")
    assert low.rate < 0.05 < 0.3 < high.rate


def test_nobody_who_judges_gets_anything_of_scores_or_strata(world: World, client: Client) -> None:
    pool, prelabeler = scored_pool(world)
    queue = draw_audit(pool, prelabeler, AuditDraw(90, strata=2, seed=4))
    client.force_login(world.ben)
    api = APIClient()
    api.force_authenticate(world.ben)
    claimed = api.post(f"/api/queues/{queue.pk}/claim/", {"count": 10}, format="json")
    assert len(claimed.json()["items"]) == 10
    pages = [f"/queues/{queue.pk}/judge/", f"/queues/{queue.pk}/", "/"]
    texts = [claimed.content.decode(), *(client.get(page).content.decode() for page in pages)]
    texts.append(api.get(f"/api/queues/{queue.pk}/progress/").content.decode())
    for text in texts:
        assert not any(word in text for word in (SENTINEL, "scorer of", "strata", "inclusion", "by scores"))
    keys = {item.document.external_id: item.order_key for item in queue.items.select_related("document")}
    scores = [-int(name[1:]) for name in keys]
    assert abs(np.corrcoef(list(keys.values()), scores)[0, 1]) < 0.4
    for path in (queue.pool.get_absolute_url(), f"/collections/{world.collection.slug}/audits/"):
        assert client.get(path).status_code == 403


def test_an_admin_sees_the_plan_and_then_draws(world: World, client: Client) -> None:
    pool, prelabeler = scored_pool(world)
    page = f"/collections/{world.collection.slug}/audits/"
    asked = {"pool": pool.pk, "prelabeler": prelabeler.pk, "pairs": 120, "strata": 3}
    client.force_login(world.ada)
    assert f'value="{pool.pk}" selected' in client.get(f"{page}?pool={pool.pk}").content.decode()
    built = world.build_pool()
    assert f"{page}?pool={built.pk}" in client.get(built.get_absolute_url()).content.decode()
    assert (
        f"{page}?prelabeler={prelabeler.pk}" in client.get(f"/prelabelers/{prelabeler.pk}/").content.decode()
    )
    shown = "".join(map(str.strip, client.get(page, asked).content.decode().splitlines()))
    plan = plan_audit(pool, prelabeler, 120, strata=3).plan
    assert plan.sentence() in shown
    for one in plan.strata:
        cells = [f"{one.pairs}", f"{one.drawn}", f"{100 * one.rate:.1f} %"]
        row = "".join(f'<td class="number">{cell}</td>' for cell in cells)
        assert f'<th scope="row">{one.name}</th>{row}<td>mean score</td>' in shown
    assert "Draw these 120 pairs" in shown
    few = client.get(page, {**asked, "pairs": 60}).content.decode()
    assert "it takes 90, or fewer strata" in few
    assert "Draw these" not in few
    assert not Queue.objects.exists()
    assert "it takes 90" in client.post(page, {**asked, "pairs": 60}).content.decode()
    opened = client.post(page, asked)
    queue = Queue.objects.get()
    assert (opened.status_code, opened["Location"]) == (302, f"/queues/{queue.pk}/")
    listed = client.get(page).content.decode()
    assert queue.name in listed
    assert (
        "drawn at random in strata by the scores of"
        in client.get(queue.pool.get_absolute_url()).content.decode()
    )


def test_without_pool_or_model_the_page_says_what_it_takes(world: World, client: Client) -> None:
    client.force_login(world.ada)
    shown = client.get(f"/collections/{world.collection.slug}/audits/").content.decode()
    assert "This needs a pool built from runs" in shown


def test_the_interface_and_the_command_do_the_same(world: World) -> None:
    pool, prelabeler = scored_pool(world)
    api = APIClient()
    path = f"/api/prelabelers/{prelabeler.pk}/audits/"
    body = {"pool": pool.pk, "pairs": 120, "strata": 3, "seed": 7}
    api.force_authenticate(world.ada)
    dry = api.post(path, {**body, "dry_run": True}, format="json")
    assert (dry.status_code, dry.json()["queue"], dry.json()["population"]) == (200, None, 240)
    assert not Queue.objects.exists()
    made = api.post(path, body, format="json")
    assert made.status_code == 201
    first = Queue.objects.get(pk=made.json()["queue"])
    assert made.json()["strata"] == dry.json()["strata"]
    assert (
        api.post(path, {**body, "pairs": 60}, format="json").json()["fields"]["pairs"].startswith("60 pairs")
    )
    assert api.post(path, {**body, "pool": 10**9}, format="json").status_code == 404
    assert api.post(path, {"pool": pool.pk}, format="json").status_code == 400

    command = ("draw_audit", world.collection.slug, pool.name, "--model", prelabeler.model)
    numbers = ("--pairs", "120", "--strata", "3", "--seed", "7")
    out = io.StringIO()
    call_command(*command, *numbers, "--dry-run", stdout=out)
    assert dry.json()["sentence"] in out.getvalue()
    assert Queue.objects.count() == 1
    out = io.StringIO()
    call_command(*command, *numbers, stdout=out)
    second = Queue.objects.order_by("-pk")[0]
    assert f"Queue {second.pk}, “{second.name}”: 120 pairs, seed 7." in out.getvalue()
    assert second.pool.provenance["drawn"] == first.pool.provenance["drawn"]
    with pytest.raises(CommandError, match="it takes 90, or fewer strata"):
        call_command(*command, "--pairs", "60", "--strata", "3")
    with pytest.raises(CommandError, match="no pre-labels by “x” in “wide”"):
        call_command(*command[:-1], "x", *numbers)
    with pytest.raises(CommandError, match="no pool “y”"):
        call_command("draw_audit", world.collection.slug, "y", "--model", "x", *numbers)


@pytest.mark.anywhere
def test_the_page_takes_as_many_queries_for_many_audits_as_for_one(
    world: World, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    pool, prelabeler = scored_pool(world)
    client.force_login(world.ada)
    make_queue(world)
    for number in range(3):
        draw_audit(pool, prelabeler, AuditDraw(60, strata=1 + number % 2))
    with django_assert_max_num_queries(13):
        client.get(f"/collections/{world.collection.slug}/audits/")
    assert [row.pairs for row in audits_of(world.collection)] == [60, 60, 60]
