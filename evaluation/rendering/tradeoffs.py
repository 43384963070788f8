"""Choice of K: recall, precision and F1 side by side, the K that reaches a recall, what each place adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, cast

from evaluation.measures import Floats, measure_named
from evaluation.scoring.results import Evaluation
from evaluation.scoring.unsettled import counted_for_both
from pooling.heavy import np, pd

# The recalls whose least K `trade_offs` looks for.
TARGETS = (0.5, 0.8, 0.9, 0.95)


class TradeOffRow(TypedDict):
    """Recall, precision and F1 at one K, and what each place adds."""

    k: int
    recall: float | None
    precision: float | None
    f1: float | None
    recall_per_place: float | None
    added_per_place: float | None


class TradeOffs(TypedDict):
    """One run's rows by K, and the least K that reaches each recall."""

    by_k: list[TradeOffRow]
    k_reaching: dict[str, int | None]


def tradeoff_table(evaluation: Evaluation) -> pd.DataFrame:
    """One row per run and K: run, k, recall, precision, f1, recall_per_place, added_per_place.

    recall_per_place: Recall@K / K. added_per_place: what each place since the K before added to Recall@K; for
    the first K the same as recall_per_place. Means over the queries that count, weighted as the evaluation's.

    >>> from evaluation import evaluate
    >>> run = {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
    >>> table = tradeoff_table(evaluate({"q": {"a": 1, "b": 1}}, {"run": run}, k=(1, 4)))
    >>> table[["k", "recall", "precision", "added_per_place"]].round(3).values.tolist()
    [[1.0, 0.5, 1.0, 0.5], [4.0, 1.0, 0.5, 0.167]]
    """
    cutoffs = evaluation.cutoffs
    parts = []
    for name in evaluation.runs:
        means = {measure: _mean(evaluation, name, measure) for measure in ("recall", "precision", "f1")}
        recall = means["recall"]
        added = np.diff(recall, prepend=0) / np.diff(cutoffs, prepend=0)
        parts.append(
            pd.DataFrame(
                {
                    "run": name,
                    "k": cutoffs,
                    **means,
                    "recall_per_place": recall / cutoffs,
                    "added_per_place": added,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def trade_offs(evaluation: Evaluation, targets: Sequence[float] = TARGETS) -> dict[str, TradeOffs]:
    """Both of the above for every run as plain values: {run: {"by_k": [{"k", "recall", ...}], "k_reaching":
    {"0.9": K or None}}}; what is undefined is None.

    >>> from evaluation import evaluate
    >>> result = evaluate({"q": {"a": 1, "b": 1}}, {"run": {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}}, k=3)
    >>> trade_offs(result)["run"]["k_reaching"]
    {'0.5': 1, '0.8': 3, '0.9': 3, '0.95': 3}
    """
    table = tradeoff_table(evaluation).drop(columns="run").astype(object)
    rows = cast("list[TradeOffRow]", table.where(table.notna(), None).to_dict("records"))
    count = len(evaluation.cutoffs)
    return {
        name: {
            "by_k": rows[number * count : (number + 1) * count],
            "k_reaching": {f"{target:g}": k_reaching(evaluation, name, target) for target in targets},
        }
        for number, name in enumerate(evaluation.runs)
    }


def _mean(evaluation: Evaluation, name: str, measure: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """(C,) the mean of a measure of counts over the queries in the run's means; NaN without one."""
    values = measure_named(measure).function(evaluation.runs[name].counted.counts)
    weights = _weights(evaluation, name)
    if not weights.any():
        return np.full(values.shape[1], np.nan)
    mean: np.ndarray[tuple[int], np.dtype[np.float64]] = np.average(
        np.fmax(values, 0.0), axis=0, weights=weights
    )
    return mean


def _weights(evaluation: Evaluation, name: str) -> Floats:
    """(Q,) how much each query counts in the run's means."""
    counted = counted_for_both(evaluation, (name, name))
    return np.where(counted, 1.0 if evaluation.weights is None else evaluation.weights, 0.0)


def k_reaching(evaluation: Evaluation, run: str, recall: float) -> int | None:
    """The least K, whether evaluated or not, at which the run's mean recall reaches `recall`; None if none
    does.

    >>> from evaluation import evaluate
    >>> result = evaluate({"q": {"a": 1, "b": 1}}, {"run": {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}}, k=1)
    >>> k_reaching(result, "run", 0.5), k_reaching(result, "run", 0.8), k_reaching(result, "run", 1.0)
    (1, 3, 3)
    """
    if not 0 < recall <= 1:
        raise ValueError(f"A recall of {recall} cannot be reached; name one above 0, up to 1.")
    if run not in evaluation.runs:
        raise ValueError(f"There is no run {run!r}; the runs are {', '.join(evaluation.runs)}.")
    labels, weights = evaluation.labels, _weights(evaluation, run)
    position = evaluation.runs[run].counted.position
    pairs = np.flatnonzero(labels.relevant & (position > 0) & (weights[labels.query] > 0))
    if not len(pairs):
        return None
    order = np.argsort(position[pairs], kind="stable")
    query = labels.query[pairs[order]]
    gains = weights[query] / labels.relevant_count[query] / weights.sum()
    # A sum of many shares can end a last digit below what it stands for.
    reached = np.flatnonzero(np.cumsum(gains) >= recall - 1e-12)
    return int(position[pairs[order[reached[0]]]]) if len(reached) else None
