"""A run's value of a canary: measured over the frozen queries, and compared with the runs before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypedDict

from django.db import IntegrityError, transaction

from evaluation.canaries.regressions import change_between, family_of, is_fall
from evaluation.canaries.unjudged import (
    could_lift,
    could_reverse,
    coverage_words,
    notes_on,
    places_of,
    share_judged,
)
from evaluation.measures import split_name
from evaluation.models import Canary, CanaryStretch, CanaryValue
from evaluation.report_store.completing import complete_queries
from evaluation.scoring.evaluating import evaluate
from evaluation.scoring.figures import MeanSpan
from evaluation.scoring.results import Evaluation
from evaluation.scoring.wording import falls_short
from labeling.qrels.releases import read_release
from pooling.interface.problems import InputError
from pooling.models import Run
from pooling.runs.stored import read_stored_run

BELOW, DROP, SINCE_REFERENCE = "below", "drop", "drop_since_reference"
SAMPLES, SEED = 10_000, 0
# The best is chosen among this many runs at most: each costs some of the power to see a fall.
BEST_AMONG = 20


@dataclass(frozen=True)
class Against:
    """The runs before this one. chosen_among: how many runs the reference was chosen among."""

    previous: Run | None = None
    reference: Run | None = None
    chosen_among: int = 0

    @property
    def shares(self) -> int:
        """In how many parts the promised rate of false falls is divided: run before, and reference."""
        return 2 if self.chosen_among else 1


def predecessor(run: Run, runs: Sequence[Run]) -> Run | None:
    """The newest of the runs that is older than this one and of its family."""
    family = family_of(run.name)
    older = [one for one in runs if one.pk < run.pk and family_of(one.name) == family]
    return max(older, key=lambda one: one.pk, default=None)


def compared_with(canary: Canary, stretch: CanaryStretch, run: Run, runs: Sequence[Run]) -> Against:
    """The run before of a run's family, and the reference where that is another one.

    The best is the one with the largest value since the last fall that was marked, of `BEST_AMONG` at most; a
    pinned run is for its own family, and others are checked against their best.
    """
    previous, pinned = predecessor(run, runs), canary.pinned
    if previous is None or canary.reference == Canary.Reference.PREVIOUS:
        return Against(previous)
    if pinned is not None and family_of(pinned.name) == family_of(run.name):
        if pinned.pk >= run.pk or pinned == previous:
            return Against(previous)
        return Against(previous, pinned, 1)
    before = _since_last_fall(stretch, run)
    others = [value for value in before if value.run_id != previous.pk and value.mean is not None]
    if not others:
        return Against(previous)
    best = max(before, key=lambda value: -1.0 if value.mean is None else value.mean)
    return Against(previous, best.run if best.run_id != previous.pk else None, len(others))


def _since_last_fall(stretch: CanaryStretch, run: Run) -> list[CanaryValue]:
    """The newest values of a run's family before it, back to the last run that fell."""
    rows = stretch.values.filter(family=family_of(run.name), run_id__lt=run.pk).select_related("run")
    values = []
    for value in rows.order_by("-run_id")[:BEST_AMONG]:
        values.append(value)
        if has_dropped(value):
            break
    return values


def measured(canary: Canary, stretch: CanaryStretch, run: Run, runs: Sequence[Run]) -> CanaryValue:
    """A run's value of a canary and its changes since the run before and the reference, not yet stored.

    `reasons` says why it is worth telling: it crossed the threshold (it is below, and the run before was not,
    or there is none), or it fell beyond noise. `InputError` when it cannot be measured.
    """
    against = compared_with(canary, stretch, run, runs)
    before = {one.pk: one for one in (against.previous, against.reference) if one is not None}
    evaluation = _evaluation(canary, stretch, [run, *before.values()])
    figure = evaluation.runs[run.name].figures[canary.measure]
    value = CanaryValue(
        canary=canary,
        stretch=stretch,
        run=run,
        family=family_of(run.name),
        previous=against.previous,
        reference=against.reference,
        judged=share_judged(evaluation, run.name, canary.measure),
        notes=notes_on(evaluation, run, canary.measure),
        **{name: figure[name] for name in ("mean", "low", "high", "queries")},
    )
    change_since = partial(change_between, confidence=canary.confidence, samples=SAMPLES, seed=SEED)
    now = _by_query(evaluation, run.name, canary.measure)
    was_below, reasons = False, []
    if against.previous is not None:
        earlier = _by_query(evaluation, against.previous.name, canary.measure)
        change = change_since(now, earlier, comparisons=against.shares)
        value.difference, value.difference_low, value.difference_high = (
            change.difference,
            change.low,
            change.high,
        )
        value.p, value.deviation = change.p, change.deviation
        was_below = tells(canary, evaluation.runs[against.previous.name].figures[canary.measure])
        reasons += [DROP] if is_fall(change.high, change.p, canary.confidence) else []
    if against.reference is not None:
        earlier = _by_query(evaluation, against.reference.name, canary.measure)
        change = change_since(now, earlier, comparisons=against.shares * against.chosen_among)
        value.reference_difference, value.reference_low, value.reference_high = (
            change.difference,
            change.low,
            change.high,
        )
        value.reference_p = change.p
        fell = is_fall(change.high, change.p, canary.confidence)
        reasons += [SINCE_REFERENCE] if fell and not _fell_before(value) else []
    value.reasons = [BELOW, *reasons] if tells(canary, figure) and not was_below else reasons
    value.undecided = _undecided(value, evaluation)
    return value


def _undecided(value: CanaryValue, evaluation: Evaluation) -> list[str]:
    """Of what is claimed of a value, what the unjudged documents could take back."""
    run, key, threshold = value.run.name, value.canary.measure, value.canary.threshold
    is_open = is_below(threshold, value.mean) and could_lift(evaluation, run, key, threshold)
    earlier = {DROP: value.previous, SINCE_REFERENCE: value.reference}
    falls = [
        reason
        for reason, before in earlier.items()
        if before and reason in value.reasons and could_reverse(evaluation, (run, before.name), key)
    ]
    return [BELOW, *falls] if is_open else falls


def _fell_before(value: CanaryValue) -> bool:
    """True where the run before fell below the same reference, so that people know already."""
    rows = value.stretch.values.filter(run=value.previous, reference=value.reference)
    return any(is_fall(one.reference_high, one.reference_p, value.canary.confidence) for one in rows)


class ValueOfRun(TypedDict):
    run: str
    mean: float | None
    low: float | None
    high: float | None
    queries: int
    judged: Annotated[float | None, "judged@K: the labelled share of its first K."]
    undecided: Annotated[
        list[str], "Of below, drop and drop_since_reference, what its unjudged documents could take back."
    ]
    notes: Annotated[list[str], "On ids that meet no label, with examples."]
    previous: str | None
    difference: float | None
    reference: Annotated[str | None, "The best or the pinned run."]
    reference_difference: float | None
    below: Annotated[bool, "Below the threshold."]
    clear: Annotated[bool, "Below it with the whole interval."]
    drop: Annotated[bool, "By these labels, fell beyond noise since the run before."]
    drop_since_reference: Annotated[bool, "By these labels, fell beyond noise since the reference."]


def value_of_run(canary: Canary, value: CanaryValue) -> ValueOfRun:
    return {
        "run": value.run.name,
        "mean": value.mean,
        "low": value.low,
        "high": value.high,
        "queries": value.queries,
        "judged": value.judged,
        "undecided": value.undecided,
        "notes": value.notes,
        "previous": value.previous.name if value.previous else None,
        "difference": value.difference,
        "reference": value.reference.name if value.reference else None,
        "reference_difference": value.reference_difference,
        "below": is_below(canary.threshold, value.mean),
        "clear": is_clear(canary.threshold, value.high),
        "drop": DROP in value.reasons,
        "drop_since_reference": SINCE_REFERENCE in value.reasons,
    }


def has_dropped(value: CanaryValue) -> bool:
    """Fell beyond noise by its labels, since the run before or since the reference."""
    return bool({DROP, SINCE_REFERENCE} & set(value.reasons))


def fell_for_sure(value: CanaryValue) -> bool:
    """Has dropped whatever its unjudged documents are."""
    return bool({DROP, SINCE_REFERENCE} & set(value.reasons) - set(value.undecided))


def is_below(threshold: float, mean: float | None) -> bool:
    """An undefined mean is not below."""
    return mean is None or falls_short(mean, threshold)


def is_clear(threshold: float, high: float | None) -> bool:
    return high is not None and falls_short(high, threshold)


def tells(canary: Canary, figure: MeanSpan) -> bool:
    if not is_below(canary.threshold, figure["mean"]):
        return False
    return not canary.only_clear or figure["mean"] is None or is_clear(canary.threshold, figure["high"])


def rests_on(canary: Canary, value: CanaryValue) -> str:
    """The labels that a value rests on, and how much of the run they cover."""
    return f"by the labels of release {canary.release.name}, not estimated{coverage_words(canary, value)}"


def ends_of(value: CanaryValue) -> MeanSpan:
    return {"mean": value.mean, "low": value.low, "high": value.high}


def _evaluation(canary: Canary, stretch: CanaryStretch, runs: Sequence[Run]) -> Evaluation:
    if stretch.queries == []:
        raise InputError(
            f"No query had the tag {canary.tag} when its queries were frozen, so there is nothing to measure."
        )
    try:
        return evaluate(
            read_release(canary.release),
            {run.name: _reader(run) for run in runs},
            places_of(canary.measure),
            [canary.measure],
            queries=stretch.queries,
            complete=complete_queries(canary.release),
            confidence=canary.confidence,
            bootstrap_samples=SAMPLES,
            seed=SEED,
        )
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def _reader(run: Run) -> Callable[[], Any]:
    return lambda: read_stored_run(run).select("query_id", "document_id", "score")


def _by_query(evaluation: Evaluation, run: str, key: str) -> Any:
    """(Q,) values of one measure."""
    measure, k = split_name(key)
    run_figures = evaluation.runs[run]
    if k is None:
        return run_figures.whole[measure]
    return run_figures.values[measure][:, evaluation.cutoffs.tolist().index(k)]


def stored(value: CanaryValue) -> bool:
    """Store a value; False where there is one already, so that a message is sent once."""
    try:
        with transaction.atomic():
            value.save()
    except IntegrityError:
        return False
    return True
