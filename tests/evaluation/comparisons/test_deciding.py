"""What would decide which of two runs is better: the set, its queue, and how it stands as labels come."""

from __future__ import annotations

from io import StringIO

import numpy as np
import polars as pl
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from benchmarks.deciding_labels import labels_until_decided
from evaluation.comparisons.deciding import Standing, deciding_set
from evaluation.comparisons.deciding_queue import decision, open_deciding_queue
from labeling.models import Queue
from labeling.queues.opening import change_state
from pooling.interface.problems import InputError
from tests.evaluation.cast import SPARSE, make_report
from tests.labeling.helpers import judge
from tests.world import World

pytestmark = pytest.mark.anywhere


def standing(ahead: list[float], relevant: list[float], alone: list[tuple[int, str, bool, int]]) -> Standing:
    schema = {"query": pl.UInt32, "document_id": pl.String, "is_first": pl.Boolean, "rank": pl.Int64}
    frame = pl.DataFrame(alone, schema=schema, orient="row")
    zeros = np.zeros(len(ahead))
    return Standing(
        [f"q{place}" for place in range(len(ahead))], np.array(ahead), np.array(relevant), zeros, frame
    )


def test_what_only_the_trailing_run_has_is_judged_first() -> None:
    # The first run is two ahead of four; only it has m, only the other has x, y and z.
    alone = [(0, "m", True, 3), (0, "x", False, 1), (0, "y", False, 2), (0, "z", False, 3)]
    found = standing([2.0], [4.0], alone)
    assert found.bounds() == pytest.approx((-1 / 7, 3 / 5))
    assert found.decided == 0
    assert deciding_set(found, 0.1)["document_id"].to_list() == ["x", "y", "z", "m"]
    assert deciding_set(found, 0.9)["document_id"].to_list()[0] == "m"


def test_a_set_ends_where_the_bound_is_expected_to_exclude_zero() -> None:
    many = [(query, f"d{query}-{rank}", False, rank) for query in range(30) for rank in (1, 2)]
    found = standing([1.0] * 30, [4.0] * 30, many)
    chosen = deciding_set(found, 0.05)
    assert 10 <= chosen.height < 60
    assert found.bounds()[0] < 0  # type: ignore[index]
    decided = standing([1.0], [2.0], [(0, "m", True, 3)])
    assert decided.decided == 1
    assert deciding_set(decided, 0.5).is_empty()
    assert standing([], [], []).bounds() is None


def compared_runs(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Pairs of the first ten of two made-up runs, as `standing` of the benchmark wants them, and their first
    five, which are judged."""
    random = np.random.default_rng(seed)
    relevant = random.random((40, 80)).argsort(axis=1) < random.integers(5, 30, (40, 1))
    alike = random.normal(size=relevant.shape)
    scores = [
        quality * relevant + 0.7 * alike + 0.7 * random.normal(size=relevant.shape) for quality in (1.2, 2.2)
    ]
    mine, other = ((-score).argsort(axis=1).argsort(axis=1).ravel() + 1 for score in scores)
    query, document = np.indices(relevant.shape).reshape(2, -1)
    table = pl.DataFrame(
        {
            "query_id": query.astype(str),
            "document_id": document.astype(str),
            "mine": mine <= 10,
            "other": other <= 10,
            "rank": np.minimum(mine, other),
            "is_relevant": relevant.ravel(),
        }
    )
    pairs = table.filter(pl.col("rank") <= 10).with_columns(both=pl.col("mine").cast(int) + pl.col("other"))
    return pairs, pairs.filter(pl.col("rank") <= 5).select("query_id", "document_id")


@pytest.mark.slow
def test_the_labels_that_are_expected_to_decide_mostly_do() -> None:
    outcomes = [labels_until_decided(*compared_runs(seed), at_once=10_000) for seed in range(100)]

    assert np.mean([sign != 0 and rounds == 1 for _, rounds, sign in outcomes]) > 0.75


@pytest.mark.database
def test_the_set_becomes_a_queue_and_labels_move_it(world: World, client: Client) -> None:
    report = make_report(world, SPARSE, k=(1, 2))
    found = decision(report, "alpha", "beta", 1)
    # alpha's first of q1 and q2 are relevant; beta's d4 and d6 have no label: one of them decides nothing.
    assert (found.bounds, found.leader, found.left) == ((0.0, 1.0), None, 2)
    client.force_login(world.ada)
    page = reverse("report_comparisons", args=[report.pk]) + "?a=alpha&b=beta&k=1"
    assert "Open a queue of" in client.get(page).content.decode()
    response = client.post(reverse("report_decide", args=[report.pk]), {"a": "alpha", "b": "beta", "k": 1})
    queue = Queue.objects.get()
    assert response.headers["Location"] == queue.get_absolute_url()
    assert queue.pool.strategy == "deciding"
    assert queue.pool.provenance["runs"] == ["alpha", "beta"]
    # Nothing that annotators see tells the runs.
    assert queue.name == "Deciding 1"
    pairs = set(queue.items.values_list("query__external_id", "document__external_id"))
    assert pairs == {("q1", "d4"), ("q2", "d6")}
    with pytest.raises(InputError, match="“Deciding 1” still holds pairs"):
        open_deciding_queue(report, "alpha", "beta", 1)
    standing = reverse("queue_deciding", args=[queue.pk])
    assert standing in client.get(queue.get_absolute_url()).content.decode()
    part = client.get(standing, headers={"HX-Request": "true"}).content.decode()
    assert "Open: 2 labels can be expected to decide it" in part
    assert "<h1>" not in part
    judge(queue, world.ben, queue.items.order_by("pk")[0].pk, "not_relevant")
    told = client.get(standing).content.decode()
    assert "Decided on these queries: alpha is better" in told
    assert "Close this queue: it is decided" in told
    client.force_login(world.vera)
    assert "Close this queue" not in client.get(standing).content.decode()
    client.force_login(world.ben)
    assert client.get(standing).status_code == 403
    client.force_login(world.ada)
    now = decision(report, "alpha", "beta", 1)
    assert (now.leader, now.new, now.left) == ("alpha", 1, 1)
    assert now.sentence == (
        "Decided on these queries: alpha is better, whatever the labels of the unjudged documents in the "
        "pool. By the labels of the report, another choice of queries could reverse it (randomisation p = "
        "0.504 by Holm, 2 queries)."
    )
    shown = client.get(page).content.decode()
    assert "Decided on these queries: alpha is better" in shown
    assert "does not need the remaining pairs" in shown
    with pytest.raises(InputError, match="Decided on these queries: alpha is better"):
        open_deciding_queue(report, "alpha", "beta", 1)
    pool = client.get(queue.pool.get_absolute_url()).content.decode()
    assert "expected to decide which of alpha and beta" in pool


def test_labels_against_expectation_leave_it_open_and_the_rest_is_offered(world: World) -> None:
    report = make_report(world, SPARSE, k=(1,))
    queue = open_deciding_queue(report, "alpha", "beta", 1)
    assert isinstance(queue, Queue)
    for item in queue.items.all():
        judge(queue, world.ben, item.pk, "relevant")
    found = decision(report, "alpha", "beta", 1)
    assert found.bounds == (0.0, 0.0)
    assert (found.leader, found.left, found.new) == (None, 0, 2)
    assert found.sentence.startswith("Undecided, although every document")


@pytest.mark.database
def test_labels_that_turn_what_the_report_said_say_nothing_of_other_queries(world: World) -> None:
    report = make_report(world, "q1 0 d6 1\nq2 0 d2 1\n", k=(1,), name="first")
    queue = open_deciding_queue(report, "alpha", "beta", 1)
    assert isinstance(queue, Queue)
    for item in queue.items.select_related("document"):
        verdict = "not_relevant" if item.document.external_id == "d1" else "relevant"
        judge(queue, world.ben, item.pk, verdict)
    out = StringIO()
    call_command("decide", "harbour", "first", "alpha", "beta", "--k", "1", stdout=out)
    assert out.getvalue().strip() == (
        "Decided on these queries: beta is better, whatever the labels of the unjudged documents in the "
        "pool. The labels of the report said otherwise: measure a new release to see whether another choice "
        "of queries could reverse it."
    )


def test_over_http_and_by_command(world: World) -> None:
    report = make_report(world, SPARSE, k=(1,), name="first")
    address = f"/api/reports/{report.pk}/deciding/"
    client = APIClient()
    asked: dict[str, str | int] = {"a": "alpha", "b": "beta", "k": 1}
    client.force_authenticate(world.ada)
    assert client.get(address, {**asked, "b": "none"}).status_code == 400
    told = client.get(address, asked).json()
    assert (told["left"], told["leader"], len(told["pairs"])) == (2, None, 2)
    out = StringIO()
    call_command("decide", "harbour", "first", "alpha", "beta", "--k", "1", "--open", stdout=out)
    assert "2 labels can be expected to decide it" in out.getvalue()
    queue = Queue.objects.get()
    change_state(queue, "closed")
    assert client.post(address, asked, format="json").json()["name"] == "Deciding 2"
