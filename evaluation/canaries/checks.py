"""A run checked against canaries on the spot: nothing is stored, and no message is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.canaries.measuring import (
    BELOW,
    DROP,
    SINCE_REFERENCE,
    ValueOfRun,
    ends_of,
    is_below,
    measured,
    rests_on,
    value_of_run,
)
from evaluation.canaries.queries import stretches_of
from evaluation.canaries.unjudged import remedy
from evaluation.models import Canary, CanaryValue
from evaluation.scoring.wording import decimal_against, interval
from pooling.formats.wording import counted, signed
from pooling.interface.problems import InputError
from pooling.models import Collection, Run
from pooling.runs.stored import runs_named


class CheckResult(ValueOfRun):
    """A run's value of a canary as `canary --format json` prints it."""

    canary: str
    measure: str
    threshold: float
    sentence: str


@dataclass(frozen=True)
class Checked:
    canary: Canary
    value: CanaryValue

    @property
    def below(self) -> bool:
        return is_below(self.canary.threshold, self.value.mean)

    def sentence(self) -> str:
        value, canary = self.value, self.canary
        figure = f"{decimal_against(value.mean, canary.threshold)}{interval(ends_of(value))}"
        count = counted(value.queries, "query")
        side = "below" if self.below else "at or above"
        perhaps = ", perhaps only as documents are unjudged" if BELOW in value.undecided else ""
        sentences = [
            f"{canary.name}: {value.run.name} has {canary.measure} {figure} over {count} "
            f"{rests_on(canary, value)}, {side} {canary.threshold:g}{perhaps}."
        ]
        falls = (
            (DROP, value.previous, value.difference),
            (SINCE_REFERENCE, value.reference, value.reference_difference),
        )
        for reason, before, difference in falls:
            if reason in value.reasons and before:
                how = "by these labels" if reason in value.undecided else "beyond noise"
                sentences.append(f"It fell {how} since {before.name} ({signed(difference)}).")
        return " ".join([*sentences, *remedy(value, [BELOW, *value.reasons])])

    def to_dict(self) -> CheckResult:
        return {
            "canary": self.canary.name,
            "measure": self.canary.measure,
            "threshold": self.canary.threshold,
            **value_of_run(self.canary, self.value),
            "sentence": self.sentence(),
        }


def canaries_named(collection: Collection, names: Sequence[str]) -> list[Canary]:
    """The canaries of these names, or all; `InputError` for one that is missing, and where there is none."""
    by_name = {one.name: one for one in collection.canaries.select_related("release", "collection", "pinned")}
    missing = next((name for name in names if name not in by_name), None)
    if missing is not None:
        raise InputError(f"There is no canary “{missing}” in “{collection.slug}”.")
    if not by_name:
        raise InputError(f"“{collection.slug}” has no canary yet. Make one on its page Canaries.")
    return [by_name[name] for name in dict.fromkeys(names)] if names else list(by_name.values())


def check_run(collection: Collection, canaries: Sequence[Canary], name: str | None) -> list[Checked]:
    """Measure a run, the newest without a name, by these canaries. `InputError` when there is none."""
    runs = list(collection.runs.defer("preflight").order_by("pk"))
    if not runs:
        raise InputError(f"“{collection.slug}” has no run yet. Import one first.")
    run: Run = runs[-1] if name is None else runs_named(collection, [name])[0]
    stretches = stretches_of(canaries)
    return [Checked(one, measured(one, stretches[one.pk], run, runs)) for one in canaries]
