"""A stored pool and a release as the sample that estimates rest on: read here, worked out in
`audit_sample.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max

from labeling.models import ImportedLabel, Item, Judgment, QrelsRelease, Verdict
from pooling.models import Collection, Pool

if TYPE_CHECKING:
    import polars as pl

    from evaluation.audit_sample import AuditSample

PAIR = ["query_id", "document_id"]
_KEYS = ("query__external_id", "document__external_id")


def pool_to_estimate(collection: Collection) -> Pool | None:
    """The newest pool whose documents were sampled or are all to be judged; else the newest; else none."""
    pools = list(collection.pools.all())
    sampled = [pool for pool in pools if pool.audit_share or pool.budget is None or _samples(pool)]
    return next(iter([*sampled, *pools]), None)


def _samples(pool: Pool) -> bool:
    from pooling.strategies import STRATEGIES

    return pool.strategy in STRATEGIES and STRATEGIES[pool.strategy].samples


def read_sample(pool: Pool, release: QrelsRelease, labels: pl.DataFrame, min_relevance: int) -> AuditSample:
    """The sample that `labels` (query_id, document_id, relevance; those of the release) are of the pool."""
    import polars as pl

    from evaluation.audit_sample import audit_sample

    judged = labels.filter(pl.col("relevance") >= 0)
    relevant = judged.select(*PAIR, relevant=pl.col("relevance") >= min_relevance)
    return audit_sample(_design(pool, release), relevant)


def budgets(pool: Pool) -> list[tuple[int, int]]:
    """Of each query: the documents that the pool's choice has judged, and those it holds."""
    counted = (
        pool.entries.order_by()
        .values("query")
        .annotate(size=Count("pk"), chosen=Count("inclusion_probability"))
    )
    return list(counted.values_list("chosen", "size"))


def _design(pool: Pool, release: QrelsRelease) -> pl.DataFrame:
    """The pool's pairs as `audit_sample` wants them."""
    import polars as pl

    from evaluation.audit_sample import POOL, audit_ranks
    from pooling.ranking import query_starts

    rows = pool.entries.order_by("query_id", "document_id").values_list(
        *_KEYS, "in_audit", "inclusion_probability"
    )
    schema = {
        **dict.fromkeys(PAIR, pl.String),
        "in_audit": pl.Boolean,
        "inclusion_probability": pl.Float64,
    }
    frame = pl.DataFrame(list(rows.iterator(chunk_size=10_000)), schema=schema, orient="row")
    starts = query_starts(frame).tolist()
    heads = frame["query_id"].gather(starts).to_list()
    ranks = audit_ranks(heads, frame["document_id"], starts, pool.seed)
    known, unanswered = _known_before(pool), _pairs(release.sidecar.get("cannot_judge", ()))
    return (
        frame.with_columns(
            draw=pl.lit(pool.version, dtype=pl.Int64), audit_rank=pl.Series(ranks, dtype=pl.Int64)
        )
        .join(known.with_columns(known=pl.lit(True)), on=PAIR, how="left")
        .join(unanswered.with_columns(cannot_judge=pl.lit(True)), on=PAIR, how="left")
        .with_columns(pl.col("known", "cannot_judge").fill_null(False))
        .select(POOL)
    )


def _known_before(pool: Pool) -> pl.DataFrame:
    """The pairs that had a label when the pool drew its audit: imported by then, or with as many verdicts by
    then as a queue of that time needed. Neither can change any more."""
    import polars as pl

    collection, drawn = pool.collection_id, pool.built_at
    imported = ImportedLabel.objects.filter(
        collection=collection, relevance__gte=0, imported_at__lt=drawn
    ).values_list(*_KEYS)
    judged = Judgment.objects.counted().filter(collection=collection, judged_at__lt=drawn)
    votes = judged.exclude(verdict=Verdict.CANNOT_JUDGE)
    counted = votes.order_by().values_list(*_KEYS).annotate(verdicts=Count("pk"))
    items = Item.objects.filter(queue__collection=collection, queue__opened_at__lt=drawn, done__gt=0)
    needs = items.order_by().values_list(*_KEYS).annotate(Max("needed"))
    needed = {row[:2]: row[2] for row in needs.iterator()}
    final = [row[:2] for row in counted.iterator() if row[2] >= needed.get(row[:2], 1)]
    return pl.concat([_pairs(imported.iterator()), _pairs(final)]).unique()


def _pairs(rows: Any) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([tuple(row) for row in rows], schema=dict.fromkeys(PAIR, pl.String), orient="row")
