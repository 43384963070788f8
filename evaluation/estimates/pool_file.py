"""Files of pools and the labels of an evaluation as the sample that estimates rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evaluation.estimates.of_pool import PoolDesign
from evaluation.estimates.sample import FRAME, PAIR, POOL, AuditSample, Standing, audit_sample, standing
from evaluation.estimates.union import answered_in_full, with_others
from evaluation.scoring.estimate_figures import FrameFigures, PoolOfEstimates
from evaluation.scoring.results import Evaluation
from pooling.heavy import np, pl


def design_of_files(pools: Mapping[str, pl.DataFrame], evaluation: Evaluation) -> PoolDesign:
    """The design of the pool that carries the estimates, of those read by `pooling.formats.pools`, under the
    labels of the evaluation; what the other files chose for certain is known (`estimates/union.py`).

    A file does not tell in which order its audit was drawn, nor which labels were known before: a query's
    audit counts once all of it has a label, and only what the choice of one of the files reached is certain.
    Nor does it tell which documents without a row a frame has, beyond what `_inside` finds: the labels of the
    others are left out.
    """
    labels, nobody = _labels(evaluation), pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String))
    chosen = answered_in_full(
        pl.concat(
            pool.filter(pl.col("inclusion_probability") == 1).select(*PAIR, choice=pl.lit(name))
            for name, pool in pools.items()
        ),
        labels,
        nobody,
    )
    designs = [
        _design(name, pool, evaluation, labels, others=chosen.filter(pl.col("choice") != name))
        for name, pool in pools.items()
    ]
    if len(designs) == 1:
        return designs[0]
    both = zip(designs, pools.values(), strict=True)
    return max(both, key=lambda one: _weight(one[0], one[1], evaluation))[0]


def _weight(
    design: PoolDesign, pool: pl.DataFrame, evaluation: Evaluation
) -> tuple[bool, Standing, int, str]:
    """By what files are compared in any order: as stored pools, then finds by runs, then their content."""
    ranks = pool["best_rank"].drop_nulls()
    shared = len(design.members) / len(evaluation.runs) if len(ranks) else 1.0
    return (
        design.has_audit,
        standing(design.audit, evaluation, design.reach, shared),
        max(pool["run_count"].drop_nulls().to_list(), default=0),
        repr(pool.select(*PAIR, "in_audit", "inclusion_probability").sort(PAIR).rows()),
    )


def _design(
    name: str, pool: pl.DataFrame, evaluation: Evaluation, labels: pl.DataFrame, *, others: pl.DataFrame
) -> PoolDesign:
    answered = pl.col("relevant").is_not_null()
    pairs = pool.join(labels, on=PAIR, how="left").with_columns(
        # The order of a frame serves all versions.
        draw=pl.when(pl.col("frame_size").is_null()).then("version").otherwise(pl.col("version").max()),
        # An audit document without a label comes first, so that nothing after it counts as drawn.
        audit_rank=pl.when(pl.col("in_audit")).then(answered.cast(pl.Int64)).otherwise(2),
        known=pl.lit(False),
        cannot_judge=pl.lit(False),
        is_beyond=_is_beyond(pool),
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
    deepest = depth_of_file(pool)
    depths = dict.fromkeys(evaluation.runs, deepest) if deepest else None
    has_audit = pool["in_audit"].any() or bool((pool["inclusion_probability"] < 1).any())
    design, used = with_others(pairs.select(*POOL, *FRAME), labels, others, _inside(pool, evaluation))
    sample = audit_sample(design, used, left_out=labels.height - used.height)
    frame = _frame(pool, sample) if has_audit else None
    design_of_file = PoolDesign(described, sample, budgets, depths, has_audit, frame)
    deepest_draw = _deepest(pool) if has_audit else None
    return replace(design_of_file, members=_members(pool, evaluation), deepest_draw=deepest_draw)


def _inside(pool: pl.DataFrame, evaluation: Evaluation) -> pl.DataFrame:
    """The labelled pairs that a frame has for sure: where the runs evaluated are those of the pool, as the
    ranks of its rows tell, those that stand no deeper than its reach, or than what it drew."""
    labels = evaluation.labels
    places = np.array([run.counted.position for run in evaluation.runs.values()], dtype=np.int64)
    best = np.where(places > 0, places, np.iinfo(np.int64).max).min(axis=0)
    labelled = pl.DataFrame(
        {"query_id": labels.query_ids.gather(labels.query), "document_id": labels.document_ids, "best": best}
    )
    ranked = pool.filter(pl.col("best_rank").is_not_null()).join(labelled, on=PAIR)
    is_of_runs = ranked.height > 0 and bool((ranked["best_rank"] == ranked["best"]).all())
    reach = (_reach(pool) or _deepest(pool)) if is_of_runs else None
    return labelled.filter(pl.col("best") <= (reach or 0)).select(*PAIR, is_inside=pl.lit(True))


def _members(pool: pl.DataFrame, evaluation: Evaluation) -> frozenset[str]:
    """The runs of the pool by the ranks of its rows: no document is further up than in the best of them."""
    labels = evaluation.labels
    labelled = pl.DataFrame(
        {"query_id": labels.query_ids.gather(labels.query), "document_id": labels.document_ids}
    )
    ranked = labelled.with_row_index("row").join(pool.drop_nulls("best_rank"), on=PAIR)
    rows, best = ranked["row"].to_numpy(), ranked["best_rank"].to_numpy()
    places = {name: run.counted.position[rows].astype(np.int64) for name, run in evaluation.runs.items()}
    return frozenset(
        name for name, place in places.items() if place.any() and not ((place > 0) & (place < best)).any()
    )


def depth_of_file(pool: pl.DataFrame) -> int | None:
    """Depth of the pooled runs, as far as the file tells; None where it does not."""
    return _deepest(pool.filter(~pool.select(_is_beyond(pool)).to_series()))


def _is_beyond(pool: pl.DataFrame) -> pl.Expr:
    """True for rows beyond the depth: in the frame, and deeper than all that was not drawn."""
    depth = _deepest(pool.filter(~pl.col("in_audit")))
    if depth is None:
        return pl.lit(False)
    deeper = pl.col("best_rank").is_null() | (pl.col("best_rank") > depth)
    return pl.col("frame_size").is_not_null() & deeper


def _deepest(pool: pl.DataFrame) -> int | None:
    """A file does not tell its depth: the worst of the best ranks is that of the pool."""
    ranks = pool["best_rank"].drop_nulls().to_list()
    return max(ranks) if ranks else None


def _reach(pool: pl.DataFrame) -> int | None:
    return max(pool["frame_reach"].drop_nulls().to_list(), default=None)


def _frame(pool: pl.DataFrame, sample: AuditSample) -> FrameFigures:
    """The reach is not that of the deepest document drawn, so it is null where a file does not tell it."""
    is_deep = bool(pool["frame_size"].is_not_null().any())
    return {
        "reach": _reach(pool) if is_deep else _deepest(pool),
        "runs": max(pool["run_count"].drop_nulls().to_list(), default=0),
        "text": is_deep and bool((pool["run_count"] == 0).any()),
        "size": int(sample.strata["pairs"].sum()),
    }


def _labels(evaluation: Evaluation) -> pl.DataFrame:
    """query_id, document_id, relevant of the judged pairs."""
    labels = evaluation.labels
    frame = pl.DataFrame(
        {
            "query_id": labels.query_ids.gather(labels.query),
            "document_id": labels.document_ids,
            "relevant": labels.relevant,
        }
    )
    return frame.filter(pl.Series(labels.judged))
