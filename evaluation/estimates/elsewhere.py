"""Facts of the other pools of a collection about a pool's frame: see `evaluation.estimates.union`."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.estimates.union import answered_in_full
from labeling.adaptive.state import parts_of_pairs
from labeling.models import QrelsRelease
from pooling.heavy import pl
from pooling.models import Collection, Pool, PoolEntry
from pooling.pools.building import choice_of, read_tops

PAIR = ["query_id", "document_id"]
_KEYS = ("query__external_id", "document__external_id")


def chosen_for_certain(collection: Collection, release: QrelsRelease, labels: pl.DataFrame) -> pl.DataFrame:
    """The certain pairs of every pool of which all of them are answered: query_id, document_id, choice (the
    key of the pool). Nothing where there is no second pool to tell it to."""
    pools = list(collection.pools.exclude(strategy__in=Pool.PICKED).defer("diagnostics", "frame"))
    rows = [
        (*pair, pool.pk) for pool in (pools if len(pools) > 1 else []) for pair in _certain(pool, release)
    ]
    chosen = pl.DataFrame(rows, schema={**dict.fromkeys(PAIR, pl.String), "choice": pl.Int64}, orient="row")
    unanswered = pl.DataFrame(
        [tuple(pair) for pair in release.sidecar.get("cannot_judge", ())],
        schema=dict.fromkeys(PAIR, pl.String),
        orient="row",
    )
    return answered_in_full(chosen, labels.filter(pl.col("relevance") >= 0), unanswered)


def _certain(pool: Pool, release: QrelsRelease) -> Iterator[tuple[str, str]]:
    """Pairs that a pool's order came to, that of an adaptive queue where there is one."""
    parts = parts_of_pairs(pool, release.sidecar.get("selections", ()))
    if parts is not None:
        yield from (pair for pair, part in parts.items() if part.is_certain)
        return
    entries = PoolEntry.objects.filter(pool=pool, inclusion_probability=1)
    there = entries.filter(query__deleted_at=None, document__deleted_at=None)
    yield from there.order_by().values_list(*_KEYS).iterator()


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
