"""A stored pool and a release as the sample that estimates rest on, with what other pools of the collection
say of its frame: read here, worked out in `sample` and `union`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Max

from evaluation.estimates.sample import FRAME, POOL, AuditSample, audit_ranks, audit_sample
from evaluation.estimates.union import answered_in_full, not_led_by, with_others
from labeling.adaptive.query_state import audit_pairs_elsewhere
from labeling.adaptive.state import PairPart, parts_of_pairs
from labeling.models import ImportedLabel, Item, Judgment, QrelsRelease, Verdict
from pooling.heavy import pl
from pooling.models import Collection, Document, Pool, PoolEntry
from pooling.pools.building import choice_of, read_tops
from pooling.ranking.frame import frame_keys
from pooling.ranking.ranking import query_starts
from pooling.storage.frames import PAIR_IDS, rows_frame

PAIR = ["query_id", "document_id"]
_KEYS = ("query__external_id", "document__external_id")


def read_sample(
    pool: Pool,
    release: QrelsRelease,
    labels: pl.DataFrame,
    min_relevance: int,
    *,
    chosen: pl.DataFrame | None = None,
) -> AuditSample:
    """The sample that `labels` (query_id, document_id, relevance; those of the release) are of the pool.

    What was found by search alone is no part of it: no audit speaks for what search can find. chosen: what
    all pools chose for certain, as `chosen_for_certain`, where that is known.
    """
    design = _design(pool, release)
    labels = _with_deleted(labels, design, pool.collection)
    if chosen is None:
        chosen = chosen_for_certain(pool.collection, release, labels)
    searched = _searched(pool.collection).join(design, on=PAIR, how="anti")
    judged = labels.filter(pl.col("relevance") >= 0).join(searched, on=PAIR, how="anti")
    relevant = judged.select(*PAIR, relevant=pl.col("relevance") >= min_relevance)
    strangers = relevant.join(design, on=PAIR, how="anti").join(design, on="query_id", how="semi")
    others = not_led_by(design, chosen.filter(pl.col("choice") != pool.pk))
    design, used = with_others(design, relevant, others, inside_frame(pool, strangers))
    return audit_sample(design, used, left_out=relevant.height - used.height)


def _with_deleted(labels: pl.DataFrame, design: pl.DataFrame, collection: Collection) -> pl.DataFrame:
    """With a label of 0 for each chosen document that was deleted before it had one: nobody can judge it any
    more, and it is no relevant document of the collection that is left. It stays in the frame that was drawn
    from, as do those that were deleted and not drawn."""
    deleted = Document.everything.filter(collection=collection, deleted_at__isnull=False)
    names = list(deleted.values_list("external_id", flat=True))
    chosen = design.filter(pl.col("in_audit") | (pl.col("inclusion_probability") == 1))
    lost = chosen.filter(pl.col("document_id").is_in(names)).select(PAIR).unique()
    labelled = labels.select(*PAIR, "relevance").filter(pl.col("relevance") >= 0)
    zero = pl.lit(0, labelled["relevance"].dtype)
    unlabelled = lost.join(labelled, on=PAIR, how="anti").with_columns(relevance=zero)
    return pl.concat([labelled, unlabelled])


def brought_pairs(pool: Pool) -> pl.DataFrame:
    """The pairs that this version of a pool brought and that had no label before: query_id, document_id."""
    brought = rows_frame(pool.entries.filter(version=pool.version), **PAIR_IDS)
    return brought.join(_labelled_before(pool), on=PAIR, how="anti")


def _searched(collection: Collection) -> pl.DataFrame:
    rows = PoolEntry.objects.filter(pool__collection=collection, pool__strategy=Pool.SEARCH)
    return rows_frame(rows, **PAIR_IDS)


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
    entries = PoolEntry.everything.filter(pool=pool).order_by("query_id", "document_id")
    frame = rows_frame(entries, "in_audit", "inclusion_probability", "version", "is_beyond", **PAIR_IDS)
    versions = pool.versions()
    if pool.reach is None:
        frame = pl.concat([_ranked(frame.filter(version=one.version), one.seed) for one in versions])
    else:
        frame = _ranked_in_frame(frame, pool)
    parts = parts_of_pairs(pool, release.sidecar.get("selections", ()))
    # The order of a frame serves all versions, and an adaptive queue draws once.
    draws_once = pool.reach is not None or parts is not None
    frame = _as_selected(frame, parts).with_columns(
        draw=pl.lit(pool.version, dtype=pl.Int64) if draws_once else pl.col("version")
    )
    labelled = pl.concat(
        [
            _labelled_before(one).with_columns(draw=pl.lit(one.version, dtype=pl.Int64), known=pl.lit(True))
            for one in ([pool] if draws_once else versions)
        ]
    )
    unanswered = pairs_frame(release.sidecar.get("cannot_judge", ()))
    return (
        frame.join(labelled, on=[*PAIR, "draw"], how="left")
        .join(unanswered.with_columns(cannot_judge=pl.lit(True)), on=PAIR, how="left")
        .with_columns(pl.col("known", "cannot_judge").fill_null(False))
        .select(*POOL, *FRAME)
    )


def _ranked(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """The pairs that one version brought, each with its place in the audit order of its query."""
    starts = query_starts(frame).tolist()
    heads = frame["query_id"].gather(starts).to_list()
    ranks = audit_ranks(heads, frame["document_id"], starts, seed)
    return frame.with_columns(
        audit_rank=pl.Series(ranks, dtype=pl.Int64), frame_size=pl.lit(None, dtype=pl.Int64)
    )


def _ranked_in_frame(frame: pl.DataFrame, pool: Pool) -> pl.DataFrame:
    """The pairs of a pool whose audit has a reach, each with its place in the order of its frame."""
    keys: list[bytes] = []
    for (query,), rows in frame.group_by("query_id", maintain_order=True):
        keys += frame_keys(str(query), rows["document_id"], pool.seed)
    sizes = pl.DataFrame(
        {"query_id": list(pool.frame["sizes"]), "frame_size": list(pool.frame["sizes"].values())},
        schema={"query_id": pl.String, "frame_size": pl.Int64},
    )
    rank = pl.Series(keys, dtype=pl.Binary).rank("ordinal").cast(pl.Int64)
    return frame.with_columns(audit_rank=rank).join(sizes, on="query_id", how="left", maintain_order="left")


def _as_selected(frame: pl.DataFrame, parts: dict[tuple[str, str], PairPart] | None) -> pl.DataFrame:
    """The design after an adaptive queue: what its order reached is certain, what it drew the audit."""
    if parts is None:
        return frame
    schema = {**dict.fromkeys(PAIR, pl.String), "place": pl.Int64, "is_certain": pl.Boolean}
    rows = [(*pair, part.place, part.is_certain) for pair, part in parts.items()]
    joined = frame.join(pl.DataFrame(rows, schema=schema, orient="row"), on=PAIR, how="left")
    in_draw, in_queue = pl.col("place").is_not_null(), pl.col("is_certain").is_not_null()
    chosen = pl.when(pl.col("is_certain").fill_null(False)).then(pl.lit(1.0))
    return joined.with_columns(
        in_audit=pl.when(in_queue).then(in_draw).otherwise("in_audit"),
        inclusion_probability=pl.when(in_queue).then(chosen).otherwise("inclusion_probability"),
        # What was drawn comes first, so that its labelled beginning has no gaps.
        audit_rank=pl.when(in_draw).then("place").otherwise(pl.col("audit_rank") + frame.height),
    ).drop("place", "is_certain")


def _labelled_before(pool: Pool) -> pl.DataFrame:
    """The pairs that had a label when the pool drew its audit: imported by then, or with as many verdicts by
    then as a queue of that time needed. Neither can change any more. But what was judged because it came
    early in the order of this very audit is still drawn."""
    collection, built_at = pool.collection_id, pool.built_at
    imported = ImportedLabel.objects.filter(collection=collection, relevance__gte=0, imported_at__lt=built_at)
    judged = Judgment.objects.counted().filter(collection=collection, judged_at__lt=built_at)
    votes = judged.exclude(verdict=Verdict.CANNOT_JUDGE).order_by().values("query", "document")
    counted = rows_frame(votes.annotate(verdicts=Count("pk")), "query", "document", "verdicts", **PAIR_IDS)
    items = Item.objects.filter(queue__collection=collection, queue__opened_at__lt=built_at, done__gt=0)
    needs = items.order_by().values("query", "document").annotate(need=Max("needed"))
    needed = rows_frame(needs, "query", "document", "need")
    both = counted.join(needed, on=["query", "document"], how="left")
    pairs_alike = audit_pairs_elsewhere(pool)
    final = both.filter(pl.col("verdicts") >= pl.col("need").fill_null(1))
    if pairs_alike:
        alike = [pair in pairs_alike for pair in final.select("query", "document").iter_rows()]
        final = final.filter(~pl.Series(alike, dtype=pl.Boolean))
    return pl.concat([rows_frame(imported, **PAIR_IDS), final.select(PAIR)]).unique()


def pairs_frame(rows: Any) -> pl.DataFrame:
    return pl.DataFrame([tuple(row) for row in rows], schema=dict.fromkeys(PAIR, pl.String), orient="row")


def chosen_for_certain(collection: Collection, release: QrelsRelease, labels: pl.DataFrame) -> pl.DataFrame:
    """query_id, document_id, is_given (its label was there before), choice (pool) of every answered choice;
    nothing without a second pool."""
    pools = list(collection.pools.exclude(strategy__in=Pool.PICKED).defer("diagnostics", "frame"))
    rows = [(*row, pool.pk) for pool in (pools if len(pools) > 1 else []) for row in _certain(pool, release)]
    schema = {**dict.fromkeys(PAIR, pl.String), "is_given": pl.Boolean, "choice": pl.Int64}
    chosen = pl.DataFrame(rows, schema=schema, orient="row")
    unanswered = pl.DataFrame(
        [tuple(pair) for pair in release.sidecar.get("cannot_judge", ())],
        schema=dict.fromkeys(PAIR, pl.String),
        orient="row",
    )
    return answered_in_full(chosen, labels.filter(pl.col("relevance") >= 0), unanswered)


def _certain(pool: Pool, release: QrelsRelease) -> Iterator[tuple[str, str, bool]]:
    """Pairs that a pool's order came to, that of an adaptive queue where there is one; and whether that began
    with their labels."""
    parts = parts_of_pairs(pool, release.sidecar.get("selections", ()))
    if parts is not None:
        yield from ((*pair, part.is_given) for pair, part in parts.items() if part.is_certain)
        return
    entries = PoolEntry.objects.filter(pool=pool, inclusion_probability=1)
    there = entries.filter(query__deleted_at=None, document__deleted_at=None)
    yield from ((*pair, False) for pair in there.order_by().values_list(*_KEYS).iterator())


def inside_frame(pool: Pool, pairs: pl.DataFrame) -> pl.DataFrame:
    """Of pairs (query_id, document_id) without a row in a pool with a reach, whether its frame has them:
    `is_inside`, null where only the text ranking could have them, which is not kept."""
    unique_pairs = pairs.select(PAIR).unique()
    if pool.reach is None or unique_pairs.is_empty():
        return unique_pairs.head(0).with_columns(is_inside=pl.lit(None, dtype=pl.Boolean))
    places = pool.pool_runs.select_related("run__collection")
    queries = dict.fromkeys(unique_pairs["query_id"].unique().to_list(), 0)
    tops, _ = read_tops([place.run for place in places], queries, choice_of(pool), lambda share, detail: None)
    top_pairs = (
        pl.concat([top.select(PAIR) for top in tops.values()]).unique().with_columns(is_found=pl.lit(True))
    )
    documents = pool.collection.documents.listed().exclude(text=None).count()
    whole = [query for query in queries if (pool.frame_size(query) or 0) >= documents]
    otherwise = (
        pl.when(pl.col("query_id").is_in(whole)).then(pl.lit(True)).otherwise(pl.lit(None, dtype=pl.Boolean))
        if pool.frame.get("text")
        else pl.lit(False)
    )
    return unique_pairs.join(top_pairs, on=PAIR, how="left").select(
        *PAIR, is_inside=pl.when("is_found").then(pl.lit(True)).otherwise(otherwise)
    )
