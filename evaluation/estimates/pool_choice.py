"""Choice of the stored pool that carries the estimates of a report: the one whose audit is furthest answered
among those that are deep enough, or the one that was asked for; what the others chose is known
(`estimates/union.py`). Pairs that were picked one by one are no pool in this sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from django.db.models import Q

from evaluation.estimates.sample import AuditSample, Standing, standing
from evaluation.estimates.stored_sample import chosen_for_certain, read_sample
from evaluation.scoring.estimate_figures import OtherPool
from evaluation.scoring.results import Evaluation
from labeling.adaptive.state import parts_of_pairs
from labeling.models import QrelsRelease
from pooling.formats.wording import plural
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection, Pool


class ChosenPool(TypedDict):
    """The pool of a report's estimates; see `evaluation.scoring.estimate_figures`."""

    id: int
    asked: bool
    answered: float | None
    others: list[OtherPool]


@dataclass(frozen=True)
class PoolChoice:
    """The pool that estimates rest on, the sample that the release's labels are of it, and whether it has an
    audit. answered: name of every pool with an audit -> the share of the runs and queries measured for which
    its draw is answered. asked: whether somebody named the pool."""

    pool: Pool
    audit: AuditSample
    has_audit: bool
    answered: dict[str, float]
    asked: bool

    def described(self) -> ChosenPool:
        others = {name: share for name, share in self.answered.items() if name != self.pool.name}
        return {
            "id": self.pool.pk,
            "asked": self.asked,
            "answered": self.answered.get(self.pool.name),
            "others": [{"name": name, "answered": share} for name, share in others.items()],
        }


def pools_to_rest_on(collection: Collection) -> list[Pool]:
    return list(collection.pools.exclude(strategy__in=Pool.PICKED).defer("diagnostics"))


def pool_to_rest_on(collection: Collection, name: str) -> Pool:
    """The pool of that name; the refusal lists those there are."""
    pools = pools_to_rest_on(collection)
    match = next((pool for pool in pools if pool.name == name), None)
    if match is None:
        names = ", ".join(f"“{pool.name}”" for pool in pools[:20])
        problem = f"There is no pool “{name}” that estimates can rest on."
        problem += f" There {plural(len(pools), 'is', 'are')} {names}." if names else ""
        raise InputError(problem, field="pool")
    return match


def choose_pool(
    collection: Collection,
    release: QrelsRelease,
    qrels: pl.DataFrame,
    evaluation: Evaluation,
    *,
    named_pool: Pool | None = None,
) -> PoolChoice | None:
    """The pool that was asked for, else the one whose audit is furthest answered over the runs and queries
    measured, of equals the one with the largest frame, of these the newest; one that is shallower than the
    usual K carries nothing while another is deep enough. While a version is being judged, the last one before
    it that is judged whole carries on, so that judging further leaves no worse sentence. Without any audit
    the newest pool, of which nothing is estimated. None without a pool."""
    pools = pools_to_rest_on(collection)
    least = evaluation.conventions.min_relevance
    chosen_by_all = chosen_for_certain(collection, release, qrels)
    samples = {
        pool.pk: read_sample(pool, release, qrels, least, chosen=chosen_by_all)
        for pool in pools
        if has_audit(pool, release)
    }
    shares = {pool.pk: _standing(pool, samples[pool.pk], evaluation) for pool in pools if pool.pk in samples}
    best = max((pool for pool in pools if pool.pk in samples), key=lambda pool: shares[pool.pk], default=None)
    chosen = named_pool or (_last_judged_whole(best, shares, samples) if best else next(iter(pools), None))
    if chosen is None:
        return None
    if (audit := samples.get(chosen.pk)) is None:
        audit = read_sample(chosen, release, qrels, least, chosen=chosen_by_all)
    answered = {pool.name: shares[pool.pk].answered for pool in pools if pool.pk in shares}
    return PoolChoice(chosen, audit, chosen.pk in shares, answered, named_pool is not None)


def _last_judged_whole(
    best: Pool, shares: Mapping[int, Standing], samples: Mapping[int, AuditSample]
) -> Pool:
    """The pool, or the last version before it of which nothing waits, if it has a run measured."""
    for pool in reversed(best.versions()):
        share = shares.get(pool.pk)
        if share is None or not share.answered or share.is_deep < shares[best.pk].is_deep:
            continue
        if share.queries == 1 and not samples[pool.pk].awaited:
            return pool
    return best


def _standing(pool: Pool, audit: AuditSample, evaluation: Evaluation) -> Standing:
    merged = set(pool.pool_runs.values_list("run__name", flat=True))
    shared = len(merged & set(evaluation.runs)) / len(evaluation.runs)
    reach = pool.reach or min(map(pool.depth_of, evaluation.runs))
    return standing(audit, evaluation, reach, shared)


def has_audit(pool: Pool, release: QrelsRelease) -> bool:
    """Something was drawn: for this pool, for a version before it, or by an adaptive queue."""
    if pool.entries.filter(Q(in_audit=True) | Q(inclusion_probability__lt=1)).exists():
        return True
    parts = parts_of_pairs(pool, release.sidecar.get("selections", ()))
    return parts is not None and any(part.place is not None for part in parts.values())
