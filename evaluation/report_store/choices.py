"""Checks of a report's settings: a name that does not exist or a value out of range is one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from evaluation.measures import MEASURES as ALL_MEASURES
from evaluation.measures import key_of, split_name
from evaluation.scoring.config import SettingError, Settings, settings_from
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.strata import chosen_strata, queries_by_tag
from labeling.models import QrelsRelease
from labeling.qrels.releases import newest_release, release_named
from pooling.formats.wording import plural
from pooling.interface.problems import InputError
from pooling.models import Collection, Pool, Run
from pooling.runs.stored import runs_named

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
        runs = list(collection.runs.listed())
        if not runs:
            raise InputError(f"“{collection.slug}” has no run yet. Import runs first.", field="runs")
        return runs
    try:
        return runs_named(collection, names)
    except InputError as error:
        raise _refused("runs", error, collection.runs.values_list("name", flat=True)) from None


def _refused(field: str, error: InputError, names: QuerySet[Any, str]) -> InputError:
    there = ", ".join(f"“{name}”" for name in names[:20])
    problem = f"{error} There {plural(len(names), 'is', 'are')} {there}." if names else str(error)
    return InputError(problem, field=field)


def default_cutoffs(runs: Sequence[Run], pools: Sequence[Pool]) -> tuple[int, ...]:
    """The usual values of K as far as the deepest run and pool go: below that nobody was asked to judge."""
    deepest = max((run.depth for run in runs), default=1)
    pooled = max((pool.deepest for pool in pools), default=deepest)
    return tuple(k for k in CUTOFFS if k <= min(deepest, pooled))


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
        raise InputError(problem, field="k")
    return chosen


def checked_measures(names: Sequence[str]) -> tuple[str, ...]:
    """Measures in their order with recall and judged, at every K; `map` and `map@10` are two."""
    try:
        pairs = [split_name(name) for name in names]
    except ValueError as error:
        raise InputError(str(error), field="measures") from None
    chosen = {key_of(name, k) if ALL_MEASURES[name].whole else name for name, k in pairs} | set(ALWAYS)
    ranked = [*MEASURES, *sorted(chosen.difference(MEASURES))]
    return tuple(name for name in ranked if name in chosen)


def own_cutoffs(names: Iterable[str]) -> list[int]:
    """The values of K that measures name themselves: 10 of `ndcg@10`. The names are known to be good."""
    return [k for _, k in map(split_name, names) if k is not None]


def conventions_from(choices: Mapping[str, Any]) -> Conventions:
    """The conventions of a preset, changed by the values given; an empty value leaves the preset's."""
    given = {name: value for name, value in choices.items() if value not in (None, "")}
    return settings_chosen({"conventions": given}).chosen_conventions()


def settings_chosen(values: Mapping[str, Any]) -> Settings:
    """Settings under the names of the evaluation file; a refusal names the field."""
    try:
        return settings_from(values)
    except SettingError as error:
        table, _, name = error.key.partition(".")
        field = name if table == "conventions" and name else table
        raise InputError(str(error), field=field) from None


def strata_chosen(collection: Collection, tags: Sequence[str] | None) -> dict[str, list[str]]:
    """The ids of the collection's queries with each of these tags; the refusal lists those there are."""
    try:
        return chosen_strata(tagged_queries(collection), tags) if tags else {}
    except ValueError as error:
        raise InputError(str(error), field="tags") from None


def tagged_queries(collection: Collection) -> dict[str, list[str]]:
    tagged = collection.queries.filter(metadata__has_key="tags").order_by("external_id")
    by_tag = queries_by_tag(tagged.values_list("external_id", "metadata").iterator())
    return dict(sorted(by_tag.items()))
