"""An engine asked for every query of a collection; answers are kept as they come, and stored as a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Annotated, NamedTuple

from django.contrib.auth.models import User
from django.utils import timezone

from pooling.engine_models import Engine, EngineAnswer, EngineAsking
from pooling.engines.answers import Answer
from pooling.engines.asking import EngineError, Pace, answers, patient_answer
from pooling.engines.description import asker_of, settings_of
from pooling.engines.options import EngineSettings
from pooling.engines.stored import key_of
from pooling.engines.templates import Question, places_in
from pooling.formats import RunFile
from pooling.formats.wording import counted, plural
from pooling.heavy import np, pl
from pooling.interface.problems import InputError, refusals
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import JobCancelledError, note_stored, start_job
from pooling.models import Collection, Job, Pool, Query, Run
from pooling.pools.versions import Extension, extend_pool, extension_choice
from pooling.runs.stored import (
    EngineRecord,
    Latency,
    RunImported,
    refuse_taken_name,
    run_import_result,
    store_answers,
)
from pooling.signals import engine_failed
from pooling.storage.storing import checked_name

# Answers that are stored together; as many are asked for again after a crash.
BATCH = 20
# What nobody resumed by then is dropped when the engine is asked again.
KEPT = timedelta(days=7)
FIRST_HITS = 20


class TriedHit(NamedTuple):
    """One document that was found."""

    place: int
    document: str
    score: float | None


@dataclass(frozen=True)
class Trial:
    """An engine's answer to one query."""

    query: str
    latency_ms: float
    hits: Annotated[Sequence[TriedHit], "The first 20."]
    found: int
    repeated: Annotated[int, "Hits whose document came before."]
    note: Annotated[str, {"allow_blank": True}] = ""


def try_engine(collection: Collection, settings: EngineSettings, key: str, query_id: str = "") -> Trial:
    """Ask one query, the first one where none is named; nothing is stored. `InputError` says why not."""
    rows = collection.queries.listed().order_by("pk")
    query = rows.filter(external_id=query_id).first() if query_id else rows.first()
    if query is None:
        why = f"There is no query “{query_id}”." if query_id else "The collection has no queries yet."
        raise InputError(why, field="query", missing=bool(query_id))
    with closing(asker_of(settings, key)) as asker:
        answer = patient_answer(asker, _question(query, settings), Pace(), tries=1)
    hits = answer.hits
    scores: Sequence[float | None] = hits.scores or [None] * len(hits.ids)
    places = range(1, len(hits.ids) + 1)
    return Trial(
        query=f"{query.external_id}: {query.text}",
        latency_ms=answer.latency_ms,
        hits=list(map(TriedHit, places, hits.ids, scores))[:FIRST_HITS],
        found=len(hits.ids),
        repeated=hits.repeated,
        note="" if hits.scores or not hits.ids else NO_SCORES,
    )


NO_SCORES = "No scores that fall down the list, so documents count by their place."


def begin_asking(
    engine: Engine, *, name: str | None = None, depth: int | None = None, pool: Pool | None = None
) -> EngineAsking:
    """Note that an engine is to be asked for all queries; `InputError` for what would fail in the end."""
    collection = engine.collection
    settings = {**asdict(settings_of(engine)), **({"depth": depth} if depth else {})}
    name = checked_name(name, "run") if name else _free_name(engine)
    refuse_taken_name(collection, name)
    if not collection.queries.listed().exists():
        raise InputError(f"“{collection.slug}” has no queries yet. Import them first.")
    if pool is not None:
        extension_choice(pool, [Run(collection=collection, name=name)], Extension())
    engine.askings.filter(started_at__lt=timezone.now() - KEPT).delete()
    return EngineAsking.objects.create(engine=engine, run_name=name, settings=settings, pool=pool)


def start_asking(
    engine: Engine,
    user: User | None,
    *,
    name: str | None = None,
    depth: int | None = None,
    pool: Pool | None = None,
) -> Job:
    """Have the worker ask an engine for all queries and store the run, then extend `pool` by it, if given."""
    asking = begin_asking(engine, name=name, depth=depth, pool=pool)
    return start_job(engine.collection, "engine run", {"asking": asking.pk, "engine": engine.pk}, user)


def start_scheduled(engine: Engine) -> None:
    """Have the worker ask an engine by its schedule; what keeps it from that is news like a failure."""
    try:
        asking = begin_asking(engine)
    except refusals() as error:
        engine_failed.send(Engine, engine=engine, problem=str(error))
        return
    arguments = {"asking": asking.pk, "engine": engine.pk, "scheduled": True}
    start_job(engine.collection, "engine run", arguments, engine.created_by)


@job_kind(
    "engine run",
    title="Asking an engine",
    stages=((0.0, "Ask the queries"), (0.9, "Store the run")),
    begins_at="engines",
)
def _ask_in_background(job: Job, progress: Progress) -> RunImported:
    rows = EngineAsking.objects.select_related("engine__collection", "pool__collection")
    asking = rows.filter(pk=job.arguments["asking"], engine__deleted_at=None).first()
    if asking is None:
        raise InputError("The engine was deleted, or its answers were dropped. Start again.")

    def report(share: float, detail: str) -> None:
        progress(share, detail)
        done = asking.answers.count()
        if done:
            kept = f"{counted(done, 'answer')} {plural(done, 'is', 'are')} kept."
            note_stored(job, {"detail": kept, "url": asking.engine.get_absolute_url()})

    try:
        return finish_asking(asking, user=job.created_by, progress=report)
    except JobCancelledError:
        asking.delete()
        raise
    except refusals() as error:
        if job.arguments.get("scheduled"):
            engine_failed.send(Engine, engine=asking.engine, problem=str(error))
        raise


def unfinished(engine: Engine) -> EngineAsking:
    """The newest asking of an engine that was interrupted; `InputError` where there is none."""
    asking = engine.askings.select_related("engine__collection", "pool__collection").first()
    if asking is None:
        raise InputError(f"Engine “{engine.name}” has no interrupted run. Leave out --resume.")
    return asking


def finish_asking(
    asking: EngineAsking, *, user: User | None = None, progress: Progress, pace: Pace | None = None
) -> RunImported:
    """Ask the queries that are left, store the run, and drop the answers. `EngineError` keeps them."""
    engine = asking.engine
    if asking.settings != {**asdict(settings_of(engine)), "depth": asking.settings["depth"]}:
        raise InputError("The engine was changed since. Start again, so that every query is asked alike.")
    settings = EngineSettings(**asking.settings)
    pace = pace or Pace(settings.per_second)
    _ask_all(asking, settings, pace, progress)
    progress(0.9, "Storing the run.")
    run = _stored_run(asking, settings, user)
    pool = asking.pool
    asking.delete()
    result = run_import_result(run)
    if pool is not None:
        try:
            extended = extend_pool(pool, runs=[run], user=user)
        except InputError as error:
            result["detail"] += f" The pool was not extended: {error}"
        else:
            new = extended.diagnostics["new"]["pairs"]
            result["detail"] += f" “{extended.name}” has {counted(new, 'new pair')}."
            result["url"] = extended.get_absolute_url()
    return result


def _ask_all(asking: EngineAsking, settings: EngineSettings, pace: Pace, progress: Progress) -> None:
    collection, key = asking.engine.collection, key_of(asking.engine)
    queries = collection.queries.listed().order_by("pk")
    left = queries.exclude(pk__in=asking.answers.values("query"))
    many, done = queries.count(), queries.count() - left.count()
    progress(0.9 * done / max(many, 1), f"Asking {many - done:,} of {many:,} queries.")
    askers = [asker_of(settings, key) for _ in range(settings.concurrency)]
    batch: list[EngineAnswer] = []
    try:
        # Everything is read before the first request: the database is not kept open for hours.
        with closing(answers(askers, _questions(list(left), settings), pace)) as stream:
            for query, answer in stream:
                batch.append(_row(asking, query, answer))
                if len(batch) == BATCH:
                    done += _keep(asking, batch, pace)
                    progress(0.9 * done / many, f"{done:,} of {many:,} queries are answered.")
    except EngineError as error:
        done += _keep(asking, batch, pace)
        progress(0.9 * done / many, str(error))
        raise type(error)(f"{error} {done:,} of {many:,} queries are answered and kept.") from None
    finally:
        for one in askers:
            one.close()
    done += _keep(asking, batch, pace)
    progress(0.9, f"{done:,} of {many:,} queries are answered.")


def _keep(asking: EngineAsking, batch: list[EngineAnswer], pace: Pace) -> int:
    kept = len(batch)
    EngineAnswer.objects.bulk_create(batch)
    batch.clear()
    requests, retries = pace.counted()
    asking.requests += requests
    asking.retries += retries
    asking.save(update_fields=["requests", "retries"])
    return kept


def _row(asking: EngineAsking, query: int, answer: Answer) -> EngineAnswer:
    hits = answer.hits
    return EngineAnswer(
        asking=asking,
        query_id=query,
        document_ids=list(hits.ids),
        scores=None if hits.scores is None else list(hits.scores),
        repeated=hits.repeated,
        latency_ms=answer.latency_ms,
    )


def _questions(queries: Sequence[Query], settings: EngineSettings) -> Iterator[tuple[int, Question]]:
    return ((query.pk, _question(query, settings)) for query in queries)


def _question(query: Query, settings: EngineSettings) -> Question:
    vector = None
    if "vector" in places_in(settings.body + settings.statement):
        vector = query.metadata.get("vector")
        is_vector = isinstance(vector, list) and all(type(one) in (int, float) for one in vector)
        if not vector or not is_vector:
            problem = f"Query “{query.external_id}” has no list of numbers under “vector” in its metadata."
            raise EngineError(problem)
    return Question(query.text, settings.depth, vector)


def _stored_run(asking: EngineAsking, settings: EngineSettings, user: User | None) -> Run:
    rows = list(asking.answers.select_related("query").order_by("query__external_id"))
    frame = _frame(rows)
    if frame.is_empty():
        raise InputError(f"Engine “{asking.engine.name}” found nothing for any query.")
    record: EngineRecord = {
        "id": asking.engine_id,
        "name": asking.engine.name,
        "settings": dict(asking.settings),
        "asked_from": asking.started_at.isoformat(),
        "asked_until": timezone.now().isoformat(),
        "queries": len(rows),
        "without_hits": sum(not row.document_ids for row in rows),
        "requests": asking.requests,
        "retries": asking.retries,
        "latency_ms": latency_of([row.latency_ms for row in rows]),
    }
    notes = _notes(rows, record)
    return store_answers(
        asking.engine.collection, RunFile(asking.run_name, "", frame, notes), record, user=user
    )


def _frame(rows: Sequence[EngineAnswer]) -> pl.DataFrame:
    """The rows of a run; where an answer has no scores, minus the place is the score."""
    columns: dict[str, list[object]] = {name: [] for name in ("query_id", "document_id", "score", "rank")}
    for row in rows:
        many = len(row.document_ids)
        places = range(1, many + 1)
        columns["query_id"] += [row.query.external_id] * many
        columns["document_id"] += row.document_ids
        columns["score"] += row.scores if row.scores is not None else [-float(place) for place in places]
        columns["rank"] += places
    schema = {"query_id": pl.String, "document_id": pl.String, "score": pl.Float64, "rank": pl.Int64}
    return pl.DataFrame(columns, schema=schema)


def _notes(rows: Sequence[EngineAnswer], record: EngineRecord) -> tuple[str, ...]:
    by_place = sum(row.scores is None and bool(row.document_ids) for row in rows)
    repeated = sum(row.repeated for row in rows)
    notes = []
    if by_place:
        many = counted(by_place, "query", "queries")
        notes.append(f"{many} without scores that fall down the list: documents count by their place.")
    if repeated:
        notes.append(f"{counted(repeated, 'hit')} left out because the document came before in the list.")
    if record["without_hits"]:
        notes.append(f"The engine found nothing for {counted(record['without_hits'], 'query', 'queries')}.")
    return tuple(notes)


def latency_of(times: Sequence[float]) -> Latency:
    """Mean and percentiles of times in milliseconds, with two decimals."""
    p50, p95, p99 = (round(float(value), 2) for value in np.percentile(times, [50, 95, 99]))
    mean, longest = round(float(np.mean(times)), 2), round(float(np.max(times)), 2)
    return {"mean": mean, "p50": p50, "p95": p95, "p99": p99, "max": longest}


def _free_name(engine: Engine) -> str:
    """The engine's name with the day, with the time where that is taken: one family for canaries."""
    now = timezone.localtime()
    names = (
        f"{engine.name[:160]}-{now:{form}}" for form in ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")
    )
    taken = set(engine.collection.runs.values_list("name", flat=True))
    return next((name for name in names if name not in taken), f"{engine.name[:160]}-{now.isoformat()}")
