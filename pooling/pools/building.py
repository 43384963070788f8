"""Pools: chosen by the pure modules from stored runs, then written row by row in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse

from pooling.formats.errors import excerpt
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.interface.problems import InputError, refuse_all
from pooling.interface.results import Progress, Result
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import start_job
from pooling.merging import merging
from pooling.merging.choice import Choice
from pooling.merging.stored_diagnosis import NewPairs
from pooling.merging.summary import diagnose
from pooling.models import Collection, Document, Job, Pool, PoolEntry, PoolRun, Query, Run, StoredFrame
from pooling.options import options_of
from pooling.ranking.ranking import order_run
from pooling.runs.numbered import documents_left_out, without_documents
from pooling.runs.stored import read_stored_run, runs_named
from pooling.storage.frames import PAIR_IDS, rows_frame
from pooling.storage.staging import Staged, staged
from pooling.storage.storing import checked_name, disk_errors_named, tell_the_planner
from pooling.strategies import STRATEGIES
from pooling.texts.importing import lock
from pooling.texts.text_ranking import text_ranking


class PoolBuilt(Result):
    """A pool just built."""

    id: int
    name: str
    pairs: int
    chosen: int
    queries: int
    # By run, queries that the collection does not have.
    left_out_queries: dict[str, int]
    version: int
    new: Annotated[
        NewPairs | None,
        Mapping[str, Any],
        "Of a later version: pairs, chosen, audit and queries that are new.",
    ]


def pool_result(pool: Pool) -> PoolBuilt:
    return {
        "id": pool.pk,
        "name": pool.name,
        "pairs": pool.pair_count,
        "chosen": pool.chosen_count,
        "queries": pool.query_count,
        "left_out_queries": pool.diagnostics.get("left_out_queries", {}),
        "version": pool.version,
        "new": pool.diagnostics.get("new"),
        "detail": _sentence(pool),
        "url": reverse("pool", args=[pool.collection.slug, pool.pk]),
    }


def _sentence(pool: Pool) -> str:
    text = f"Pool “{pool.name}”: {counted(pool.pair_count, 'pair')} for {counted(pool.query_count, 'query')}"
    new = pool.diagnostics.get("new")
    return f"{text}, {new['pairs']:,} of them new." if new else f"{text}."


BATCH = 50_000
PLAIN = ("position", "run_count", "best_rank", "rrf", "in_audit", "inclusion_probability")
TABLE = ("query_id", "document_id", *PLAIN)
TSV = "text/tab-separated-values; charset=utf-8"
STAGED_PAIR = {
    "query_id": "text",
    "document_id": "text",
    "position": "whole",
    "run_count": "whole",
    "best_rank": "whole",
    "rrf": "number",
    "in_audit": "flag",
    "inclusion_probability": "number",
    "found_by": "json",
    "version": "whole",
    "is_beyond": "flag",
}
_NEW_DOCUMENTS = """
    INSERT INTO pooling_document (collection_id, external_id, title, metadata, version)
    SELECT %s, document_id, '', '{}', 1 FROM staged_pairs staged WHERE NOT EXISTS (
        SELECT 1 FROM pooling_document known
        WHERE known.collection_id = %s AND known.external_id = staged.document_id
    )
    GROUP BY document_id
"""
_ENTRIES = """
    INSERT INTO pooling_poolentry (
        pool_id, query_id, document_id,
        position, run_count, best_rank, rrf, in_audit, inclusion_probability, found_by, version, is_beyond
    )
    SELECT %s, query.id, document.id, position, run_count, best_rank, rrf, in_audit, inclusion_probability,
        found_by, staged.version, is_beyond
    FROM staged_pairs staged
    JOIN pooling_query query ON query.collection_id = %s AND query.external_id = staged.query_id
    JOIN pooling_document document
        ON document.collection_id = %s AND document.external_id = staged.document_id
"""


def build_pool(
    collection: Collection,
    *,
    name: str,
    runs: Sequence[Run],
    user: User | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Pool:
    """Merge stored runs, choose pairs, and store the pool with its diagnostics.

    options: fields of `Choice`; `depth` is required. With a reach, the texts of the collection are ranked for
    its queries, so that the audit draws from what no run found as well. Queries of the runs that the
    collection does not have are left out and counted. Documents not known yet get a row without text.
    `InputError` for a name that exists and for values out of range.
    """
    progress = progress or (lambda share, detail: None)
    name = free_name(collection, name)
    if not runs:
        raise InputError("A pool needs at least one run.", fields={"runs": "Choose at least one run."})
    choice = checked_choice(Choice(**options), runs)
    query_keys = dict(collection.queries.listed().values_list("external_id", "pk"))
    frames, left_out = read_tops(runs, query_keys, choice, progress)
    progress(0.4, "Merging.")
    text = ranked_texts(collection, frames, choice, progress)
    pooled = _pooled(frames, choice, text)
    if pooled.is_empty():
        raise InputError("Nothing to pool: these runs have no query of the collection.")
    pool = Pool(collection=collection, name=name, built_by=user, **asdict(choice))
    count_pairs(pool, pooled)
    pool.frame = frame_of(pooled, text)
    pool.diagnostics = {
        **diagnose(tops_of(frames, choice), pooled, choice.deepest),
        "left_out_queries": left_out,
    }
    progress(0.5, f"Storing {counted(pool.pair_count, 'pair')}.")
    return store_pool(pool, runs, pooled.with_columns(version=1))


def checked_choice(choice: Choice, runs: Iterable[Run]) -> Choice:
    """The choice with its defaults settled; `InputError` for a value out of its range."""
    refuse_all(choice.problems({run.name for run in runs}))
    return choice.settled()


def choice_of(pool: Pool) -> Choice:
    return Choice(**{name: getattr(pool, name) for name in options_of(Choice)})


def free_name(collection: Collection, name: str) -> str:
    """The name as it is stored; `InputError` if a pool of the collection has it."""
    name = checked_name(name, "pool")
    if collection.pools.filter(name=name).exists():
        raise _name_exists(name)
    return name


def _name_exists(name: str) -> InputError:
    problem = f"Pool “{name}” already exists. Choose another name."
    return InputError(problem, field="name", conflict=True)


def read_tops(
    runs: Sequence[Run], query_keys: Mapping[str, int], choice: Choice, progress: Progress
) -> tuple[dict[str, pl.DataFrame], dict[str, int]]:
    """Each run's top for the collection's queries, cut while reading, and how many others it has."""
    queries = pl.DataFrame({"query_id": list(query_keys)}, schema={"query_id": pl.String})
    hidden = documents_left_out(runs[0].collection)
    frames, left_out = {}, {}
    for done, run in enumerate(runs):
        progress(0.4 * done / len(runs), f"Reading run “{run.name}”.")
        frame = read_stored_run(run, need_rank=choice.ties == "rank")
        frame = frame.join(queries, on="query_id", how="semi", maintain_order="left")
        left_out[run.name] = run.query_count - frame["query_id"].n_unique()
        top = order_run(frame, ties=choice.ties, scores=choice.scores, depth=choice.reach_of(run.name))
        if not STRATEGIES[choice.strategy].needs_scores:
            # Its order is settled now: scores that fall with it keep it under every rule for ties.
            top = top.with_columns(score=-pl.col("position").cast(pl.Float64))
        frames[run.name] = without_documents(top, hidden).drop("position")
    return frames, left_out


def ranked_texts(
    collection: Collection, frames: Mapping[str, pl.DataFrame], choice: Choice, progress: Progress
) -> pl.DataFrame | None:
    """The text ranking of the frame, for the queries of the runs; None without a reach or any text."""
    texts = collection.documents.listed().exclude(text=None)
    if choice.reach is None or not texts.exists():
        return None
    query_ids = {query for frame in frames.values() for query in frame["query_id"].unique().to_list()}
    listed = collection.queries.listed().values_list("external_id", "text")
    queries = {query: text for query, text in listed if query in query_ids}
    rows = texts.order_by("pk").values_list("external_id", "title", "text").iterator(chunk_size=2_000)
    return text_ranking(
        queries,
        ((document, f"{title} {text}") for document, title, text in rows),
        choice.reach,
        language=collection.language,
        progress=lambda share, detail: progress(0.4 + 0.1 * share, detail),
    )


def frame_of(pooled: pl.DataFrame, text: pl.DataFrame | None) -> StoredFrame:
    if "frame_size" not in pooled.columns:
        return {}
    sizes = pooled.unique("query_id", maintain_order=True).select("query_id", "frame_size")
    return {"sizes": dict(sizes.iter_rows()), "text": text is not None}


def tops_of(frames: Mapping[str, pl.DataFrame], choice: Choice) -> Mapping[str, pl.DataFrame]:
    if choice.reach is None:
        return frames

    return {
        name: order_run(frame, ties=choice.ties, scores=choice.scores, depth=choice.depth_of(name)).drop(
            "position"
        )
        for name, frame in frames.items()
    }


def learns(choice: Choice) -> bool:
    """A queue over the pool may have an order that learns, and draws as it goes."""
    return STRATEGIES[choice.strategy].greedy.learns


def _pooled(frames: Mapping[str, pl.DataFrame], choice: Choice, text: pl.DataFrame | None) -> pl.DataFrame:
    try:
        return merging.build_pool(frames, **asdict(choice), text=text, with_reserve=learns(choice))
    except ValueError as error:
        raise InputError(str(error)) from error


def count_pairs(pool: Pool, pooled: pl.DataFrame) -> None:
    """Set the counts of a pool, not yet saved; what only may come to be drawn does not count."""
    pooled = merging.without_reserve(pooled)
    pool.pair_count = pooled.height
    pool.chosen_count = pooled.height - pooled["inclusion_probability"].null_count()
    pool.query_count = pooled["query_id"].n_unique()


def store_pool(pool: Pool, runs: Sequence[Run], pooled: pl.DataFrame) -> Pool:
    """Write a pool, not yet saved, with the pairs of a pooled frame that has the column `version`."""
    if "is_beyond" not in pooled.columns:
        pooled = pooled.with_columns(is_beyond=False)
    with disk_errors_named(), staged("staged_pairs", STAGED_PAIR) as stage:
        for batch in pooled.iter_slices(BATCH):
            stage.fill(batch.with_columns(_finders(batch)))
        stage.settle()
        with transaction.atomic():
            _store(pool, runs, stage)
    return pool


def _finders(pooled: pl.DataFrame) -> pl.Series:
    """Of each pair, JSON of `[run, rank]` in the order of the runs."""
    numbered = pooled.select(pl.int_range(pl.len()).alias("pair"), "runs", "ranks")
    finders = numbered.filter(pl.col("runs").list.len() > 0).explode("runs", "ranks")
    each = finders.sort("pair", "runs", "ranks").select("pair", one=pl.format("[{}, {}]", "runs", "ranks"))
    joined = each.group_by("pair").agg(pl.col("one").str.join(", "))
    rows = numbered.join(joined, on="pair", how="left", maintain_order="left")
    # Pairs that somebody picked were found by no run.
    return rows.select(found_by=pl.format("[{}]", pl.col("one").fill_null("")))["found_by"]


def _store(pool: Pool, runs: Sequence[Run], stage: Staged) -> None:
    """Write the pool and its pairs; documents that the collection does not know get a row without text."""
    lock(pool.collection)
    try:
        with transaction.atomic():
            pool.save()
    except IntegrityError:
        if pool.extends is not None and Pool.objects.filter(extends=pool.extends).exists():
            problem = f"Pool “{pool.extends.name}” was extended in the meantime. See the list of pools."
            raise InputError(problem, conflict=True) from None
        raise _name_exists(pool.name) from None
    PoolRun.objects.bulk_create(PoolRun(pool=pool, run=run, index=index) for index, run in enumerate(runs))
    keys = [pool.collection_id, pool.collection_id]
    tell_the_planner(Document, stage.run(_NEW_DOCUMENTS, keys))
    stage.run(_ENTRIES, [pool.pk, *keys])
    tell_the_planner(PoolEntry, pool.pair_count)


def pooled_frame(pool: Pool) -> pl.DataFrame:
    """The pool's pairs by external ids, in `position` order; without deleted queries and documents."""
    entries = pool.entries.filter(query__deleted_at=None, document__deleted_at=None)
    return rows_frame(entries.order_by("query_id", "position"), **PAIR_IDS)


def pooled_pairs(pools: Iterable[Pool]) -> pl.DataFrame | None:
    """The pairs of several pools, each once, for bounds next to the runs' first K; None without a pool."""
    frames = [pooled_frame(pool) for pool in pools]
    return pl.concat(frames).unique() if frames else None


def expected_pairs(runs: Iterable[Run], choice: Choice) -> int:
    """No pool of these runs is larger to its depth: what decides between now and the background worker."""
    return sum(run.query_count * min(run.depth, choice.depth_of(run.name)) for run in runs)


@job_kind(
    "pool",
    title="Building a pool",
    stages=((0.0, "Read the runs"), (0.4, "Merge their lists"), (0.5, "Store the pairs")),
    begins_at="pool_new",
)
def _build_in_background(job: Job, progress: Progress) -> PoolBuilt:
    arguments = dict(job.arguments)
    runs = runs_named(job.collection, arguments.pop("runs"))
    return pool_result(
        build_pool(job.collection, runs=runs, user=job.created_by, progress=progress, **arguments)
    )


def build_or_start(
    collection: Collection, choice: Choice, *, name: str, runs: Sequence[Run], user: User | None
) -> PoolBuilt | Job:
    """Build a small pool at once, a large one in the background; what is refused is refused now."""
    if expected_pairs(runs, choice) <= settings.BACKGROUND_POOL_PAIRS:
        return pool_result(build_pool(collection, name=name, runs=runs, user=user, **asdict(choice)))
    arguments = {"name": free_name(collection, name), **asdict(choice)}
    checked_choice(choice, runs)
    return start_job(collection, "pool", {**arguments, "runs": [run.name for run in runs]}, user)


def pool_lines(pool: Pool) -> Iterator[str]:
    """The lines of the table that the command `pool` prints: by query id bytewise, then position.

    Later versions have a column more, `version`, since each has its own audit; where the audit has a reach,
    `frame_size` and `frame_reach` come last. `InputError` at once for an id that a line of it cannot hold.
    """
    _refuse_odd_ids(pool)
    return _lines(pool)


def _refuse_odd_ids(pool: Pool) -> None:
    """A tab or a line end in an id would make columns and lines of its own."""
    odd = Q()
    for sign in ("\t", "\n", "\r"):
        odd |= Q(external_id__contains=sign)
    collection = pool.collection
    for rows, field in ((Query, "query"), (Document, "document")):
        some = rows.everything.filter(odd, collection=collection)
        ids = pool.entries.filter(**{f"{field}__in": some}).values_list(f"{field}__external_id", flat=True)
        if (id := ids.first()) is not None:
            problem = f"The {field} id {excerpt(id)} has a tab or a line end, which TSV cannot hold."
            raise InputError(
                f"{problem} Download the pool as Label Studio tasks, or import it with another id."
            )


def _lines(pool: Pool) -> Iterator[str]:
    of_frame = ["frame_size", "frame_reach"] if pool.frame else []
    more = [*(["version"] if pool.extends_id is not None else []), *of_frame]
    yield "\t".join([*TABLE, *more]) + "\n"
    queries = dict(Query.objects.filter(collection=pool.collection).values_list("pk", "external_id"))
    in_order = sorted(queries, key=lambda key: queries[key].encode())
    for batch in (in_order[start : start + 200] for start in range(0, len(in_order), 200)):
        place = {key: number for number, key in enumerate(batch)}
        entries = pool.entries.filter(query__in=batch).select_related("document").defer("document__text")
        for entry in sorted(entries, key=lambda entry: (place[entry.query_id], entry.position)):
            yield _line(pool, queries[entry.query_id], entry)


def _line(pool: Pool, query_id: str, entry: PoolEntry) -> str:
    probability = "" if entry.inclusion_probability is None else entry.inclusion_probability
    place = [query_id, entry.document.external_id, entry.position]
    best = "" if entry.best_rank is None else entry.best_rank
    worth = [entry.run_count, best, entry.rrf, int(entry.in_audit), probability]
    if pool.extends_id is not None:
        worth.append(entry.version)
    if pool.frame:
        worth += [pool.frame_size(query_id) or "", pool.reach or ""]
    return "\t".join(map(str, [*place, *worth])) + "\n"
