"""Choice among several pools of the one that carries the estimates."""

from __future__ import annotations

from typing import NamedTuple

from evaluation.estimates.sample import AuditSample
from evaluation.scoring.results import Evaluation
from evaluation.scoring.wording import usual_cutoff
from pooling.heavy import pl


class Standing(NamedTuple):
    """By what pools with an audit are compared, the first that differs deciding.

    is_deep: whether its frame covers the usual K: one that is shallower says nothing there, however far it is
    judged. answered: of how many runs and queries measured the draw is answered, as a share; queries: of how
    many queries. size: documents in its frames.
    """

    is_deep: bool
    answered: float
    queries: float
    size: int


def standing(audit: AuditSample, evaluation: Evaluation, reach: int | None, shared: float) -> Standing:
    """shared: the share of the runs measured that the pool has; reach: None where nobody knows it."""
    cutoffs = [k for name, k in evaluation.keys if name == "recall" and k is not None]
    queries = answered_share(audit, evaluation.labels.query_ids)
    is_deep = reach is None or not cutoffs or reach >= usual_cutoff(cutoffs)
    return Standing(is_deep, queries * shared, queries, int(audit.strata["pairs"].sum()))


def answered_share(audit: AuditSample, query_ids: pl.Series) -> float:
    """The mean over queries of the share of the draw that is answered; 0 for a query that the pool does not
    hold or cannot estimate, 1 for one of which nothing had to be drawn."""
    columns = pl.col("sampled", "waiting").sum(), pl.col("defined").all()
    counted = audit.strata.group_by("query_id").agg(columns)
    draw_size = pl.col("sampled") + pl.col("waiting")
    share = pl.when(draw_size > 0).then(pl.col("sampled") / draw_size).otherwise(1.0)
    shares = counted.filter("defined").select("query_id", share=share)
    measured = pl.DataFrame({"query_id": query_ids})
    mean = measured.join(shares, on="query_id", how="left")["share"].fill_null(0.0).mean()
    return float(mean) if isinstance(mean, float) else 0.0
