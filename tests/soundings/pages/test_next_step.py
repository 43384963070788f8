"""The line Next: each case of it, in their order, and that the page says it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from evaluation.comparisons.next_step import NextMove
from labeling.progress.of_collection import QueueState
from pooling.models import Collection, Job, Membership, Role
from soundings.pages.next_step import State, UncoveredRun, UnsettledPair, next_of
from tests.world import World

WHEN = datetime(2026, 6, 1, tzinfo=UTC)


def queue(settled: int = 0, *, finished: bool = False, state: str = "open", undecided: int = 0) -> QueueState:
    return QueueState(7, "June", state, WHEN, 200, settled, finished, undecided)


# Imported, pooled, queued; then judged; then released; then measured.
IMPORTED: dict[str, Any] = {"queries": True, "documents": True, "runs": True}
QUEUED = {**IMPORTED, "pools": True, "queues": (queue(),)}
JUDGED = {**QUEUED, "queues": (queue(200, finished=True),), "judged": True}
RELEASED = {**JUDGED, "released": "v1", "unreleased": 0}
MEASURED = {**RELEASED, "is_measured": True}
TIE = UnsettledPair(5, "judge", 60, "dense v3", "bm25", 10)
DEEPER = NextMove("deeper", "Go deeper.", "/c/pools/3/extend/?depth=10", "Extend the pool")
FEW = UnsettledPair(5, "queries", 400, "dense v3", "bm25", 10)

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({}, "There are no queries yet.", "/c/queries/"),
    ({"queries": True}, "There are no documents yet.", "/c/documents/"),
    ({"queries": True, "documents": True}, "There are no runs yet.", "/c/runs/import/"),
    (IMPORTED, "There is no pool yet.", "/c/pools/new/"),
    ({**IMPORTED, "imported": 18}, "18 labels were imported: enough to release.", "release"),
    ({**IMPORTED, "pools": True}, "There is no queue yet.", "/c/queues/new/"),
    (QUEUED, "Nothing of “June” is judged yet.", "/queues/7/judge/"),
    ({**QUEUED, "paused": frozenset({7})}, "Nothing of “June” is judged yet.", "/queues/7/"),
    ({**QUEUED, "imported": 18}, "18 labels were imported: enough to release.", "release"),
    (
        {**QUEUED, "queues": (queue(20),), "judged": True},
        "Left to judge: 180 of 200 pairs of “June”.",
        "/queues/7/judge/",
    ),
    (
        {**QUEUED, "queues": (queue(20),), "judged": True, "audit_answered": True},
        "The audit of “June” is answered: enough to release.",
        "release",
    ),
    (
        {**QUEUED, "queues": (queue(166),), "judged": True},
        "83 % of “June” is judged: enough to release.",
        "release",
    ),
    (JUDGED, "“June” is judged: enough to release.", "release"),
    (
        {**JUDGED, "queues": (queue(200, finished=True, undecided=2),)},
        "“June” is judged, and 2 pairs wait for a decision.",
        "/queues/7/adjudication/",
    ),
    (
        {**QUEUED, "queues": (queue(166, undecided=40),), "judged": True},
        "83 % of “June” is judged, and 40 pairs wait for a decision.",
        "/queues/7/adjudication/",
    ),
    (RELEASED, "“v1” is not measured yet.", "/c/reports/new/"),
    ({**RELEASED, "under_way": {"report": 3}}, "“v1” is being measured.", "/jobs/3/"),
    ({"under_way": {"queries": 3}}, "Queries are being imported.", "/jobs/3/"),
    ({"queries": True, "under_way": {"documents": 3}}, "Documents are being imported.", "/jobs/3/"),
    ({"queries": True, "under_way": {"runs": 3}}, "There are no documents yet.", "/c/documents/"),
    (
        {"queries": True, "documents": True, "under_way": {"runs": 3}},
        "A run is being imported.",
        "/jobs/3/",
    ),
    ({**IMPORTED, "under_way": {"pool": 3}}, "A pool is being built.", "/jobs/3/"),
    ({**IMPORTED, "pools": True, "under_way": {"queue": 3}}, "A queue is being opened.", "/jobs/3/"),
    ({**RELEASED, "under_way": {"runs": 2, "report": 3}}, "“v1” is being measured.", "/jobs/3/"),
    (
        {**JUDGED, "under_way": {"release": 3}},
        "The labels are being released and measured.",
        "/jobs/3/",
    ),
    (
        {**MEASURED, "unreleased": 12, "under_way": {"release": 3}},
        "The labels are being released and measured.",
        "/jobs/3/",
    ),
    (
        {**MEASURED, "unopened": (3, "June, version 2"), "under_way": {"queue": 3}},
        "A queue is being opened.",
        "/jobs/3/",
    ),
    (
        {**MEASURED, "uncovered": UncoveredRun("minilm", 3, 101), "under_way": {"pool": 3}},
        "A pool is being built.",
        "/jobs/3/",
    ),
    (
        {**MEASURED, "queues": (queue(20),), "fresh": frozenset({7}), "unreleased": 20},
        "Left to judge: 180 of 200 pairs of “June”.",
        "/queues/7/judge/",
    ),
    (
        {**MEASURED, "fresh": frozenset({7}), "unreleased": 200},
        "“June” is judged: enough to release.",
        "release",
    ),
    (
        {**MEASURED, "unopened": (3, "June, version 2")},
        "The pairs of “June, version 2” are in no queue yet.",
        "/c/queues/new/?pool=3",
    ),
    (
        {**MEASURED, "uncovered": UncoveredRun("minilm", 3, 101), "unsettled": TIE},
        "101 new pairs from minilm.",
        "/c/pools/3/extend/",
    ),
    ({**MEASURED, "uncovered": UncoveredRun("minilm", 3, None)}, "minilm is in no pool yet.", "/extend/"),
    (
        {**MEASURED, "unsettled": TIE, "unreleased": 12, "uncovered": UncoveredRun("minilm", 3, 0)},
        "Judge 60 pairs to settle dense v3 against bm25.",
        "/reports/5/comparisons/?a=dense+v3&b=bm25&k=10#labels",
    ),
    ({**MEASURED, "deeper": DEEPER, "unsettled": TIE}, "Go deeper.", "/c/pools/3/extend/"),
    (
        {**MEASURED, "unsettled": FEW, "deeper": DEEPER, "unreleased": 1},
        "1 new label since “v1”: release again.",
        "release",
    ),
    (
        {**MEASURED, "unsettled": FEW},
        "Add queries: dense v3 against bm25 takes about 400 in all.",
        "/c/queries/",
    ),
    (
        {**MEASURED, "queues": (queue(166),)},
        "All labels are measured; 34 pairs of “June” left.",
        "/queues/7/judge/",
    ),
    (
        {**MEASURED, "canary": "nightly"},
        "Everything is measured. The canary “nightly” checks the next run.",
        "/c/runs/import/",
    ),
    (MEASURED, "Everything is measured.", "/c/runs/import/"),
]


@pytest.mark.parametrize(("known", "sentence", "leads_to"), CASES)
def test_what_is_next_follows_from_what_is_there(known: dict[str, Any], sentence: str, leads_to: str) -> None:
    found = next_of(State(slug="c", **known))
    assert found.sentence == sentence
    if leads_to == "release":
        assert (found.releases, found.action) == (True, "Release and measure")
    else:
        assert not found.releases
        assert found.action
        assert found.url.endswith(leads_to) or leads_to in found.url


def test_a_paused_queue_without_a_label_does_not_stop_the_way() -> None:
    state = State(slug="c", **{**MEASURED, "queues": (queue(state="paused"),), "fresh": frozenset({7})})
    assert next_of(state).sentence == "Everything is measured."


@pytest.mark.django_db
@pytest.mark.parametrize("state", [Job.State.QUEUED, Job.State.RUNNING, Job.State.DONE])
def test_the_overview_leads_to_the_job_that_makes_what_is_next(
    world: World, client: Client, state: Job.State
) -> None:
    empty = Collection.objects.create(slug="empty", name="Empty")
    Membership.objects.create(collection=empty, user=world.ada, role=Role.ADMIN)
    Job.objects.create(collection=empty, kind="documents", state=Job.State.QUEUED)
    job = Job.objects.create(collection=empty, kind="queries", state=state)
    client.force_login(world.ada)
    page = client.get("/collections/empty/").content.decode()
    assert ("Queries are being imported." in page) == (state != Job.State.DONE)
    assert (job.get_absolute_url() in page) == (state != Job.State.DONE)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("page", "kind", "sentence"),
    [
        ("queries", "queries", "Queries are being imported."),
        ("documents", "documents", "Documents are being imported."),
        ("runs", "engine run", "A run is being imported."),
        ("pools", "campaign", "A pool is being built."),
        ("queues", "queue", "A queue is being opened."),
        ("reports", "release and measure", "A report is being made."),
    ],
)
def test_a_list_without_rows_leads_to_the_job_that_makes_them(
    world: World, client: Client, page: str, kind: str, sentence: str
) -> None:
    empty = Collection.objects.create(slug="empty", name="Empty")
    Membership.objects.create(collection=empty, user=world.ada, role=Role.ADMIN)
    job = Job.objects.create(collection=empty, kind=kind, state=Job.State.RUNNING)
    client.force_login(world.ada)
    content = client.get(f"/collections/empty/{page}/").content.decode()
    assert f'{sentence} <a href="{job.get_absolute_url()}">See how far it is</a>' in content
    assert f"No {page} yet" not in content
    Job.objects.update(state=Job.State.DONE)
    assert sentence not in client.get(f"/collections/empty/{page}/").content.decode()
