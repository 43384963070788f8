"""Min–max-normalised scores summed over runs: what CombMNZ and its kin order by."""

from __future__ import annotations

from collections.abc import Mapping

from pooling.heavy import pl
from pooling.ranking.ranking import order_run


def with_score_sums(
    merged: pl.DataFrame,
    runs: Mapping[str, pl.DataFrame],
    *,
    depth: int,
    ties: str = "docid",
    scores: str = "float64",
    depths: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """The merged pairs with `score_sum` (Float64): each run's scores mapped to 0 … 1 by query, then summed.

    The least and the greatest score are those of the run's first `depth` documents (or as many as `depths`
    says of it); where they are equal, each document gets 1.
    """
    own = depths or {}
    parts = [
        normalised(order_run(run, ties=ties, scores=scores, depth=own.get(name, depth)))
        for name, run in runs.items()
    ]
    # Summed in the order of the runs, so that the last bit does not hang on how rows were grouped.
    sums = (
        pl.concat(parts)
        .group_by("query_id", "document_id", maintain_order=True)
        .agg(pl.col("score_sum").sum())
    )
    return merged.join(sums, on=["query_id", "document_id"], how="left", maintain_order="left")


def normalised(top: pl.DataFrame) -> pl.DataFrame:
    score = pl.col("score").cast(pl.Float64)
    least, greatest = score.min().over("query_id"), score.max().over("query_id")
    share = pl.when(greatest > least).then((score - least) / (greatest - least)).otherwise(1.0)
    return top.select("query_id", "document_id", share.alias("score_sum"))
