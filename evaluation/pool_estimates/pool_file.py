"""A pool's file and the labels of an evaluation as the sample that estimates rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.estimates.sample import PAIR, POOL, audit_sample
from evaluation.pool_estimates.of_pool import PoolDesign

if TYPE_CHECKING:
    import polars as pl

    from evaluation.scoring.estimate_figures import PoolOfEstimates
    from evaluation.scoring.results import Evaluation


def design_of_file(pool: pl.DataFrame, name: str, evaluation: Evaluation) -> PoolDesign:
    """The design of a pool read by `pooling.formats.pools`, under the labels of the evaluation.

    A file does not tell in which order its audit was drawn, nor which labels were known before: a query's
    audit counts once all of it has a label, and only what the choice reached is certain.
    """
    import polars as pl

    labels = _labels(evaluation)
    answered = pl.col("relevant").is_not_null()
    pairs = pool.join(labels, on=PAIR, how="left").with_columns(
        draw=pl.col("version"),
        # An audit document without a label comes first, so that nothing after it counts as drawn.
        audit_rank=pl.when(pl.col("in_audit")).then(answered.cast(pl.Int64)).otherwise(2),
        known=pl.lit(False),
        cannot_judge=pl.lit(False),
    )

    def budgets() -> list[tuple[int, int]]:
        counted = pool.group_by("query_id").agg(pl.col("inclusion_probability").count(), pl.len())
        return counted.sort("query_id").drop("query_id").rows()

    described: PoolOfEstimates = {
        "name": name,
        "version": None,
        "strategy": None,
        "depth": None,
        "depths": None,
        "budget": None,
        "audit_share": None,
        "seed": None,
    }
    # A file tells no depth of its own: the worst of the best ranks is that of the pool.
    ranks = pool["best_rank"].drop_nulls().to_list()
    depths = dict.fromkeys(evaluation.runs, max(ranks)) if ranks else None
    drawn = pool["in_audit"].any() or bool((pool["inclusion_probability"] < 1).any())
    return PoolDesign(described, audit_sample(pairs.select(POOL), labels), budgets, depths, drawn)


def _labels(evaluation: Evaluation) -> pl.DataFrame:
    """query_id, document_id, relevant of the judged pairs."""
    import polars as pl

    labels = evaluation.labels
    frame = pl.DataFrame(
        {
            "query_id": labels.query_ids.gather(labels.query),
            "document_id": labels.document_ids,
            "relevant": labels.relevant,
        }
    )
    return frame.filter(pl.Series(labels.judged))
