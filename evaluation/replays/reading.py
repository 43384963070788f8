"""Labels and runs as people have them, made ready for a replay."""

from __future__ import annotations

from evaluation.replays.replaying import LabelledPool, labelled_pool, with_prior_scores
from evaluation.scoring.conventions import Conventions
from pooling.inputs.given import Runs, RunSource, Source
from pooling.inputs.reading import named_runs, qrels_frame, run_frame
from pooling.ranking.ranking import order_run


def read_labelled_pool(
    qrels: Source,
    runs: Runs,
    *,
    depth: int,
    min_relevance: int = 1,
    ties: str = "docid",
    scores: str = "float64",
    prior: RunSource | None = None,
) -> LabelledPool:
    """The labelled pool of files, dicts or frames; each run is cut to `depth` right after it is read.

    prior: the scores of a model, as a run, for strategies that start from them. Raises ValueError for a
    `min_relevance` that `Conventions` refuses.
    """
    Conventions(min_relevance=min_relevance)
    labels = qrels_frame(qrels)
    tops = {}
    for name, source in named_runs(runs, use="A replay").items():
        frame = run_frame(name, source, with_rank=ties == "rank")
        tops[name] = order_run(frame, ties=ties, scores=scores, depth=depth).drop("position")
    pool = labelled_pool(labels, tops, min_relevance=min_relevance, ties=ties, scores=scores, depth=depth)
    return pool if prior is None else with_prior_scores(pool, run_frame("prior", prior))
