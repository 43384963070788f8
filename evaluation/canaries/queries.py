"""The queries of canaries: frozen when a stretch of the history begins; and what their tag became since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from evaluation.models import Canary, CanaryStretch
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
    """A new stretch of a canary over the queries that have its tag now, not yet stored.

    `InputError` when no query has the tag, or none of those a label.
    """
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
