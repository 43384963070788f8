"""Run A against run B: the difference with its interval and p-value, what the documents without a label can
still do to it, and the labels that would decide. A pair is ranked only when its sign is safe from them;
`evaluation.comparisons.verdict` has the rule and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from evaluation.comparisons.verdict import BOUNDED, Comparison, Difference
from evaluation.measures import Floats, split_name, titled
from evaluation.measures.hajek import Design, weighted_means
from evaluation.measures.intervals import BOOTSTRAP_SAMPLES, difference_intervals
from evaluation.measures.significance import PERMUTATIONS, TESTS, adjusted, effect_sizes, plain
from evaluation.scoring.evaluating import evaluate
from evaluation.scoring.figures import mean_as_read
from evaluation.scoring.results import Evaluation
from evaluation.scoring.unsettled import (
    DifferenceBounds,
    Unsettled,
    difference_bounds,
    labels_to_decide,
    unsettled,
)
from pooling.heavy import np, pd
from pooling.inputs.given import RunSource, Source
from pooling.inputs.reading import named_runs

COLUMNS = (
    *("first", "second", "measure", "k", "queries", "difference", "low", "high", "p_value", "effect"),
    *("lower_bound", "upper_bound", "settled", "open_pairs", "estimate", "estimate_p_value"),
    *("leader", "decided_by", "verdict"),
)


@dataclass(frozen=True)
class Method:
    """Test and correction of the differences, with how many draws from which seed."""

    test: str = "randomisation"
    correction: str = "holm"
    samples: int = BOOTSTRAP_SAMPLES
    permutations: int = PERMUTATIONS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise ValueError(f"There is no test {self.test!r}; choose one of {', '.join(TESTS)}.")

    def numbers(
        self, differences: Floats, groups: int, confidence: float, *, design: Design | None = None
    ) -> Floats:
        """(P, 4) low and high of the interval at `confidence`, corrected p-value and effect for each column.

        Columns fall into this many groups of equal size, and each is corrected by itself.
        """
        p_values = self.corrected(self.p_values(differences, design), groups)
        if design is not None:
            means = weighted_means(differences, design)
            low, high = means.limits(confidence, -1.0)
            deviation = means.error * np.sqrt((~np.isnan(differences)).sum(axis=0))
            effect = np.divide(means.mean, deviation, out=np.full(len(low), np.nan), where=deviation > 0)
            return np.column_stack([low, high, p_values, effect])
        low, high = difference_intervals(differences, samples=self.samples, seed=self.seed, level=confidence)
        return np.column_stack([low, high, p_values, effect_sizes(differences)])

    def p_values(self, differences: Floats, design: Design | None) -> Floats:
        """(P,) of each column. Of drawn queries the test is Student's, with the variance of the draw."""
        if design is not None:
            return weighted_means(differences, design).p_values()
        settings = {"permutations": self.permutations, "seed": self.seed}
        return TESTS[self.test](differences, **(settings if self.test == "randomisation" else {}))

    def corrected(self, p_values: Floats, groups: int) -> Floats:
        """The p-values of this many groups of equal size, each corrected by itself; NaN is no comparison."""
        return np.concatenate([adjusted(part, self.correction) for part in np.split(p_values, groups)])


def compare(
    evaluation: Evaluation | Source,
    first: RunSource,
    second: RunSource,
    measure: str = "recall",
    *,
    test: str = "randomisation",
    estimated: tuple[float, float] | None = None,
    samples: int = BOOTSTRAP_SAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Comparison:
    """Compare two runs of an evaluation, by their names; or two runs on qrels, as `evaluate` takes them.

    `measure` is for instance `recall` (at 10, or the deepest K), `recall@20` or `map`.
    The runs are read a second time for the bounds, so their files must still be there. estimated: the
    interval of the difference from `evaluation.estimates.totals`, for when the bounds leave it open. Raises
    ValueError for a run or measure that was not evaluated.

    >>> from evaluation import evaluate
    >>> runs = {"a": {"q": {"d1": 2.0, "d2": 1.0}}, "b": {"q": {"d2": 2.0, "d3": 1.0}}}
    >>> comparison = compare(evaluate({"q": {"d1": 1, "d2": 1, "d3": 0}}, runs, k=2), "a", "b")
    >>> comparison.difference, comparison.bounds, comparison.leader
    (0.5, (0.5, 0.5), 'a')
    >>> compare({"q": {"d1": 1, "d2": 1, "d3": 0}}, runs["a"], runs["b"], "recall@2").difference
    0.5
    """
    if not isinstance(evaluation, Evaluation):
        evaluation, first, second = _measured(evaluation, first, second, measure)
    method = Method(test, "none", samples, permutations, seed)
    key = _key(evaluation, measure)
    audited = {} if estimated is None else {(first, second, key[1]): Difference(None, estimated)}
    (made,) = _compared(evaluation, [(first, second)], [key], method, audited=audited)
    return made


def compare_all(
    evaluation: Evaluation,
    measure: str = "recall",
    *,
    test: str = "randomisation",
    correction: str = "holm",
    samples: int = BOOTSTRAP_SAMPLES,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[Comparison]:
    """Every pair of the evaluation's runs, their p-values corrected for being many."""
    method = Method(test, correction, samples, permutations, seed)
    return _compared(evaluation, list(combinations(evaluation.runs, 2)), [_key(evaluation, measure)], method)


def compare_at(
    evaluation: Evaluation,
    cutoffs: Sequence[int],
    *,
    measure: str = "recall",
    audited: Mapping[tuple[str, str, int | None], Difference] | None = None,
    opened: Unsettled | None = None,
    method: Method | None = None,
) -> list[Comparison]:
    """Every pair of runs at each cutoff, cutoff by cutoff; corrected for the pairs at one cutoff.

    audited: (first, second, k) -> what the audit says of the difference. opened: what `unsettled` has read of
    all runs, so that it is not read again.
    """
    keys = [(measure, _cutoff(evaluation, measure, k)) for k in cutoffs]
    pairs = list(combinations(evaluation.runs, 2))
    return _compared(evaluation, pairs, keys, method or Method(), audited=audited, opened=opened)


def compare_pair(
    evaluation: Evaluation, pair: tuple[str, str], k: int, *, opened: Unsettled, method: Method
) -> Comparison:
    """One pair in recall at K, on its own: with the bounds of what is `opened`."""
    bounds = _bounds(evaluation, opened, pair, ("recall", k))
    differences = values_of(evaluation, pair[0], "recall", k) - values_of(evaluation, pair[1], "recall", k)
    (numbers,) = method.numbers(differences[:, None], 1, evaluation.confidence, design=evaluation.design)
    row = _Row(pair, "recall", k, differences, numbers, Difference(None, None), None, bounds)
    return _comparison(evaluation, row, method)


def comparison_table(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """One row per pair, with COLUMNS: the fields of `Comparison`, its bounds apart, leader and verdict."""
    rows = []
    for made in comparisons:
        plain: dict[str, object] = {**made.to_dict()}
        plain["lower_bound"], plain["upper_bound"] = made.bounds or (None, None)
        rows.append({name: plain[name] for name in COLUMNS})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def deciding_labels(evaluation: Evaluation, first: str, second: str, k: int | None = None) -> pd.DataFrame:
    """The unjudged documents that only one of the runs has in its first K, the most telling first.

    Columns query_id, document_id, run, rank, swing: the change of the mean Recall difference if it turns out
    relevant.
    """
    at = _cutoff(evaluation, "recall", k)
    assert at is not None
    opened = unsettled(evaluation, [first, second])
    return labels_to_decide(evaluation, opened, (first, second), at)


def _compared(
    evaluation: Evaluation,
    pairs: Sequence[tuple[str, str]],
    keys: Sequence[tuple[str, int | None]],
    method: Method,
    *,
    audited: Mapping[tuple[str, str, int | None], Difference] | None = None,
    opened: Unsettled | None = None,
) -> list[Comparison]:
    """The pairs at each key in turn; one key's pairs are corrected together."""
    if not pairs or not keys:
        return []
    names = list(dict.fromkeys(run for pair in pairs for run in pair))
    columns = []
    for key in keys:
        values = {run: values_of(evaluation, run, *key) for run in names}
        columns += [values[one] - values[other] for one, other in pairs]
    if opened is None and any(measure in BOUNDED and k for measure, k in keys):
        opened = unsettled(evaluation, names)
    differences = np.column_stack(columns)
    numbers = method.numbers(differences, len(keys), evaluation.confidence, design=evaluation.design)
    audits = [(audited or {}).get((*pair, k)) or Difference(None, None) for _, k in keys for pair in pairs]
    bounds = [_bounds(evaluation, opened, pair, key) for key in keys for pair in pairs]
    # Also of pairs that bounds decide: a larger pool may leave them open, and says nothing of the others.
    p_values = np.array([one.p_value for one in audits], dtype=np.float64)
    corrected = method.corrected(p_values, len(keys))
    made = []
    for at, (key, pair) in enumerate((key, pair) for key in keys for pair in pairs):
        row = _Row(pair, *key, differences[:, at], numbers[at], audits[at], plain(corrected[at]), bounds[at])
        made.append(_comparison(evaluation, row, method))
    return made


@dataclass(frozen=True)
class _Row:
    """One pair at one key before its sentence is written."""

    pair: tuple[str, str]
    measure: str
    k: int | None
    differences: Floats
    numbers: Floats
    audited: Difference
    audited_p_value: float | None
    bounds: DifferenceBounds | None


def _bounds(
    evaluation: Evaluation, opened: Unsettled | None, pair: tuple[str, str], key: tuple[str, int | None]
) -> DifferenceBounds | None:
    measure, k = key
    if opened is None or measure not in BOUNDED or k is None:
        return None
    return difference_bounds(evaluation, opened, pair, measure=measure, k=k)


def _comparison(evaluation: Evaluation, row: _Row, method: Method) -> Comparison:
    difference, deviation = _mean_and_deviation(row.differences, evaluation.design)
    low, high, p_value, effect = (plain(number) for number in row.numbers)
    deepest = int(evaluation.cutoffs[-1]) if row.k is None else row.k
    bounds, audited = row.bounds, row.audited
    return Comparison(
        first=row.pair[0],
        second=row.pair[1],
        measure=row.measure,
        k=row.k,
        queries=int((~np.isnan(row.differences)).sum()),
        difference=difference,
        low=low,
        high=high,
        p_value=p_value,
        test=method.test if evaluation.design is None else "t",
        correction=method.correction,
        effect=effect,
        deviation=deviation,
        bounds=None if bounds is None else bounds.mean(),
        settled=None if bounds is None else bounds.settled(),
        open_pairs=None if bounds is None else bounds.open_pairs,
        estimated=audited.interval,
        judged=(_judged(evaluation, row.pair[0], deepest), _judged(evaluation, row.pair[1], deepest)),
        estimate=audited.value,
        more_labels=audited.more_labels,
        confidence=evaluation.confidence,
        estimate_p_value=row.audited_p_value,
        turning=None if bounds is None else bounds.turning,
        top_bounds=None if bounds is None else bounds.top,
    )


def _mean_and_deviation(differences: Floats, design: Design | None) -> tuple[float | None, float | None]:
    """With a design, the deviation with which as many queries of equal weight had the same standard error."""
    counted = differences[~np.isnan(differences)]
    if design is None or not len(counted):
        mean = float(counted.mean()) if len(counted) else None
        return mean, float(counted.std(ddof=1)) if len(counted) > 1 else None
    means = weighted_means(differences[:, None], design)
    error = plain(means.error[0] * np.sqrt(len(counted))) if means.freedom[0] > 0 else None
    return plain(means.mean[0]), error


def _measured(
    qrels: Source, first: RunSource, second: RunSource, measure: str
) -> tuple[Evaluation, str, str]:
    """Two runs measured for a comparison, and their names: of their files, else `first` and `second`."""
    if hasattr(qrels, "convention_line"):
        raise ValueError("This is a report of a site; report.comparisons() has its comparisons.")
    are_files = isinstance(first, str | Path) and isinstance(second, str | Path)
    runs = named_runs([first, second] if are_files else {"first": first, "second": second})
    _, k = split_name(measure)
    one, other = runs
    return evaluate(qrels, runs, k=k or 10, measures=[measure]), one, other


def _key(evaluation: Evaluation, measure: str) -> tuple[str, int | None]:
    name, k = split_name(measure)
    return name, _cutoff(evaluation, name, k)


def _judged(evaluation: Evaluation, run: str, k: int) -> float | None:
    return mean_as_read(evaluation.figure(run, "judged", k))


def _cutoff(evaluation: Evaluation, measure: str, k: int | None) -> int | None:
    """The K that was asked for; else 10, or the deepest, and none for a measure over the whole run."""
    cutoffs = [at for name, at in evaluation.keys if name == measure and at is not None]
    if (measure, k) in evaluation.keys:
        return k
    if k is not None or not cutoffs:
        raise ValueError(f"{titled(measure, k)} was not evaluated; name it among the measures and cutoffs.")
    return 10 if 10 in cutoffs else max(cutoffs)


def values_of(evaluation: Evaluation, run: str, measure: str, k: int | None) -> Floats:
    """(Q,) of one run, NaN for queries that do not count."""
    if run not in evaluation.runs:
        raise ValueError(f"There is no run {run!r}; the runs are {', '.join(evaluation.runs)}.")
    result = evaluation.runs[run]
    if k is None:
        return evaluation.of_draw(result.whole[measure])
    return evaluation.of_draw(result.values[measure][:, int(np.flatnonzero(evaluation.cutoffs == k)[0])])
