"""Coverage of a canary's value by labels, and which of its claims the unjudged documents could take back."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from evaluation.comparisons.verdict import BOUNDED, excludes_zero
from evaluation.measures import split_name
from evaluation.models import Canary, CanaryValue
from evaluation.scoring.figures import mean_as_read
from evaluation.scoring.results import Evaluation
from evaluation.scoring.strangers import notes_on_strangers
from evaluation.scoring.unsettled import difference_bounds, unsettled, unsettled_kept
from evaluation.scoring.wording import first_places, percent
from pooling.formats.wording import counted
from pooling.heavy import np
from pooling.models import Run
from pooling.ranking.shared_ids import examples_of

# The places whose coverage stands with a measure without K.
PLACES = 10
# So many ids are looked up in the collection.
LOOKED_UP = 500
REMEDY = "Judge them, or check the ids of the run."


def places_of(key: str) -> int:
    """The K of a measure."""
    return split_name(key)[1] or PLACES


def share_judged(evaluation: Evaluation, run: str, key: str) -> float | None:
    """judged@K over what the run retrieved; None where that is nothing."""
    return mean_as_read(evaluation.figure(run, "judged", places_of(key)))


def could_lift(evaluation: Evaluation, run: str, key: str, threshold: float) -> bool:
    """A mean below the threshold may reach it, with some labels of the run's unjudged documents.

    Exact for recall and precision, conditional on the pool; of other measures, which have no bounds here,
    true where a document of the first K is unjudged. Where all are, ids may be at fault, which no bound
    covers: then true.
    """
    measure, k = split_name(key)
    evaluated = evaluation.runs[run]
    figure = evaluated.figures[key]
    if figure["mean"] is None:
        return False
    if share_judged(evaluation, run, key) == 0:
        return True
    if measure == "recall":
        most = figure["bounds"][1]
        return most is not None and most >= threshold
    if measure == "precision" and k:
        column = int(np.flatnonzero(evaluation.cutoffs == k)[0])
        counts, scored = evaluated.counted.counts, evaluated.scored
        unjudged = (counts.retrieved - counts.judged)[scored, column]
        return figure["mean"] + float(unjudged.mean()) / k >= threshold
    return _is_open(evaluation, run, key)


def could_reverse(evaluation: Evaluation, pair: tuple[str, str], key: str) -> bool:
    """A fall of the first run below the second may be none, as `could_lift` says it of a mean."""
    measure, k = split_name(key)
    if any(share_judged(evaluation, run, key) == 0 for run in pair):
        return True
    if measure not in BOUNDED or k is None:
        return any(_is_open(evaluation, run, key) for run in pair)
    opened = unsettled_kept(evaluation, pair) or unsettled(evaluation, pair)
    bounds = difference_bounds(evaluation, opened, pair, measure=measure, k=k)
    return excludes_zero(bounds.mean()) >= 0


def _is_open(evaluation: Evaluation, run: str, key: str) -> bool:
    judged = share_judged(evaluation, run, key)
    return judged is not None and judged < 1


def notes_on(evaluation: Evaluation, run: Run, key: str) -> list[str]:
    """Sentences on a run without a judged document in the first K, or whose ids do not meet the labels."""
    counted_run, source = evaluation.runs[run.name].counted, evaluation.sources[run.name]
    strangers = notes_on_strangers(run.name, source, counted_run, evaluation.labels)
    if share_judged(evaluation, run.name, key) != 0:
        return strangers
    places = places_of(key)
    top = unsettled(evaluation, [run.name], depth=places).tops[run.name]["document_id"]
    ids = top.unique(maintain_order=True).head(LOOKED_UP)
    begins = f"No document of its {first_places(places)} is judged, such as {examples_of(ids)}"
    if not run.collection.documents.exists():
        return [f"{begins}.", *strangers]
    there = run.collection.documents.filter(external_id__in=ids.to_list()).count()
    many = counted(len(ids), "document")
    whether = f"{there:,} of {many} looked up are" if there else f"none of {many} looked up is"
    return [f"{begins}; {whether} in the collection.", *strangers]


def coverage_words(canary: Canary, value: CanaryValue) -> str:
    """`, judged@10 62.5 %`; nothing for a value of before coverage was stored, or of an empty run."""
    if value.judged is None:
        return ""
    return f", judged@{places_of(canary.measure)} {percent(value.judged)}"


def remedy(value: CanaryValue, claims: Collection[str]) -> Sequence[str]:
    """What to do about claims that the unjudged documents could take back, and what is strange about ids."""
    is_open = bool(set(claims) & set(value.undecided))
    return [*([REMEDY] if is_open else []), *value.notes]
