"""Pools: chosen by the pure modules from stored runs, then written row by row in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.urls import reverse

from pooling.jobs import job_kind, start_job
from pooling.models import Collection, Job, Pool, PoolEntry, PoolRun, Query, Run
from pooling.problems import InputError
from pooling.runs import read_stored_run, runs_named
from pooling.storing import checked_name, disk_errors_named, insert_rows
from pooling.texts import insert_documents, lock

if TYPE_CHECKING:
    import polars as pl
    from django.contrib.auth.models import User

    from pooling.texts import Report

BATCH = 5000
# What the database can count; no run is as deep.
MOST = 2**31 - 1
PLAIN = ("position", "run_count", "best_rank", "rrf", "in_audit", "inclusion_probability")
TABLE = ("query_id", "document_id", *PLAIN)


@dataclass(frozen=True)
class Choice:
    """How the pairs of a pool are chosen; see `pooling.merging.build_pool`."""

    depth: int
    strategy: str = "rrf"
    budget: int | None = None
    audit_share: float = 0.0
    seed: int = 0
    ties: str = "docid"
    scores: str = "float64"

    def check(self) -> None:
        """`InputError` for a value out of its range."""
        from pooling.strategies import STRATEGIES

        problems = {
            "depth": 1 <= self.depth <= MOST or f"Depth is a number from 1 to {MOST:,}.",
            "budget": self.budget is None
            or 1 <= self.budget <= MOST
            or f"A budget is a number of pairs from 1 to {MOST:,}.",
            "audit_share": 0 <= self.audit_share <= 1 or "The audit share lies between 0 and 1.",
            "seed": -(2**63) <= self.seed < 2**63 or "The seed is a 64-bit whole number.",
            "strategy": self.strategy in STRATEGIES
            or f"There is no strategy “{self.strategy}”. Choose one of {', '.join(sorted(STRATEGIES))}.",
        }
        if problems["strategy"] is True and self.audit_share and STRATEGIES[self.strategy].samples:
            problems["audit_share"] = "The strategy sampling is a sample already; leave the audit share at 0."
        fields = {name: problem for name, problem in problems.items() if isinstance(problem, str)}
        if fields:
            raise InputError(" ".join(fields.values()), fields=fields)

    def settled(self) -> Choice:
        """With the audit share of the strategy where none is given."""
        from pooling.strategies import STRATEGIES

        return replace(self, audit_share=self.audit_share or STRATEGIES[self.strategy].audit_share)


def build_pool(
    collection: Collection,
    *,
    name: str,
    runs: Sequence[Run],
    depth: int,
    strategy: str = "rrf",
    budget: int | None = None,
    audit_share: float = 0.0,
    seed: int = 0,
    ties: str = "docid",
    scores: str = "float64",
    user: User | None = None,
    report: Report | None = None,
) -> Pool:
    """Merge stored runs to `depth`, choose by `strategy`, and store the pool with its diagnostics.

    Queries of the runs that the collection does not have are left out and counted. Documents not known yet
    get a row without text. `InputError` for a name that exists and for values out of range.
    """
    choice = Choice(depth, strategy, budget, audit_share, seed, ties, scores)
    report = report or (lambda share, detail: None)
    name = _free_name(collection, name)
    choice.check()
    choice = choice.settled()
    if not runs:
        raise InputError("A pool needs at least one run.", fields={"runs": "Choose at least one run."})
    query_keys = dict(collection.queries.values_list("external_id", "pk"))
    frames, left_out = _frames(runs, query_keys, choice, report)
    report(0.4, "Merging.")
    pooled = _pooled(frames, choice)
    if pooled.is_empty():
        raise InputError("Nothing to pool: none of these runs has a query of the collection.")
    pool = Pool(collection=collection, name=name, built_by=user, **asdict(choice))
    _count(pool, pooled)
    pool.diagnostics = {**_diagnostics(frames, pooled, depth), "left_out_queries": left_out}
    report(0.5, f"Storing {pool.pair_count:,} pairs.")
    return _stored(pool, runs, pooled, query_keys)


def _free_name(collection: Collection, name: str) -> str:
    name = checked_name(name, "pool")
    if collection.pools.filter(name=name).exists():
        raise _name_exists(name)
    return name


def _name_exists(name: str) -> InputError:
    problem = f"There is a pool “{name}” already. Give this one another name."
    return InputError(problem, fields={"name": problem}, conflict=True)


def _frames(
    runs: Sequence[Run], query_keys: Mapping[str, int], choice: Choice, report: Report
) -> tuple[dict[str, pl.DataFrame], dict[str, int]]:
    """The top of each run for the collection's queries, and how many other queries each run has.

    Cut to the depth while reading, so that fifty deep runs need the memory of their tops alone.
    """
    import polars as pl

    from pooling.ranking import order_run
    from pooling.strategies import STRATEGIES

    known = pl.DataFrame({"query_id": list(query_keys)}, schema={"query_id": pl.String})
    frames, left_out = {}, {}
    for done, run in enumerate(runs):
        report(0.4 * done / len(runs), f"Reading run “{run.name}”.")
        frame = read_stored_run(run, need_rank=choice.ties == "rank")
        frame = frame.join(known, on="query_id", how="semi", maintain_order="left")
        left_out[run.name] = run.query_count - frame["query_id"].n_unique()
        top = order_run(frame, ties=choice.ties, scores=choice.scores, depth=choice.depth)
        if not STRATEGIES[choice.strategy].needs_scores:
            # Its order is settled now: scores that fall with it keep it under every rule for ties.
            top = top.with_columns(score=-pl.col("position").cast(pl.Float64))
        frames[run.name] = top.drop("position")
    return frames, left_out


def _pooled(frames: Mapping[str, pl.DataFrame], choice: Choice) -> pl.DataFrame:
    from pooling import merging

    try:
        return merging.build_pool(frames, **asdict(choice))
    except ValueError as error:
        raise InputError(str(error)) from error


def _count(pool: Pool, pooled: pl.DataFrame) -> None:
    pool.pair_count = pooled.height
    pool.chosen_count = pooled.height - pooled["inclusion_probability"].null_count()
    pool.query_count = pooled["query_id"].n_unique()


def _diagnostics(frames: Mapping[str, pl.DataFrame], pooled: pl.DataFrame, depth: int) -> dict[str, Any]:
    from pooling import diagnostics

    finds = diagnostics.unique_finds(pooled)
    return {
        "runs": list(frames),
        "size_by_depth": [row["pairs"] for row in diagnostics.size_by_depth(frames)],
        "overlap": diagnostics.overlap(frames, depth),
        "unique_finds": dict(zip_longest(frames, finds, fillvalue=0)),
        "sizes": _sizes(pooled),
        "audit": int(pooled["in_audit"].sum()),
    }


def _sizes(pooled: pl.DataFrame) -> dict[str, Any]:
    """How many pairs the queries have: `bins` are [from, to, queries], ten at most."""
    sizes = pooled.group_by("query_id").len()["len"].sort()
    least, most = int(sizes[0]), int(sizes[-1])
    width = (most - least) // 10 + 1
    starts = range(least, most + 1, width)
    bins = [
        [low, min(low + width - 1, most), int(sizes.is_between(low, low + width - 1).sum())] for low in starts
    ]
    return {"least": least, "median": sizes.median(), "mean": sizes.mean(), "most": most, "bins": bins}


def _stored(pool: Pool, runs: Sequence[Run], pooled: pl.DataFrame, query_keys: Mapping[str, int]) -> Pool:
    with disk_errors_named(), transaction.atomic():
        lock(pool.collection)
        try:
            with transaction.atomic():
                pool.save()
        except IntegrityError:
            raise _name_exists(pool.name) from None
        PoolRun.objects.bulk_create(
            PoolRun(pool=pool, run=run, index=index) for index, run in enumerate(runs)
        )
        document_keys = _document_keys(
            pool.collection, pooled["document_id"].unique(maintain_order=True).to_list()
        )
        _insert_entries(pool, pooled, query_keys, document_keys)
    return pool


def _document_keys(collection: Collection, ids: Sequence[str]) -> dict[str, int]:
    """The key of each document; those the collection does not know yet are created without text."""
    keys: dict[str, int] = {}
    for batch in _slices(ids, BATCH):
        known = _keys(collection, batch)
        new = [id for id in batch if id not in known]
        insert_documents(collection, ((id, "", None, {}) for id in new))
        keys |= known | _keys(collection, new)
    return keys


def _keys(collection: Collection, ids: Sequence[str]) -> dict[str, int]:
    return dict(collection.documents.filter(external_id__in=ids).values_list("external_id", "pk"))


def _slices(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def _insert_entries(
    pool: Pool, pooled: pl.DataFrame, query_keys: Mapping[str, int], document_keys: Mapping[str, int]
) -> None:
    for batch in pooled.iter_slices(BATCH):
        insert_rows(
            PoolEntry,
            ("pool", "query", "document", *PLAIN, "found_by"),
            [
                (
                    pool.pk,
                    query_keys[row["query_id"]],
                    document_keys[row["document_id"]],
                    *(row[name] for name in PLAIN),
                    json.dumps(sorted(zip(row["runs"], row["ranks"], strict=True))),
                )
                for row in batch.iter_rows(named=True)
            ],
        )


def pooled_frame(pool: Pool) -> pl.DataFrame:
    """The pool's pairs as `query_id`, `document_id` (external ids), by `position` within a query."""
    import polars as pl

    rows = pool.entries.order_by("query_id", "position").values_list(
        "query__external_id", "document__external_id"
    )
    schema = {"query_id": pl.String, "document_id": pl.String}
    return pl.DataFrame(list(rows.iterator(chunk_size=10_000)), schema=schema, orient="row")


def expected_pairs(runs: Iterable[Run], depth: int) -> int:
    """No pool of these runs to this depth is larger: what decides between now and the background worker."""
    return sum(run.query_count * min(run.depth, depth) for run in runs)


def result_of(pool: Pool) -> dict[str, Any]:
    """What the HTTP interface and a finished job say of a pool."""
    return {
        "id": pool.pk,
        "name": pool.name,
        "pairs": pool.pair_count,
        "chosen": pool.chosen_count,
        "queries": pool.query_count,
        "left_out_queries": pool.diagnostics.get("left_out_queries", {}),
        "detail": f"Pool “{pool.name}”: {pool.pair_count:,} pairs for {pool.query_count:,} queries.",
        "url": reverse("pool", args=[pool.collection.slug, pool.pk]),
    }


@job_kind("pool")
def _build_in_background(job: Job, report: Report) -> dict[str, Any]:
    arguments = dict(job.arguments)
    runs = runs_named(job.collection, arguments.pop("runs"))
    return result_of(build_pool(job.collection, runs=runs, user=job.created_by, report=report, **arguments))


def build_or_start(
    collection: Collection, *, name: str, runs: Sequence[Run], depth: int, user: User | None, **choice: Any
) -> dict[str, Any] | Job:
    """Build a small pool at once, a large one in the background; what is refused is refused now."""
    if expected_pairs(runs, depth) <= settings.BACKGROUND_POOL_PAIRS:
        return result_of(build_pool(collection, name=name, runs=runs, depth=depth, user=user, **choice))
    arguments = {"name": _free_name(collection, name), "depth": depth, **choice}
    Choice(depth, **choice).check()
    return start_job(collection, "pool", {**arguments, "runs": [run.name for run in runs]}, user)


def pool_lines(pool: Pool) -> Iterator[str]:
    """The lines of the table that the command `pool` prints: by query id bytewise, then position."""
    yield "\t".join(TABLE) + "\n"
    queries = dict(Query.objects.filter(collection=pool.collection).values_list("pk", "external_id"))
    for batch in _slices(sorted(queries, key=lambda key: queries[key].encode()), 200):
        place = {key: number for number, key in enumerate(batch)}
        entries = pool.entries.filter(query__in=batch).select_related("document").defer("document__text")
        for entry in sorted(entries, key=lambda entry: (place[entry.query_id], entry.position)):
            yield _line(queries[entry.query_id], entry)


def _line(query_id: str, entry: PoolEntry) -> str:
    probability = "" if entry.inclusion_probability is None else entry.inclusion_probability
    place = [query_id, entry.document.external_id, entry.position]
    worth = [entry.run_count, entry.best_rank, entry.rrf, int(entry.in_audit), probability]
    return "\t".join(map(str, [*place, *worth])) + "\n"
