"""What a measure is, the registry of all of them, and how their names are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation.measures.ranked import RankedLabels, nothing_ranked
from pooling.heavy import Floats, Integers, np, npt


@dataclass(frozen=True)
class TopCounts:
    """What is known of one run's first K documents, for Q queries and C cutoffs.

    cutoffs: (C,) the values of K, rising. hits, judged, retrieved: (Q, C) relevant, labelled and all
    documents in the first K. relevant: (Q,) relevant documents in the qrels. depth: (Q,) documents in the
    run. ranked: where the labelled documents stand, for the measures that are not counts; left empty where
    none of those was asked for.
    """

    cutoffs: Integers
    hits: Integers
    judged: Integers
    retrieved: Integers
    relevant: Integers
    depth: Integers
    ranked: RankedLabels = field(default_factory=nothing_ranked)

    def whole_run(self) -> TopCounts:
        """The same run with one cutoff that reaches its end; only for measures that read `ranked`."""
        end = np.array([max(1, int(self.depth.max(initial=1)))])
        return replace(self, cutoffs=end)


@dataclass(frozen=True)
class Measure:
    """One measure: `function(counts)` gives (Q, C) values, NaN where it is undefined.

    by_rank: it reads where documents stand (`counts.ranked`) and not only counts. whole: without a cutoff it
    is over the whole run; other measures are then taken at every K. cut: it can be taken at K.
    """

    name: str
    title: str
    definition: str
    formula: str
    reference: str
    function: Callable[[TopCounts], Floats]
    by_rank: bool = False
    whole: bool = False
    cut: bool = True

    def __post_init__(self) -> None:
        if not (self.whole or self.cut):
            raise ValueError(f"Measure {self.name} is neither over the whole run nor at K.")


MEASURES: dict[str, Measure] = {}

_OTHER_NAMES = {
    "p": "precision",
    "r": "recall",
    "hit_rate": "success",
    "rprec": "rprecision",
    "ap": "map",
    "rr": "mrr",
    "recip_rank": "mrr",
}
#: Measures over excerpts and their titles; those of MEASURES are over documents.
SPAN_MEASURES = {"span_recall": "Span recall", "span_precision": "Span precision"}

_NAME = re.compile(r"([a-z][a-z0-9_]*)(?:@([1-9][0-9]*))?")


def register(*measures: Measure) -> None:
    """Add measures to the registry, in the order in which they are listed everywhere."""
    MEASURES.update({measure.name: measure for measure in measures})


def measure_named(name: str) -> Measure:
    """The measure of that name; ValueError lists the known ones."""
    if name in SPAN_MEASURES:
        raise ValueError(
            f"{name} is measured over excerpts; name it with --measure or --fail-under together with --spans."
        )
    if name not in MEASURES:
        raise ValueError(f"There is no measure {name!r}; the measures are {', '.join(MEASURES)}.")
    return MEASURES[name]


def split_name(text: str) -> tuple[str, int | None]:
    """A measure name with or without its cutoff: `recall@10` -> ("recall", 10), `recall` -> ("recall", None).

    >>> split_name("F1@5")
    ('f1', 5)
    """
    match = _NAME.fullmatch(text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is not a measure; write for instance recall or recall@10.")
    measure = measure_named(_OTHER_NAMES.get(match[1], match[1]))
    if match[2] and not measure.cut:
        raise ValueError(f"{measure.name} has no cutoff; write {measure.name} for the whole run.")
    return measure.name, int(match[2]) if match[2] else None


def key_of(measure: str, k: int | None) -> str:
    """The key of a figure: `recall@10`, and `map` over the whole run."""
    return measure if k is None else f"{measure}@{k}"


def titled(measure: str, k: int | None) -> str:
    """The same for people: `Recall@10`, `MAP`."""
    return key_of(MEASURES[measure].title, k)


def measure_keys(measures: Iterable[str], cutoffs: Iterable[int]) -> list[tuple[str, int | None]]:
    """(measure, k) for every measure that names its cutoff, and for the others at each of `cutoffs`.

    k is None for what is over the whole run.

    >>> measure_keys(["recall@10", "success", "map"], [1, 5])
    [('recall', 10), ('success', 1), ('success', 5), ('map', None)]
    """
    values = list(cutoffs)
    keys: list[tuple[str, int | None]] = []
    for name, k in map(split_name, measures):
        at_each = k is None and not MEASURES[name].whole
        keys += [(name, at) for at in values] if at_each else [(name, k)]
    return list(dict.fromkeys(keys))


def share(above: npt.NDArray[Any], below: npt.NDArray[Any]) -> Floats:
    """above / below in float64, NaN where `below` is 0; `below` is broadcast."""
    result = np.full(above.shape, np.nan)
    np.divide(above, below, out=result, where=np.broadcast_to(below != 0, above.shape))
    return result


# trec_eval's names, with a place for K; what it does not have keeps our name.
_TREC_EVAL_AT_K = {"precision": "P_{}", "ndcg": "ndcg_cut_{}", "map": "map_cut_{}"}
_TREC_EVAL_WHOLE = {"mrr": "recip_rank", "rprecision": "Rprec", "infap": "infAP"}


def trec_eval_name(measure: str, k: int | None) -> str:
    """The name in the first column of trec_eval's output.

    >>> trec_eval_name("recall", 10), trec_eval_name("precision", 5), trec_eval_name("mrr", None)
    ('recall_10', 'P_5', 'recip_rank')
    """
    if k is None:
        return _TREC_EVAL_WHOLE.get(measure, measure)
    return _TREC_EVAL_AT_K.get(measure, f"{measure}_{{}}").format(k)


def mlflow_name(measure: str, k: int | None) -> str:
    """A metric's name in MLflow, which refuses an @.

    >>> mlflow_name("recall", 10), mlflow_name("map", None)
    ('recall_at_10', 'map')
    """
    return measure if k is None else f"{measure}_at_{k}"
