"""Two reports checked against each other: the same runs' figures, and what changed in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from evaluation.models import Report
from evaluation.report_store.files import cutoffs_of, figure_of, run_names
from evaluation.report_store.settings import weights_of
from evaluation.scoring.figures import Figure

SETTINGS = {
    "conventions": "Conventions",
    "confidence": "Confidence",
    "bootstrap_samples": "Samples",
    "seed": "Seed",
    "margin": "Margin",
    "k": "K",
    "asked": "Measures",
    "tags": "Tags",
    "pools": "Pools of the bounds",
    "pool": "Pool of the estimates",
    "software": "Software",
}
# Differences below this are rounding of other versions of the same libraries.
EQUAL = 1e-9


@dataclass(frozen=True)
class Change:
    """Something in which two reports differ."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class FigureChange:
    """One run's mean at a K in both reports; `other_file` where the run of that name is another file."""

    run: str
    k: int | None
    before: Figure
    after: Figure
    other_file: bool

    @property
    def difference(self) -> float | None:
        """After minus before."""
        before, after = self.before["mean"], self.after["mean"]
        return None if before is None or after is None else after - before


def what_changed(before: Report, after: Report) -> list[Change]:
    """Release, runs and settings in which two reports differ; none where they should be equal."""
    first, second = before.options, after.options
    changes = []
    if first["release"]["sha256"] != second["release"]["sha256"]:
        changes.append(Change("Qrels release", _release(first), _release(second)))
    words = [how["words"] if (how := weights_of(one)) else "none" for one in (before, after)]
    if words[0] != words[1]:
        changes.append(Change("Weights", *words))
    files = [{run["name"]: run["sha256"] for run in options["runs"]} for options in (first, second)]
    for run in dict.fromkeys([*files[0], *files[1]]):
        old, new = (_file(of_run.get(run)) for of_run in files)
        if old != new:
            changes.append(Change(f"Run {run}", old, new))
    for key, what in SETTINGS.items():
        is_same_pool = key == "pool" and _pool(before) == _pool(after)
        if first.get(key) != second.get(key) and not is_same_pool:
            changes += _settings(what, first.get(key), second.get(key))
    return changes


def _pool(report: Report) -> object:
    """The pool of the estimates by its key, since a pool can be renamed."""
    pool = report.result["estimates"]["pool"] or {}
    return pool.get("id", report.options.get("pool"))


def _release(options: Mapping[str, Any]) -> str:
    return f"{options['release']['name']} ({options['release']['sha256'][:12]})"


def _file(sha256: str | None) -> str:
    return "not in it" if sha256 is None else f"file {sha256[:12]}"


def _settings(what: str, before: Any, after: Any) -> list[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
        return [
            Change(f"{what}: {name.replace('_', ' ')}", _word(before.get(name)), _word(after.get(name)))
            for name in names
        ]
    return [Change(what, _word(before), _word(after))]


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def shared_measures(before: Report, after: Report) -> list[str]:
    return [name for name in after.options["measures"] if shared_cutoffs(before, after, name)]


def shared_cutoffs(before: Report, after: Report, measure: str) -> list[int | None]:
    """The K at which both reports have a measure; None over the whole run."""
    if measure not in before.options["measures"]:
        return []
    earlier = cutoffs_of(before, measure)
    return [k for k in cutoffs_of(after, measure) if k in earlier]


def figure_changes(before: Report, after: Report, measure: str) -> list[FigureChange]:
    """The means of the runs that both reports have, at every K that both have."""
    files = [{run["name"]: run["sha256"] for run in report.options["runs"]} for report in (before, after)]
    shared = [run for run in run_names(after) if run in files[0]]
    return [
        FigureChange(
            run,
            k,
            figure_of(before, run, measure, k),
            figure_of(after, run, measure, k),
            files[0][run] != files[1][run],
        )
        for run in shared
        for k in shared_cutoffs(before, after, measure)
    ]


def are_equal(before: Report, after: Report) -> bool:
    """Both have the same runs and, in every measure and K of both, the same figures."""
    changes = [one for name in shared_measures(before, after) for one in figure_changes(before, after, name)]
    return set(run_names(before)) == set(run_names(after)) and all(map(_same, changes))


def _same(change: FigureChange) -> bool:
    before, after = change.before, change.after
    estimates = [one.get("estimate") or {"value": None} for one in (before, after)]
    pairs = (
        (estimates[0]["value"], estimates[1]["value"]),
        (before["mean"], after["mean"]),
        (before["low"], after["low"]),
        (before["high"], after["high"]),
    )
    return all(
        old == new or (old is not None and new is not None and abs(old - new) < EQUAL) for old, new in pairs
    )


class PlainFigureChange(TypedDict):
    """A mean in both reports; k is null over the whole run."""

    measure: str
    run: str
    k: int | None
    before: float | None
    after: float | None
    difference: float | None
    other_file: Annotated[bool, "The run of that name is another file."]


class PlainChanges(TypedDict):
    """Two reports checked against each other."""

    before: int
    after: int
    equal: Annotated[bool, "The same runs, and the same figures in all they share."]
    changed: list[Change]
    figures: list[PlainFigureChange]


def changes_as_dict(before: Report, after: Report) -> PlainChanges:
    return {
        "before": before.pk,
        "after": after.pk,
        "equal": are_equal(before, after),
        "changed": what_changed(before, after),
        "figures": [
            {
                "measure": measure,
                "run": one.run,
                "k": one.k,
                "before": one.before["mean"],
                "after": one.after["mean"],
                "difference": one.difference,
                "other_file": one.other_file,
            }
            for measure in shared_measures(before, after)
            for one in figure_changes(before, after, measure)
        ],
    }
