"""Pre-labels through the Batch interface: handed in once, fetched once, within the budget."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import Settings

from labeling.language_models.client import ModelClient
from labeling.models import Prelabel, PrelabelFailure, PrelabelJob, Queue
from labeling.prelabels.costs import Prices
from labeling.prelabels.options import prelabeler_for
from labeling.prelabels.passes import PassOptions, resume_pass, run_here, start_pass
from tests.labeling.helpers import make_queue
from tests.labeling.model_server import ModelServer
from tests.world import World

pytestmark = pytest.mark.django_db
PRICES = Prices(Decimal(10), Decimal(100))
State = PrelabelJob.State


@pytest.fixture
def queue(world: World) -> Queue:
    return make_queue(world)


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


def ask(queue: Queue, **options: Any) -> PrelabelJob:
    chosen = PassOptions(uses_batches=True, prices=PRICES, **options)
    return run_here(queue, prelabeler_for(queue.collection, "small"), chosen, sleep=no_wait)


def test_pairs_are_handed_in_as_a_file_and_their_answers_fetched(queue: Queue, server: ModelServer) -> None:
    server.polls_before_done = 2
    server.fault_of = lambda query, document: {"lost umbrella": "refusal", "bicycle on ferry": "500"}.get(
        query
    )
    job = ask(queue, budget=Decimal(1))
    # One pair in the ordinary way, the others in one batch.
    assert (server.counts["POST files"], server.counts["POST batches"]) == (1, 1)
    assert (job.state, job.batches, job.answered_count + job.failed_count) == (State.DONE, [], 6)
    reasons = PrelabelFailure.objects.values_list("query__external_id", "reason")
    assert set(reasons) == {("q2", "refused"), ("q3", "server")}
    assert Prelabel.objects.filter(query__external_id="q1", score_source="probability").count() == 2
    assert job.cost == Decimal("0.003") * 4  # a refusal is paid, an error is not


def test_a_budget_that_fits_a_part_hands_in_that_part_and_then_the_next(
    queue: Queue, server: ModelServer
) -> None:
    job = ask(queue, budget=Decimal("0.14"))
    assert server.counts["POST batches"] > 1
    assert job.cost == Decimal("0.018") == Decimal("0.003") * len(server.requests)
    assert job.state == State.DONE


def test_a_batch_outlives_the_turn_that_handed_it_in(
    queue: Queue, server: ModelServer, world: World, django_capture_on_commit_callbacks: Any
) -> None:
    server.polls_before_done = 2
    prelabeler = prelabeler_for(queue.collection, "small")
    with django_capture_on_commit_callbacks(execute=True):
        start_pass(queue, prelabeler, PassOptions(uses_batches=True), by=world.ada)
    job = PrelabelJob.objects.get()
    assert (job.state, job.answered_count, len(server.requests)) == (State.DONE, 6, 6)
    assert server.counts["POST batches"] == 1


def test_a_kill_between_handing_in_and_noting_it_down_finds_the_batch_again(
    queue: Queue, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in = ModelClient.hand_in

    async def killed(client: ModelClient, lines: bytes, metadata: dict[str, str]) -> str:
        await hand_in(client, lines, metadata)
        raise KeyboardInterrupt

    monkeypatch.setattr(ModelClient, "hand_in", killed)
    with pytest.raises(KeyboardInterrupt):
        ask(queue)
    job = PrelabelJob.objects.get()
    assert (job.state, job.batches[0]["id"]) == (State.PAUSED, None)
    monkeypatch.setattr(ModelClient, "hand_in", hand_in)
    server.call_faults.extend([503, 503])
    again = ask(queue)
    assert (again.pk, again.state, Prelabel.objects.count()) == (job.pk, State.DONE, 6)
    assert (server.counts["POST batches"], len(server.requests)) == (1, 6)


def test_a_server_without_the_interface_stops_the_pass_with_a_sentence(
    queue: Queue, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "batch_call", no_such_call)
    job = ask(queue)
    assert job.state == State.FAILED
    assert "404" in job.detail or "does not speak this protocol" in job.detail
    monkeypatch.undo()
    resume_pass(job)
    assert job.state == State.QUEUED


@pytest.mark.parametrize(
    "fault",
    [
        "no_usage",  # tells no tokens: taken at the most
        "negative",  # no answer of use, and perhaps paid
    ],
)
def test_a_cap_holds_though_the_results_of_a_batch_do_not_tell_what_they_cost(
    queue: Queue, server: ModelServer, fault: str
) -> None:
    server.fault_of = lambda query, document: fault
    job = ask(queue, budget=Decimal("0.14"))
    # 300 tokens may be written, at 100 for a million: with the text, a request can cost 0.03 and more.
    taken = job.cost + job.uncertain_cost
    assert Decimal("0.03") * len(server.requests) <= taken <= Decimal("0.14")
    assert (job.state, len(server.requests) < 6) == (State.PAUSED, True)


def test_a_result_that_names_the_key_is_told_without_it(
    queue: Queue, server: ModelServer, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    server.key = settings.LLM_API_KEY = "plain-words-7781"  # not of a kind that is known by its looks
    server.faults.extend(["", "401"])
    job = ask(queue)
    assert job.state == State.FAILED
    assert "expired" in job.detail  # the server's own word
    stored = [list(rows.objects.values()) for rows in (PrelabelJob, PrelabelFailure, Prelabel)]
    assert server.key not in f"{stored} {caplog.text}"


async def no_such_call(*request: Any) -> bytes:
    from tests.labeling.model_server import problem

    return problem(404, "Invalid URL")
