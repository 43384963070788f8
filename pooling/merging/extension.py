"""A later version of a pool: more runs or a greater depth, with everything that was there before kept.

What was pooled keeps its position, its place in the audit and its inclusion probability: those say how it
came to be judged, and that has happened. Who found it where is computed again, since more runs may have. The
pairs that are new follow behind, in the order of a strategy that looks at all runs, and are chosen as if
they were a separate pool: a budget of theirs, and an audit drawn among them alone, in a random order of the
new documents. An estimate therefore adds up strata, one for each query and version, and nothing that an
earlier version drew has to be drawn again: a document that was left out of the first audit stays what it
was, one of those for which that audit speaks.

Where the audit has a reach (`pooling.ranking.frame`), it goes on instead: the order of a frame is that of its
documents' own keys, so that one draw serves all versions, and probabilities are those of the newest.
"""

from __future__ import annotations

from collections.abc import Mapping

from pooling.heavy import pl
from pooling.merging.choice import Choice
from pooling.merging.merging import (
    POOLED,
    chosen_in_frame,
    chosen_pairs,
    ordered_pairs,
    pairs_beyond,
    with_position,
)

PAIR = ["query_id", "document_id"]
#: What a pair keeps through all versions; `version` is the one that brought it.
KEPT = ("position", "in_audit", "inclusion_probability", "version")


class NothingNewError(ValueError):
    """The runs' first documents were all pooled before."""


def extended_pool(
    runs: Mapping[str, pl.DataFrame],
    before: pl.DataFrame,
    choice: Choice,
    *,
    version: int,
    text: pl.DataFrame | None = None,
    with_reserve: bool = False,
) -> pl.DataFrame:
    """The pooled frame of `pooling.merging.merging.build_pool` with the column `version`.

    runs: those of the pool, in its order, then the new ones. before: query_id, document_id and KEPT of the
    pool that is extended. choice: how the new pairs are ordered and chosen; budget and audit are
    theirs alone. Positions of new pairs go on behind the query's last. text, with_reserve: as for
    `build_pool`, where there is a reach. Raises `NothingNewError` without a
    new pair, and ValueError as `build_pool` does.
    """
    ordered = ordered_pairs(runs, choice)
    new = ordered.join(before, on=PAIR, how="anti", maintain_order="left")
    if new.is_empty():
        raise NothingNewError
    if choice.reach is not None:
        more = pairs_beyond(runs, ordered, choice, text)
        return _extended_in_frame(ordered, more, before, choice, version=version, with_reserve=with_reserve)
    last = before.group_by("query_id").agg(last=pl.col("position").max())
    chosen = chosen_pairs(with_position(new), choice).join(
        last, on="query_id", how="left", maintain_order="left"
    )
    behind = chosen.with_columns(
        position=(pl.col("position") + pl.col("last").fill_null(0)).cast(pl.UInt32),
        version=pl.lit(version, dtype=pl.Int64),
    )
    facts = ordered.drop("position").join(before.select(*PAIR, *KEPT), on=PAIR)
    columns = [*(name for name in POOLED if name in behind.columns), "version"]
    kept = facts.with_columns(pl.col("position").cast(pl.UInt32), pl.col("version").cast(pl.Int64))
    return pl.concat([kept.select(columns), behind.select(columns)]).sort("query_id", "position")


def _extended_in_frame(
    ordered: pl.DataFrame,
    beyond: pl.DataFrame,
    before: pl.DataFrame,
    choice: Choice,
    *,
    version: int,
    with_reserve: bool,
) -> pl.DataFrame:
    """The audit goes on in a frame: what was pooled keeps its place, all else follows."""
    chosen = chosen_in_frame(ordered, beyond, choice, with_reserve=with_reserve, kept=before)
    stands = before.select(*PAIR, stood="position", brought="version")
    rows = chosen.join(stands, on=PAIR, how="left", maintain_order="left")
    last = pl.col("stood").max().over("query_id").fill_null(0)
    is_new = pl.col("stood").is_null()
    place = last + is_new.cum_sum().over("query_id")
    numbered = rows.with_columns(
        position=pl.when(is_new).then(place).otherwise("stood").cast(pl.UInt32),
        version=pl.col("brought").fill_null(version).cast(pl.Int64),
    )
    return numbered.drop("stood", "brought").sort("query_id", "position")
