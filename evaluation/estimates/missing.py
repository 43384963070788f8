"""Gaps of the labels: a floor for relevant documents nobody found, and what a new retriever would lose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

from evaluation.measures.intervals import LEVEL
from evaluation.scoring.coverage import LOW_COVERAGE
from evaluation.scoring.results import Evaluation, percent, share_in_words
from pooling.heavy import np, npt, pd

LEAST_DOUBLETONS = 5
# Of what one more run would lose: two runs tell too little of a third, and what has no label is mostly what a
# single run found.
FEWEST_FAMILIES, LEAST_LABELLED = 3, 0.95


@dataclass(frozen=True)
class Floor:
    """Chao's estimate of the relevant documents that exist at all, from how many runs found each.

    seen, once, twice: relevant documents found by at least one, exactly one and exactly two of `runs` runs.
    total, low, high: the estimate and its interval at `confidence`; None where too few were found twice.
    """

    seen: int
    once: int
    twice: int
    runs: int
    total: float | None
    low: float | None
    high: float | None
    confidence: float = LEVEL

    def sentence(self) -> str:
        if self.total is None or self.low is None or self.high is None:
            return (
                f"No floor for what is missing: it takes two runs and {LEAST_DOUBLETONS} relevant documents "
                f"that exactly two of them found; here {self.twice} were, by {self.runs} runs."
            )
        return (
            f"At least about {self.total - self.seen:.0f} relevant documents beyond the {self.seen:,} that "
            f"these {self.runs} runs found (Chao2, {self.low - self.seen:.0f} to "
            f"{self.high - self.seen:.0f} at {share_in_words(self.confidence)}). "
            "A floor where runs find the same easy documents, as most do: the truth then lies above it, "
            "often above the interval. Of runs that each find other documents it can be too high."
        )


def chao2(seen: int, once: int, twice: int, runs: int, *, confidence: float = LEVEL) -> Floor:
    """The bias-corrected estimate seen + (m - 1)/m · once · (once - 1) / (2 · (twice + 1)), log-normal
    interval.

    No estimate with fewer than five documents found twice, or one run. Errs low where some documents are
    easier for all runs than others; high, up to twice the truth, where what one run finds others miss.

    Chao, Estimating the population size for capture-recapture data with unequal catchability (1987).

    >>> chao2(seen=40, once=10, twice=8, runs=5).total
    44.0
    """
    if min(seen, once, twice) < 0 or once + twice > seen:
        raise ValueError("Found once and found twice are parts of what was seen.")
    if twice < LEAST_DOUBLETONS or runs < 2:
        return Floor(seen, once, twice, runs, None, None, None, confidence)
    weight = (runs - 1) / runs
    unseen = weight * once * (once - 1) / (2 * (twice + 1))
    if unseen == 0:
        return Floor(seen, once, twice, runs, float(seen), float(seen), float(seen), confidence)
    variance = (
        unseen
        + weight**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + weight**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    spread = math.exp(z * math.sqrt(math.log1p(variance / unseen**2)))
    total = seen + unseen
    return Floor(seen, once, twice, runs, total, seen + unseen / spread, seen + unseen * spread, confidence)


Depth: TypeAlias = int | Mapping[str, int]


def labelled_depth(evaluation: Evaluation) -> int:
    """Depth down to which these labels were judged, as far as they tell: the last place, from the first on,
    at which most of the documents that the runs have there are labelled; 0 where not even the first is.

    For labels whose pool nobody knows. No cutoff has a part in it.
    """
    judged = np.flatnonzero(evaluation.labels.judged)
    runs = evaluation.runs.values()
    deepest = max((int(run.counted.counts.depth.max(initial=0)) for run in runs), default=0)
    labelled, there = np.zeros(deepest + 1, np.int64), np.zeros(deepest + 1, np.int64)
    for run in runs:
        labelled += np.bincount(run.counted.position[judged], minlength=deepest + 1)
        lengths = np.bincount(run.counted.counts.depth, minlength=deepest + 1)
        there += lengths.sum() - np.concatenate([[0], np.cumsum(lengths)[:-1]])
    thin = 2 * labelled[1:] <= there[1:]
    return int(np.argmax(thin)) if thin.any() else deepest


def missing_floor(evaluation: Evaluation, depth: Depth | None = None) -> Floor:
    """`chao2` on the relevant documents in the first `depth` of the evaluation's runs: how far down they were
    judged, for all or run by run; `labelled_depth` without it.

    ValueError where nobody knows that depth.
    """
    times = _within(evaluation, _depths(evaluation, depth), evaluation.labels.relevant).sum(axis=0)
    once, twice = (int(np.count_nonzero(times == n)) for n in (1, 2))
    seen = int(np.count_nonzero(times >= 1))
    return chao2(seen, once, twice, len(evaluation.runs), confidence=evaluation.confidence)


def leave_one_out(
    evaluation: Evaluation,
    k: int | None = None,
    *,
    depth: Depth | None = None,
    families: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Each run's Recall@k had it not helped to find the relevant documents.

    The relevant documents that only the run's family found within `depth` (as for `missing_floor`; without
    `families` every run is its own) are removed, from the run and from the qrels. families: run -> name of
    its family, for instance its encoder; runs that are alike hide each other's loss. One row per run: run,
    family, unique (those documents), recall, without, drop, relative_drop (NaN where recall is 0), queries
    (the mean is over those that keep a relevant document), lost (queries that keep none), judged (share of
    the run's first `depth` with a label: what only it found is not known among the others).

    Zobel, How reliable are the results of large-scale information retrieval experiments? (1998).
    """
    at = int(evaluation.cutoffs[-1]) if k is None else k
    _column(evaluation, at)
    names = list(evaluation.runs)
    family_of = {name: (families or {}).get(name, name) for name in names}
    depths = _depths(evaluation, depth)
    hits = _within(evaluation, depths, evaluation.labels.relevant)
    labelled = _within(evaluation, depths, evaluation.labels.judged).sum(axis=1)
    rows = []
    for row, name in enumerate(names):
        family = np.array([family_of[other] == family_of[name] for other in names])
        alone = hits[family].any(axis=0) & ~hits[~family].any(axis=0)
        there = np.minimum(evaluation.runs[name].counted.counts.depth, depths[name]).sum()
        judged = float(labelled[row] / there) if there else math.nan
        without = _without(evaluation, row, at, alone)
        rows.append({"run": name, "family": family_of[name], **without, "judged": judged})
    return pd.DataFrame(rows)


def _without(evaluation: Evaluation, row: int, k: int, alone: npt.NDArray[np.bool_]) -> dict[str, float]:
    """One run's figures with and without the relevant pairs marked in `alone` (one per relevant pair)."""
    labels, column = evaluation.labels, _column(evaluation, k)
    run = list(evaluation.runs.values())[row]
    pairs = np.flatnonzero(labels.relevant)
    position = run.counted.position[pairs]
    taken = np.bincount(labels.query[pairs[alone]], minlength=labels.query_count)
    hits_taken = np.bincount(
        labels.query[pairs[alone & (position > 0) & (position <= k)]], minlength=labels.query_count
    )
    scored = run.scored & labels.has_relevant
    kept, weights = scored & (labels.relevant_count > taken), evaluation.weights
    if weights is not None:
        kept &= weights > 0
    each = None if weights is None else weights[kept]
    hits, relevant = run.counted.counts.hits[:, column], labels.relevant_count
    recall = float(np.average(hits[kept] / relevant[kept], weights=each)) if kept.any() else math.nan
    after = (hits - hits_taken)[kept] / (relevant - taken)[kept]
    without = float(np.average(after, weights=each)) if kept.any() else math.nan
    return {
        "unique": int(alone.sum()),
        "recall": recall,
        "without": without,
        "drop": recall - without,
        "relative_drop": (recall - without) / recall if recall > 0 else math.nan,
        "queries": int(kept.sum()),
        "lost": int(scored.sum() - kept.sum()),
    }


def further_loss(
    evaluation: Evaluation, depths: Mapping[str, int], families: Mapping[str, str]
) -> tuple[float, str]:
    """(share, why): what one more run would lose, as a share of the mean loss of `leave_one_out`, or why that
    cannot be told.

    One more run meets the finds of one run more. Of M families, whose relevant documents f1 are found by
    exactly one and f2 by exactly two, the M-th found f1/M alone; the next is expected to find
    (M - 1) f1 / ((M - 1) f1 + 2 f2) of that.

    Chao and Jost, Coverage-based rarefaction and extrapolation (2012).
    """
    of_family = np.array([families.get(name, name) for name in evaluation.runs])
    names = np.unique(of_family)
    if len(names) < FEWEST_FAMILIES:
        return 0.0, f"it takes {FEWEST_FAMILIES} runs that differ to tell"
    judged = int(_within(evaluation, depths, evaluation.labels.judged).sum())
    places = sum(
        int(np.minimum(run.counted.counts.depth, depths[name]).sum()) for name, run in evaluation.runs.items()
    )
    if judged < LEAST_LABELLED * places:
        return 0.0, f"{percent(1 - judged / places)} of the places that were to be judged have no label"
    hits = _within(evaluation, depths, evaluation.labels.relevant)
    times = np.stack([hits[of_family == name].any(axis=0) for name in names]).sum(axis=0)
    once, twice = (int(np.count_nonzero(times == n)) for n in (1, 2))
    alone = (len(names) - 1) * once
    return alone / max(alone + 2 * twice, 1), ""


def new_retriever_line(table: pd.DataFrame, k: int, share: float, why: str = "") -> str:
    """The table of `leave_one_out`, and what `further_loss` makes of it, as the sentence a reader needs."""
    drops = table.dropna(subset=["drop", "relative_drop"])
    if not len(drops):
        why = why or "no run keeps a relevant document"
    low = table[table["judged"] < LOW_COVERAGE].sort_values("judged", kind="stable")
    if len(low) and not why:
        run, judged = low["run"].iloc[0], float(low["judged"].iloc[0])
        why = f"of what {run} has down to the pool's depth, {percent(judged)} has a label"
    if why:
        return f"What a new retriever would lose is unknown: {why}."
    mean, relative = (share * float(drops[one].mean()) for one in ("drop", "relative_drop"))
    if relative <= 0:
        # Queries that keep no relevant document leave the mean, which can raise it.
        return (
            f"A new retriever like these would not be under-scored in Recall@{k}, as far as these runs tell."
        )
    return (
        f"On these labels a new retriever like these would get about {mean:.3f} less Recall@{k} "
        f"({percent(relative)}), on average, than had it helped to find them."
    )


def _depths(evaluation: Evaluation, depth: Depth | None) -> Mapping[str, int]:
    if depth is None:
        depth = labelled_depth(evaluation)
        if not depth:
            raise ValueError(
                "The labels do not tell how far down the runs were judged, since most of their first "
                "documents have none; say the depth."
            )
    return dict.fromkeys(evaluation.runs, depth) if isinstance(depth, int) else depth


def _within(
    evaluation: Evaluation, depths: Mapping[str, int], pairs: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """(runs, those of the labelled `pairs`) whether each run has the pair in its first `depths`."""
    rows, within = np.flatnonzero(pairs), []
    for name, run in evaluation.runs.items():
        position = run.counted.position[rows]
        within.append((position > 0) & (position <= depths[name]))
    return np.stack(within)


def _column(evaluation: Evaluation, k: int) -> int:
    at = np.flatnonzero(evaluation.cutoffs == k)
    if not len(at):
        raise ValueError(f"K = {k} was not evaluated; name it among the cutoffs.")
    return int(at[0])
