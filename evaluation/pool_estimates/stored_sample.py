"""A stored pool and a release as the sample that estimates rest on: read here, worked out in
`audit_sample.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max

from labeling.adaptive.state import parts_of_pairs
from labeling.models import ImportedLabel, Item, Judgment, QrelsRelease, Verdict
from pooling.models import Collection, Pool, PoolEntry

if TYPE_CHECKING:
    import polars as pl

    from evaluation.estimates.sample import AuditSample
    from labeling.adaptive.state import PairPart

PAIR = ["query_id", "document_id"]
_KEYS = ("query__external_id", "document__external_id")


def read_sample(pool: Pool, release: QrelsRelease, labels: pl.DataFrame, min_relevance: int) -> AuditSample:
    """The sample that `labels` (query_id, document_id, relevance; those of the release) are of the pool.

    What was found by search alone is no part of it: no audit speaks for what search can find.
    """
    import polars as pl

    from evaluation.estimates.sample import audit_sample

    design = _design(pool, release)
    searched = _searched(pool.collection).join(design, on=PAIR, how="anti")
    judged = labels.filter(pl.col("relevance") >= 0).join(searched, on=PAIR, how="anti")
    relevant = judged.select(*PAIR, relevant=pl.col("relevance") >= min_relevance)
    return audit_sample(design, relevant)


def brought_pairs(pool: Pool) -> pl.DataFrame:
    """The pairs that this version of a pool brought and that had no label before: query_id, document_id."""
    brought = pairs_frame(pool.entries.filter(version=pool.version).values_list(*_KEYS).iterator())
    return brought.join(_known_before(pool), on=PAIR, how="anti")


def _searched(collection: Collection) -> pl.DataFrame:
    rows = PoolEntry.objects.filter(pool__collection=collection, pool__strategy=Pool.SEARCH)
    return pairs_frame(rows.values_list(*_KEYS).iterator())


def budgets(pool: Pool) -> list[tuple[int, int]]:
    """Of each query: the documents that the pool's choice has judged, and those it holds."""
    counted = (
        pool.entries.order_by()
        .values("query")
        .annotate(size=Count("pk"), chosen=Count("inclusion_probability"))
    )
    return list(counted.values_list("chosen", "size"))


def _design(pool: Pool, release: QrelsRelease) -> pl.DataFrame:
    """The pool's pairs as `audit_sample` wants them.

    Each version of the pool drew its audit among the pairs that it brought, and of them alone it is a sample;
    what had a label then is certain. An adaptive queue draws once, among all pairs.
    """
    import polars as pl

    from evaluation.estimates.sample import POOL

    rows = pool.entries.order_by("query_id", "document_id").values_list(
        *_KEYS, "in_audit", "inclusion_probability", "version"
    )
    schema = {
        **dict.fromkeys(PAIR, pl.String),
        "in_audit": pl.Boolean,
        "inclusion_probability": pl.Float64,
        "version": pl.Int64,
    }
    frame = pl.DataFrame(list(rows.iterator(chunk_size=10_000)), schema=schema, orient="row")
    versions = pool.versions()
    frame = pl.concat([_ranked(frame.filter(version=one.version), one.seed) for one in versions])
    parts = parts_of_pairs(pool, release.sidecar.get("selections", ()))
    frame = _as_selected(frame, parts).with_columns(
        draw=pl.col("version") if parts is None else pl.lit(pool.version, dtype=pl.Int64)
    )
    known = pl.concat(
        [
            _known_before(one).with_columns(draw=pl.lit(one.version, dtype=pl.Int64), known=pl.lit(True))
            for one in (versions if parts is None else [pool])
        ]
    )
    unanswered = pairs_frame(release.sidecar.get("cannot_judge", ()))
    return (
        frame.join(known, on=[*PAIR, "draw"], how="left")
        .join(unanswered.with_columns(cannot_judge=pl.lit(True)), on=PAIR, how="left")
        .with_columns(pl.col("known", "cannot_judge").fill_null(False))
        .select(POOL)
    )


def _ranked(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The pairs that one version brought, each with its place in the audit order of its query."""
    import polars as pl

    from evaluation.estimates.sample import audit_ranks
    from pooling.ranking.ranking import query_starts

    starts = query_starts(frame).tolist()
    heads = frame["query_id"].gather(starts).to_list()
    ranks = audit_ranks(heads, frame["document_id"], starts, seed)
    return frame.with_columns(audit_rank=pl.Series(ranks, dtype=pl.Int64))


def _as_selected(frame: pl.DataFrame, parts: dict[tuple[str, str], PairPart] | None) -> pl.DataFrame:
    """The design with what an adaptive queue has made of it: what its order reached is certain, what it drew
    is the audit, whatever the pool's own choice was."""
    import polars as pl

    if parts is None:
        return frame
    schema = {**dict.fromkeys(PAIR, pl.String), "place": pl.Int64, "is_certain": pl.Boolean}
    rows = [(*pair, part.place, part.is_certain) for pair, part in parts.items()]
    joined = frame.join(pl.DataFrame(rows, schema=schema, orient="row"), on=PAIR, how="left")
    is_drawn, in_queue = pl.col("place").is_not_null(), pl.col("is_certain").is_not_null()
    chosen = pl.when(pl.col("is_certain").fill_null(False)).then(pl.lit(1.0))
    return joined.with_columns(
        in_audit=pl.when(in_queue).then(is_drawn).otherwise("in_audit"),
        inclusion_probability=pl.when(in_queue).then(chosen).otherwise("inclusion_probability"),
        # What was drawn comes first, so that its labelled beginning has no gaps.
        audit_rank=pl.when(is_drawn).then("place").otherwise(pl.col("audit_rank") + frame.height),
    ).drop("place", "is_certain")


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
    return pl.concat([pairs_frame(imported.iterator()), pairs_frame(final)]).unique()


def pairs_frame(rows: Any) -> pl.DataFrame:
    """Rows of two ids as query_id, document_id."""
    import polars as pl

    return pl.DataFrame([tuple(row) for row in rows], schema=dict.fromkeys(PAIR, pl.String), orient="row")
