"""An audit by scores all the way: pool, pre-labels, draw, judging, release, report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from evaluation.models import Report
from evaluation.reports.export import html_of
from labeling.models import Prelabel, Prelabeler, Queue
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import release_qrels
from pooling.models import Document, Pool, Query
from pooling.pools.building import build_pool
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from tests.evaluation.cast import make_report
from tests.labeling.helpers import SENTINEL, judge
from tests.world import World, run_text

pytestmark = pytest.mark.django_db
QUERIES, DEPTH = 12, 30
SEED = 5


def relevant_pairs() -> set[tuple[str, str]]:
    """Earlier documents are relevant more often; drawn once and for all."""
    rng = np.random.default_rng(SEED)
    return {
        (f"w{query}", f"w{at:02}")
        for query in range(QUERIES)
        for at in range(DEPTH)
        if rng.random() < 0.7 - 0.6 * at / DEPTH
    }


def campaign(world: World) -> tuple[Pool, Prelabeler]:
    """Two runs of the same documents, the second backwards within the first twenty; scores that tell
    something; and labels of the first two queries, known before.
    """
    relevant = relevant_pairs()
    documents = [f"w{at:02}" for at in range(DEPTH)]
    for query in range(QUERIES):
        Query.objects.create(collection=world.collection, external_id=f"w{query}", text=f"question {query}")
    runs = []
    for name, ranking in (("onward", documents), ("backward", [*documents[19::-1], *documents[20:]])):
        path = world.folder / f"{name}.run"
        path.write_text(
            "".join(
                f"w{query} Q0 {document} {at} {DEPTH - at} x\n"
                for query in range(QUERIES)
                for at, document in enumerate(ranking)
            )
        )
        runs.append(import_run(world.collection, path, user=world.ada))
    pool = build_pool(world.collection, name="wide", runs=runs, depth=DEPTH, user=world.ada)
    rng = np.random.default_rng(SEED)
    prelabeler = Prelabeler.objects.create(
        collection=world.collection, model="noisy", prompt="binary", options_hash="n"
    )
    keys = dict(world.collection.queries.values_list("external_id", "pk"))
    Prelabel.objects.bulk_create(
        Prelabel(
            prelabeler=prelabeler,
            query_id=keys[f"w{query}"],
            document=document,
            verdict="relevant",
            score=float(
                rng.beta(4, 2) if (f"w{query}", document.external_id) in relevant else rng.beta(2, 4)
            ),
            reasoning=SENTINEL,
            document_version=1,
            created_at=timezone.now(),
        )
        for query in range(QUERIES)
        for document in Document.objects.filter(external_id__startswith="w").order_by("external_id")
    )
    path = world.folder / "known.qrels"
    path.write_text(
        "".join(
            f"w{query} 0 {one} {int((f'w{query}', one) in relevant)}\n"
            for query in range(2)
            for one in documents
        )
    )
    import_qrels(world.collection, path, user=world.ada)
    return pool, prelabeler


def draw(world: World, pool: Pool, prelabeler: Prelabeler, pairs: int = 120) -> Queue:
    api = APIClient()
    api.force_authenticate(world.ada)
    body = {"pool": pool.pk, "pairs": pairs, "strata": 3, "seed": 11}
    made = api.post(f"/api/prelabelers/{prelabeler.pk}/audits/", body, format="json")
    assert made.status_code == 201
    return Queue.objects.get(pk=made.json()["queue"])


def judge_by_http(world: World, queue: Queue, most: int = 10**6) -> int:
    """Ben judges what the interface gives him, and reads nothing of a model in it."""
    api = APIClient()
    api.force_authenticate(world.ben)
    relevant, done = relevant_pairs(), 0
    while done < most:
        claimed = api.post(f"/api/queues/{queue.pk}/claim/", {"count": 10}, format="json")
        assert not any(word in claimed.content.decode() for word in (SENTINEL, "noisy", "strat", "score"))
        items = claimed.json()["items"]
        if not items:
            break
        said = [
            {
                **{name: one[name] for name in ("item", "version", "lease")},
                "key": f"{queue.pk}-{one['item']}",
                "verdict": "relevant"
                if (one["query"]["id"], one["document"]["id"]) in relevant
                else "not_relevant",
            }
            for one in items
        ]
        stored = api.post(f"/api/queues/{queue.pk}/judgments/", said, format="json").json()["results"]
        assert {one["status"] for one in stored} == {"stored"}
        done += len(items)
    return done


def reported(world: World, name: str) -> tuple[Report, dict[str, Any]]:
    """A report on a new release, and what the interface says of the audit by scores."""
    release_qrels(world.collection, name=name)
    report = make_report(world, k=(10,), measures=("recall",))
    api = APIClient()
    api.force_authenticate(world.ada)
    return report, api.get(f"/api/reports/{report.pk}/").json()["estimates"]["audit_by_scores"]


@pytest.mark.anywhere
@pytest.mark.slow
def test_from_pool_to_report_the_truth_is_within_the_intervals(world: World, client: Client) -> None:
    pool, prelabeler = campaign(world)
    relevant = relevant_pairs()
    queue = draw(world, pool, prelabeler)
    _, waiting = reported(world, "before")
    assert (waiting["status"], waiting["relevant"], waiting["runs"]) == ("waiting", None, {})
    assert "of what was drawn, 3 strata have no label" in waiting["sentence"]

    assert judge_by_http(world, queue, 70) == 70
    _, begun = reported(world, "begun")
    assert (begun["status"], begun["audit"]["complete"]) == ("estimated", False)
    assert 60 <= begun["counts"]["sampled"] <= 70 == 120 - begun["counts"]["waiting"]
    assert begun["relevant"]["low"] <= len(relevant) <= begun["relevant"]["high"]

    judge_by_http(world, queue)
    report, found = reported(world, "whole")
    assert found["audit"]["complete"]
    assert found["counts"] | {"sampled": 120, "certain": 60, "lost": 0, "unused": 0} == found["counts"]
    total = found["relevant"]
    assert total["low"] <= len(relevant) <= total["high"]
    assert total["high"] - total["low"] < begun["relevant"]["high"] - begun["relevant"]["low"]
    documents = [f"w{at:02}" for at in range(DEPTH)]
    recalls = {}
    for run, top in (("onward", documents[:10]), ("backward", documents[10:20])):
        hits = sum((f"w{query}", one) in relevant for query in range(QUERIES) for one in top)
        recall, precision = (found["runs"][run][f"{name}@10"]["micro"] for name in ("recall", "precision"))
        recalls[run] = hits / len(relevant)
        assert recall["low"] <= recalls[run] <= recall["high"]
        assert precision["low"] <= hits / (10 * QUERIES) <= precision["high"]
    (difference,) = found["differences"]
    assert difference["low"] <= recalls["backward"] - recalls["onward"] <= difference["high"]

    client.force_login(world.ada)
    page = client.get(f"/reports/{report.pk}/").content.decode()
    assert found["sentence"] in page
    assert "From an audit by scores" in page
    assert "The mean over queries (macro) is not estimated" in page
    assert 'id="by-scores"' in page
    file = html_of(report).decode()
    assert "Estimated from an audit by scores" in file
    assert found["sentence"] in file


def test_what_changes_after_the_draw_is_counted_and_told(world: World) -> None:
    pool, prelabeler = campaign(world)
    queue = draw(world, pool, prelabeler)
    for item in queue.items.select_related("query", "document").order_by("order_key")[:119]:
        pair = item.query.external_id, item.document.external_id
        judge(queue, world.ben, item.pk, "relevant" if pair in relevant_pairs() else "not_relevant")
    # Two people cannot judge the last pair.
    (last,) = queue.items.filter(done=0).order_by("order_key")
    for person in (world.ben, world.cleo):
        judge(queue, person, last.pk, "cannot_judge", reason="broken")
    # Somebody labels what was not drawn.
    undrawn = queue.pool.entries.filter(in_audit=False).select_related("query", "document")[0]
    path = world.folder / "late.qrels"
    path.write_text(f"{undrawn.query.external_id} 0 {undrawn.document.external_id} 1\n")
    import_qrels(world.collection, path, user=world.ada)
    longer = world.folder / "longer.run"
    longer.write_text(run_text({"w3": ["d1", "d2"]}))
    extend_pool(pool, runs=[import_run(world.collection, longer)], name="wider", user=world.ada)

    _, found = reported(world, "later")
    counts = found["counts"]
    assert (counts["unused"], counts["cannot_judge"], counts["waiting"]) == (1, 1, 0)
    assert found["pool"]["extended_by"] == "wider"
    notes = " ".join(found["notes"])
    for words in (
        "1 pair that was not drawn has got",
        "1 pair that was drawn could not be judged",
        "was extended by “wider”",
    ):
        assert words in notes
    assert found["relevant"]["value"] < found["relevant"]["value_if_relevant"]
    # A newer draw takes the late label for certain; until all of it has an answer, the older one stands.
    newer = draw(world, pool, prelabeler, 90)
    assert newer.pool.provenance["certain"] == 60 + 119 + 1
    judge_by_http(world, newer, 80)
    assert reported(world, "newer")[1]["audit"]["id"] == queue.pool_id
    judge_by_http(world, newer)
    assert reported(world, "newest")[1]["audit"]["id"] == newer.pool_id


def test_a_report_without_such_an_audit_says_nothing_of_it(world: World, client: Client) -> None:
    report = make_report(world, k=(3,))
    assert report.result["estimates"]["audit_by_scores"] is None
    client.force_login(world.ada)
    assert "From an audit by scores" not in client.get(f"/reports/{report.pk}/").content.decode()
