"""The queries of canaries: frozen when a stretch of the history begins; and what their tag became since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from django.contrib.auth.models import User
from django.db.models import Avg, Count, F

from evaluation.canaries.regressions import LeastFall, least_fall
from evaluation.models import Canary, CanaryStretch, CanaryValue
from evaluation.report_store.choices import strata_chosen, tagged_queries
from labeling.qrels.releases import read_release
from pooling.interface.problems import InputError


@dataclass(frozen=True)
class TagChange:
    """Changes of the queries that have a canary's tag since they were `measured`."""

    tag: str
    measured: int
    tagged: int
    added: int
    removed: int

    @property
    def is_lost(self) -> bool:
        return not self.tagged

    def sentence(self) -> str:
        if self.is_lost:
            rest = "Those that had it are still measured" if self.measured else "Nothing can be measured"
            return f"No query has the tag {self.tag} any more. {rest}; give it back, or make another canary."
        parts = []
        if self.removed:
            parts.append(f"{self.removed:,} of the queries that are measured no longer have it")
        if self.added:
            parts.append(f"{self.added:,} that have it by now are not measured")
        return f"The tag {self.tag} has moved: {', and '.join(parts)}."


def frozen(canary: Canary, user: User | None) -> CanaryStretch:
    """A canary's new stretch over the queries tagged now, not yet stored; `InputError` without a label."""
    labels = read_release(canary.release)
    relevant = set(labels.filter(labels["relevance"] >= 1)["query_id"].unique())
    if not canary.tag:
        return CanaryStretch(canary=canary, queries=None, scored=len(relevant), started_by=user)
    try:
        chosen = strata_chosen(canary.collection, [canary.tag])[canary.tag]
    except InputError as error:
        raise _refused(str(error)) from None
    if not set(chosen) & set(labels["query_id"].unique()):
        problem = f"No query with the tag {canary.tag} has a label in release {canary.release.name}."
        raise _refused(f"{problem} Judge some, or choose another tag or release.")
    return CanaryStretch(
        canary=canary, queries=chosen, scored=len(relevant.intersection(chosen)), started_by=user
    )


def _refused(problem: str) -> InputError:
    return InputError(problem, field="tag")


def stretches_of(canaries: Sequence[Canary]) -> dict[int, CanaryStretch]:
    rows = CanaryStretch.objects.filter(canary__in=canaries).order_by("pk")
    return {stretch.canary_id: stretch for stretch in rows}


def changes_of_tags(
    stretches: Mapping[int, CanaryStretch], canaries: Sequence[Canary]
) -> dict[int, TagChange]:
    """Key of a canary -> what has become of its tag, where that has changed; canaries of one collection."""
    tagged = [canary for canary in canaries if canary.tag]
    by_tag = tagged_queries(tagged[0].collection) if tagged else {}
    changes = {}
    for canary in tagged:
        now, measured = set(by_tag.get(canary.tag, ())), set(stretches[canary.pk].queries or ())
        if now != measured or not now:
            changes[canary.pk] = TagChange(
                tag=canary.tag,
                measured=len(measured),
                tagged=len(now),
                added=len(now - measured),
                removed=len(measured - now),
            )
    return changes


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
