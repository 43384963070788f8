"""A live engine asked for every query: what is stored, what is asked again, and what is not."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from pooling.engine_models import EngineAnswer, EngineAsking
from pooling.engines.asking import EngineError, Pace, PassingError
from pooling.engines.running import begin_asking, finish_asking, start_asking, try_engine
from pooling.engines.stored import change_engine, key_of
from pooling.interface.problems import InputError
from pooling.jobs.running import JobCancelledError, resume_job
from pooling.models import Job, Query, Run
from pooling.runs.stored import read_stored_run
from tests.pooling.engines.cast import KEY, settings_at, shop
from tests.pooling.engines.server import Asked
from tests.world import ALPHA, World

HTML = (200, b"<!DOCTYPE html><title>Sign in</title>", {"Content-Type": "text/html"})


def told(share: float, detail: str) -> None:
    """Progress that nobody looks at."""


def quick() -> Pace:
    return Pace(sleep=lambda seconds: None)


def test_the_answers_become_a_run_with_settings_and_latency(world: World) -> None:
    with shop(world, key=KEY) as (engine, server):
        output = io.StringIO()
        call_command("search_run", "harbour", "shop", "--k", "2", "--name", "today", stdout=output)
    assert "Run “today”: 6 rows for 3 queries." in output.getvalue()
    assert "Latency: mean" in output.getvalue()
    run = Run.objects.get(name="today")
    rows = read_stored_run(run)
    assert {
        query: list(part["document_id"]) for (query,), part in rows.group_by("query_id", maintain_order=True)
    } == {query: documents[:2] for query, documents in ALPHA.items()}
    assert list(rows["rank"]) == [1, 2] * 3
    asked = run.preflight["engine"]
    assert asked["settings"]["body"] == engine.body
    assert (asked["queries"], asked["requests"], asked["retries"]) == (3, 3, 0)
    assert 0 < asked["latency_ms"]["p50"] <= asked["latency_ms"]["p95"] <= asked["latency_ms"]["max"]
    assert [one.body["size"] for one in server.requests] == [2, 2, 2]
    assert not EngineAsking.objects.exists()


def test_a_run_is_called_after_the_engine_and_the_day(world: World) -> None:
    with shop(world) as (engine, _):
        first, second = (finish_asking(begin_asking(engine), progress=told)["name"] for _ in range(2))
    assert first.startswith("shop-20")
    assert second.startswith(f"{first}T")


def test_the_next_version_of_a_pool_has_what_the_engine_returns_today(
    world: World, client: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    pool = world.build_pool()
    client.force_login(world.ada)

    def something_new(asked: Asked) -> Any:
        return {"hits": {"hits": [{"_id": "d3", "_score": 1.0}]}}

    with shop(world) as (engine, server):
        server.answer = something_new
        page = client.get(f"/collections/harbour/pools/{pool.pk}/").content.decode()
        assert "Extend this pool by what shop returns today" in page
        with django_capture_on_commit_callbacks(execute=True):
            client.post(f"/collections/harbour/engines/{engine.pk}/ask/", {"pool": pool.pk})
    later = pool.extensions.get()
    assert later.diagnostics["new"]["pairs"] == 1  # q2 and q3 have d3 already
    assert later.runs.filter(name__startswith="shop-20").exists()


def test_what_an_engine_adds_nothing_to_is_not_extended_and_the_run_stays(world: World) -> None:
    pool = world.build_pool()
    with shop(world) as (engine, _):
        done = finish_asking(begin_asking(engine, depth=2, pool=pool), progress=told)
    assert "The pool was not extended: Nothing is new" in done["detail"]
    assert Run.objects.filter(pk=done["id"]).exists()


def test_an_interrupted_job_goes_on_with_the_queries_that_are_left(
    world: World, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with shop(world) as (engine, server):

        def broken_at_the_ferry(asked: Asked) -> Any:
            if asked.body["q"] == "bicycle on ferry":
                return {"error": {"reason": "no ferry"}}
            return answer(asked)

        answer, server.answer = server.answer, broken_at_the_ferry
        with django_capture_on_commit_callbacks(execute=True):
            job = start_asking(engine, world.ada, name="today")
        job.refresh_from_db()
        assert job.state == Job.State.FAILED
        assert "2 of 3 queries are answered and kept" in job.detail
        assert "It said: “no ferry”" in job.detail
        assert not Run.objects.exists()
        server.answer = answer
        server.requests.clear()
        with django_capture_on_commit_callbacks(execute=True):
            resumed = resume_job(job, world.ada)
        resumed.refresh_from_db()
        assert resumed.state == Job.State.DONE
        assert [one.body["q"] for one in server.requests] == ["bicycle on ferry"]
    assert Run.objects.get(name="today").query_count == 3
    assert not EngineAnswer.objects.exists()


def test_the_command_resumes_too_but_not_with_other_settings(world: World) -> None:
    with shop(world) as (engine, server):
        server.faults.extend([(200, server.answer(Asked("", {}, {"q": "night bus"})), {}), HTML])
        with pytest.raises(EngineError, match="web page"):
            finish_asking(begin_asking(engine, name="today"), progress=told)
        call_command("search_run", "harbour", "shop", "--resume", stdout=io.StringIO())
        assert Run.objects.get(name="today").preflight["engine"]["queries"] == 3
        assert len(server.requests) == 4
        server.faults.append(HTML)
        with pytest.raises(EngineError):
            finish_asking(asking := begin_asking(engine, name="other"), progress=told)
        change_engine(engine, settings_at(server.url, score_path=""), user=world.ada)
        with pytest.raises(InputError, match="was changed since"):
            finish_asking(asking, progress=told)


def test_a_cancelled_job_leaves_nothing(world: World) -> None:
    with shop(world) as (engine, _):
        asking = begin_asking(engine)
        job = Job.objects.create(
            collection=world.collection, kind="engine run", arguments={"asking": asking.pk}, state="running"
        )

        def cancelled(share: float, detail: str) -> None:
            if "of 3 queries are answered" in detail:
                raise JobCancelledError

        from pooling.jobs.kinds import WORK

        with pytest.raises(JobCancelledError):
            WORK["engine run"](job, cancelled)
    assert not EngineAsking.objects.exists()
    assert not Run.objects.exists()


def test_a_busy_engine_is_asked_again_after_the_time_it_asks_for(world: World) -> None:
    waited: list[float] = []
    with shop(world) as (engine, server):
        server.faults.extend([(429, {}, {"Retry-After": "7"}), (503, {}, {}), (503, {}, {})])
        pace = Pace(sleep=waited.append)
        finish_asking(begin_asking(engine, name="today"), progress=told, pace=pace)
    assert waited == [7.0, 2.0, 4.0]
    asked = Run.objects.get().preflight["engine"]
    assert (asked["requests"], asked["retries"]) == (6, 3)


def test_patience_ends(world: World) -> None:
    with shop(world) as (engine, server):
        server.faults.extend([(503, {"message": "warming up"}, {})] * 4)
        with pytest.raises(PassingError, match=r"answers 503\. It said: “warming up” 0 of 3 queries"):
            finish_asking(begin_asking(engine), progress=told, pace=quick())
        assert len(server.requests) == 4


def test_requests_keep_their_distance() -> None:
    now, waited = [100.0], list[float]()
    pace = Pace(4, sleep=waited.append, clock=lambda: now[0])
    pace.take_turn()
    pace.take_turn()
    now[0] = 100.1
    pace.take_turn()
    now[0] = 200.0
    pace.take_turn()
    assert waited == [0.25, pytest.approx(0.4)]


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        (HTML, "web page .HTML. instead of JSON"),
        ((200, b"plain words", {}), "is not JSON"),
        ((200, b"[" * 200_000, {}), "is not JSON"),
        ((200, b" " * 8_000_001, {}), "longer than 8,000,000 bytes"),
        ((200, b"x", {"Content-Encoding": "gzip"}), "compressed"),
        ((200, {"hits": {"total": 0}}, {}), "no “hits” where the path has it; it is {hits: {total: number}}"),
        ((302, {}, {"Location": "http://127.0.0.1:1/"}), "redirects requests .302."),
        ((401, {}, {}), "asks for a key .401."),
        ((403, {}, {}), "does not allow"),
        ((404, {"error": {"root_cause": [{"reason": "no such index [docs]"}]}}, {}), "no such index"),
        ((400, {"status": {"error": "bad vector"}}, {}), "refuses the request .400.. It said: “bad vector”"),
    ],
)
def test_what_is_no_answer_is_one_sentence(world: World, fault: Any, problem: str) -> None:
    with shop(world) as (_, server):
        server.faults.append(fault)
        with pytest.raises(EngineError, match=problem):
            try_engine(world.collection, settings_at(server.url), "")


def test_a_private_address_is_refused_unless_its_network_is_allowed(world: World, settings: Any) -> None:
    with shop(world) as (_, server):
        settings.ENGINE_PRIVATE_NETWORKS = []
        with pytest.raises(EngineError, match="SOUNDINGS_ENGINE_PRIVATE_NETWORKS"):
            try_engine(world.collection, settings_at(server.url), "")
        assert server.requests == []


def test_an_engine_that_finds_nothing_for_a_query_is_a_note_and_for_all_a_refusal(world: World) -> None:
    Query.objects.create(collection=world.collection, external_id="q4", text="nothing like it")
    with shop(world) as (engine, server):
        run = Run.objects.get(pk=finish_asking(begin_asking(engine), progress=told)["id"])
        assert "The engine found nothing for 1 query." in run.preflight["notes"]
        server.answer = lambda asked: {"hits": {"hits": []}}
        with pytest.raises(InputError, match="found nothing for any query"):
            finish_asking(begin_asking(engine, name="empty"), progress=told)


def test_answers_without_scores_count_by_place(world: World) -> None:
    with shop(world, score_path="") as (engine, _):
        run = Run.objects.get(pk=finish_asking(begin_asking(engine), progress=told)["id"])
    rows = read_stored_run(run)
    assert list(rows["score"][:3]) == [-1.0, -2.0, -3.0]
    assert "documents count by their place" in run.preflight["notes"][0]


def test_an_engine_that_takes_vectors_gets_those_of_the_queries(world: World) -> None:
    body = '{"q": "{{query}}", "vector": {{vector}}, "size": {{k}}}'
    with shop(world, body=body) as (engine, server):
        with pytest.raises(EngineError, match="“q1” has no list of numbers under “vector”"):
            finish_asking(begin_asking(engine), progress=told)
        Query.objects.update(metadata={"vector": [0.5, -1]})
        finish_asking(begin_asking(engine), progress=told)
    assert [one.body["vector"] for one in server.requests] == [[0.5, -1]] * 3


def test_several_requests_at_a_time_give_the_same_run(world: World) -> None:
    with shop(world) as (engine, server):
        one = finish_asking(begin_asking(engine, name="one"), progress=told)
        change_engine(engine, settings_at(server.url, concurrency=3), user=world.ada)
        three = finish_asking(begin_asking(engine, name="three"), progress=told)
    assert one["sha256"] == three["sha256"]


def test_a_key_goes_to_its_host_alone(world: World) -> None:
    with shop(world, key=KEY) as (engine, server):
        change_engine(engine, settings_at(server.url, depth=5), user=world.ada)
        assert key_of(engine) == KEY
        change_engine(engine, settings_at("http://127.0.0.1:9"), user=world.ada)
        assert key_of(engine) == ""
