"""The answer of an evaluation, worked out for no more than it says: one pair of runs at one K.

Every pair gets a p-value, since the best run was chosen among all of them and the correction is for that.
Only the best run and the next have bounds, an interval and a grade; where an audit corrects for all pairs
too, all are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from evaluation.comparisons.answer import Answer, AnswerBasis, Outside, answer_of, best_first, headline_cutoff
from evaluation.comparisons.audited import audited_differences
from evaluation.comparisons.comparing import Method, compare_at, compare_pair, values_of
from evaluation.comparisons.deciding import labels_expected
from evaluation.comparisons.grades import Grade, graded
from evaluation.comparisons.verdict import Comparison
from evaluation.comparisons.wording import outside_sentence
from evaluation.estimates.of_pool import Basis, PoolDesign, recall_cutoffs
from evaluation.measures import Floats
from evaluation.scoring.config import MARGIN
from evaluation.scoring.estimate_figures import Estimates, FrameFigures
from evaluation.scoring.results import Evaluation
from evaluation.scoring.unsettled import Unsettled, counted_for_both, unsettled, unsettled_kept
from pooling.heavy import np, pl
from pooling.inputs.columns import columns_of
from pooling.inputs.given import Source

#: 190 pairs: more of them nobody reads, and their number grows with the square.
MOST_RUNS = 20
# From here on the t-test says the same as 10,000 random turns of signs, in a moment.
MOST_RANDOMISED = 10_000
# More unjudged documents of one pair are not put in an order of what they may decide.
MOST_ORDERED = 100_000
_NUMBERS_AT_ONCE = 4_000_000
_PAIR = ["query", "document_id"]


def usual_test(evaluation: Evaluation) -> str:
    """The test unless another is asked for: random signs where affordable, and never of drawn queries."""
    few = evaluation.labels.query_count <= MOST_RANDOMISED and len(evaluation.runs) <= MOST_RUNS
    return "randomisation" if few and evaluation.design is None else "t"


@dataclass(frozen=True)
class AnswerRequest:
    """margin: a difference within ± margin does not matter. method: of the comparison. complete: the labels
    are. frame: what they are complete of, where nobody had to declare it. names_k: somebody named the values
    of K."""

    margin: float = MARGIN
    method: Method | None = None
    complete: bool = False
    frame: FrameFigures | None = None
    names_k: bool = False


def answered(
    evaluation: Evaluation,
    request: AnswerRequest | None = None,
    *,
    basis: Basis | None = None,
    made: Sequence[Comparison] = (),
    estimates: Estimates | None = None,
) -> Answer | None:
    """The answer at the K of `headline_cutoff`; None where recall was not measured or is undefined.

    basis: the same evaluation with its documents without a label, where they were read. made: comparisons of
    all pairs at this K and perhaps others, where they are known. estimates: those of `estimates_of(basis)`.
    """
    cutoffs, request = recall_cutoffs(evaluation), request or AnswerRequest()
    if not cutoffs:
        return None
    figures = {name: run.figures for name, run in evaluation.runs.items()}
    rests_on = AnswerBasis(
        0, request.complete or "complete" in evaluation.settings, request.frame, estimates, request.margin
    )
    pool = basis.pool if basis else None
    # Complete labels cover every K, however shallow a pool is.
    covered = None if rests_on.complete else deepest_covered(pool, list(evaluation.runs))
    k = headline_cutoff(cutoffs, covered, named=request.names_k)
    ranked = best_first(figures, k)
    if not ranked:
        return None
    # Of the queries in its mean: those that a run does not answer can be left out.
    relevant = evaluation.labels.relevant_count[counted_for_both(evaluation, (ranked[0], ranked[0]))]
    rests_on = replace(rests_on, relevant=int(relevant.sum()))
    if len(ranked) < 2:
        alone = answer_of(figures, [], k, rests_on)
        return None if alone is None else replace(alone, outside=_outside(evaluation, alone.run, k, basis))
    method = request.method or Method(usual_test(evaluation))
    pairs = [one for one in made if one.k == k]
    opened = basis.opened if basis else None
    if not pairs and basis is not None and basis.pool is not None:
        audited = audited_differences(basis, list(evaluation.runs), [k])
        pairs = compare_at(evaluation, [k], audited=audited, opened=opened, method=method)
    if opened is None:
        # What the evaluation holds spares reading every run a second time.
        opened = unsettled_kept(evaluation, ranked[:2]) or unsettled(evaluation, ranked[:2], depth=k)
    if pairs:
        one = next(one for one in pairs if {one.first, one.second} == set(ranked[:2]))
    else:
        one = _compared(evaluation, (ranked[0], ranked[1]), k, opened, method=method)
    count = len(pairs) or len(ranked) * (len(ranked) - 1) // 2
    wanted = _wanted(evaluation, opened, one, margin=request.margin)
    answer = answer_of(figures, [one], k, replace(rests_on, pairs=count, wanted=wanted))
    return None if answer is None else replace(answer, outside=_outside(evaluation, ranked[0], k, basis))


def deepest_covered(pool: PoolDesign | None, runs: Sequence[str]) -> int | None:
    """Reach of an estimated audit, else the depth of the pool; None where neither is known."""
    if pool is None:
        return None
    if pool.estimates:
        return pool.reach
    return None if pool.depths is None else min((pool.depths[run] for run in runs), default=None)


def _outside(evaluation: Evaluation, run: str, k: int, basis: Basis | None) -> Outside | None:
    """None where the pool or its audit's frame has all documents of the first K, or without a pool."""
    if evaluation.pool is None:
        return None
    kept = basis.opened if basis else unsettled_kept(evaluation, [run])
    opened = kept or unsettled(evaluation, [run], depth=k)
    result, column = evaluation.runs[run], int(np.flatnonzero(evaluation.cutoffs == k)[0])
    top, design = opened.tops[run].filter(opened.tops[run]["position"] <= k), basis.pool if basis else None
    beyond = top.join(opened.pool, on=_PAIR, how="anti")
    is_deep = _has_frame(evaluation.pool) if design is None else design.is_deep
    if design is not None and is_deep:
        for name in opened.tops.keys() & design.members:
            beyond = beyond.join(_within_reach(opened, name, design), on=_PAIR, how="anti")
    documents = int(result.scored[beyond["query"].to_numpy()].sum())
    if not documents or (design is not None and design.frame is not None and design.frame.get("whole")):
        return None
    share = documents / int(result.counted.counts.retrieved[result.scored, column].sum())
    return Outside(documents, share, None, outside_sentence(run, k, documents, share, at_most=is_deep))


def _within_reach(opened: Unsettled, run: str, design: PoolDesign) -> pl.DataFrame:
    """What the audit could draw of a run's list: of queries whose list the pool has down to its depth."""
    top, depth = opened.tops[run], (design.depths or {}).get(run, 0)
    absent = top.filter(pl.col("position") <= depth).join(opened.pool, on=_PAIR, how="anti")
    return top.filter(pl.col("position") <= (design.reach or 0)).join(absent, on="query", how="anti")


def _has_frame(pool: Source) -> bool:
    """Whether a pool that was given tells of documents that it has no row of."""
    columns = columns_of(pool)
    if columns is None or "frame_size" not in columns.names:
        return False
    sizes = pl.Series(columns.column("frame_size")).cast(pl.Float64, strict=False)
    return bool(sizes.fill_nan(None).count())


def _compared(
    evaluation: Evaluation, two: tuple[str, str], k: int, opened: Unsettled, *, method: Method
) -> Comparison:
    """Two runs at K, the p-value corrected for all pairs."""
    names = list(evaluation.runs)
    first, second = sorted(two, key=names.index)
    alone = replace(method, correction="none")
    one = compare_pair(evaluation, (first, second), k, opened=opened, method=alone)
    pairs = list(combinations(range(len(names)), 2))
    p_values = np.concatenate(list(_p_values(evaluation, pairs, k, method)))
    corrected = method.corrected(p_values, 1)[pairs.index((names.index(first), names.index(second)))]
    p_value = None if np.isnan(corrected) else float(corrected)
    return replace(one, p_value=p_value, correction=method.correction)


def _p_values(
    evaluation: Evaluation, pairs: Sequence[tuple[int, int]], k: int, method: Method
) -> Iterator[Floats]:
    values = [values_of(evaluation, run, "recall", k) for run in evaluation.runs]
    at_once = max(1, _NUMBERS_AT_ONCE // max(len(values[0]), 1))
    for start in range(0, len(pairs), at_once):
        differences = [values[one] - values[other] for one, other in pairs[start : start + at_once]]
        yield method.p_values(np.column_stack(differences), evaluation.design)


def _wanted(evaluation: Evaluation, opened: Unsettled, one: Comparison, *, margin: float) -> int | None:
    """Labels expected to decide a pair that labels leave open; None where that is not worked out."""
    if one.k is None or not one.open_pairs or one.open_pairs > MOST_ORDERED:
        return None
    if graded(one, margin).grade is not Grade.LABELS:
        return None

    return labels_expected(evaluation, opened, (one.first, one.second), one.k)
