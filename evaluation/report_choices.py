"""What a report is asked for, checked: a name that does not exist or a value out of range is one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labeling.qrels import newest_release, release_named
from pooling.models import Collection, Run
from pooling.problems import InputError
from pooling.runs import runs_named

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from evaluation.conventions import Conventions
    from labeling.models import QrelsRelease

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
MEASURES = ("recall", "precision", "f1", "success", "judged")
# A recall without its coverage is what this product is against, so both are part of every report.
ALWAYS = ("recall", "judged")
MOST_CUTOFFS = 50


def release_chosen(collection: Collection, name: str | None) -> QrelsRelease:
    """The release of that name, or the newest; the refusal lists those there are."""
    try:
        return newest_release(collection) if name is None else release_named(collection, name)
    except InputError as error:
        raise _refused("release", error, collection.releases.values_list("name", flat=True)) from None


def runs_chosen(collection: Collection, names: Sequence[str] | None) -> list[Run]:
    """The runs of those names, or all; the refusal lists those there are."""
    if names is not None and not names:
        raise InputError("A report needs at least one run.", fields={"runs": "Choose at least one run."})
    if names is None:
        runs = list(collection.runs.all())
        if not runs:
            problem = f"“{collection.slug}” has no run yet. Import runs first."
            raise InputError(problem, fields={"runs": problem})
        return runs
    try:
        return runs_named(collection, names)
    except InputError as error:
        raise _refused("runs", error, collection.runs.values_list("name", flat=True)) from None


def _refused(field: str, error: InputError, known: QuerySet[Any, str]) -> InputError:
    names = ", ".join(f"“{name}”" for name in known[:20])
    problem = f"{error} There is {names}." if names else str(error)
    return InputError(problem, fields={field: problem})


def default_cutoffs(runs: Sequence[Run]) -> tuple[int, ...]:
    """The usual values of K as far as the deepest run goes."""
    deepest = max((run.depth for run in runs), default=1)
    return tuple(k for k in CUTOFFS if k <= deepest)


def checked_cutoffs(cutoffs: Sequence[int]) -> tuple[int, ...]:
    chosen = tuple(sorted(set(cutoffs)))
    problem = ""
    if not chosen:
        problem = "Name at least one K."
    elif chosen[0] < 1:
        problem = f"K is {chosen[0]}; every K must be 1 or more."
    elif len(chosen) > MOST_CUTOFFS or chosen[-1] > 1_000_000:
        problem = f"Name at most {MOST_CUTOFFS} values of K, none above 1,000,000."
    if problem:
        raise InputError(problem, fields={"k": problem})
    return chosen


def checked_measures(names: Sequence[str]) -> tuple[str, ...]:
    from evaluation.measures import measure_named

    try:
        chosen = {measure_named(name).name for name in names} | set(ALWAYS)
    except ValueError as error:
        raise InputError(str(error), fields={"measures": str(error)}) from None
    ranked = [*MEASURES, *sorted(chosen.difference(MEASURES))]
    return tuple(name for name in ranked if name in chosen)


def conventions_from(choices: Mapping[str, Any]) -> Conventions:
    """The conventions of a preset, changed by the values given; an empty value leaves the preset's."""
    from evaluation.conventions import Conventions

    given = {name: value for name, value in choices.items() if value not in (None, "")}
    preset = given.pop("preset", None)
    try:
        return Conventions.preset(preset, **given) if preset else Conventions(**given)
    except (ValueError, TypeError) as error:
        field = next((name for name in ("preset", *given) if name in str(error)), "conventions")
        raise InputError(str(error), fields={field: str(error)}) from None
