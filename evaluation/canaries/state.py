from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from django.db.models import Avg, Count, F

from evaluation.canaries.queries import TagChange, changes_of_tags, stretches_of
from evaluation.canaries.regressions import LeastFall, least_fall
from evaluation.models import Canary, CanaryStretch, CanaryValue


@dataclass(frozen=True)
class State:
    """trouble: why it cannot measure, or what it has lost; empty when all is well."""

    stretch: CanaryStretch
    tag_change: TagChange | None
    least_fall: LeastFall
    trouble: str


def states_of(canaries: Sequence[Canary]) -> dict[int, State]:
    stretches = stretches_of(canaries)
    changes = changes_of_tags(stretches, canaries)
    # Versions whose lists are the same tell nothing of the noise between versions.
    noise = CanaryValue.objects.filter(stretch__in=stretches.values(), deviation__gt=0).order_by()
    rows = noise.values("stretch").annotate(pairs=Count("pk"), square=Avg(F("deviation") * F("deviation")))
    noise_of = {row["stretch"]: (sqrt(row["square"]), row["pairs"]) for row in rows}
    states = {}
    for canary in canaries:
        stretch, change = stretches[canary.pk], changes.get(canary.pk)
        deviation, pairs = noise_of.get(stretch.pk, (stretch.deviation, 1))
        shares = 1 if canary.reference == Canary.Reference.PREVIOUS else 2
        least = least_fall(stretch.scored, deviation, pairs, confidence=canary.confidence, comparisons=shares)
        lost = change.sentence() if change and change.is_lost else ""
        states[canary.pk] = State(stretch, change, least, " ".join(filter(None, (canary.trouble, lost))))
    return states


def state_of(canary: Canary) -> State:
    return states_of([canary])[canary.pk]
