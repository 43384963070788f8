"""The registry of measures, each with its definition, formula and reference; no file, frame or convention."""

from evaluation.measures import counting, ranking
from evaluation.measures.counting import judged_of_retrieved
from evaluation.measures.ranked import Grades, RankedLabels, rank_labels
from evaluation.measures.registry import (
    MEASURES,
    SPAN_MEASURES,
    Measure,
    TopCounts,
    key_of,
    measure_keys,
    measure_named,
    mlflow_name,
    share,
    split_name,
    titled,
    trec_eval_name,
)
from pooling.heavy import Floats, Integers

__all__ = [
    "MEASURES",
    "SPAN_MEASURES",
    "Floats",
    "Grades",
    "Integers",
    "Measure",
    "RankedLabels",
    "TopCounts",
    "counting",
    "judged_of_retrieved",
    "key_of",
    "measure_keys",
    "measure_named",
    "mlflow_name",
    "rank_labels",
    "ranking",
    "share",
    "split_name",
    "titled",
    "trec_eval_name",
]
