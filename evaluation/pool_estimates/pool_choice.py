"""Which stored pool the estimates of a report rest on: the one whose audit is furthest answered, or the one
that was asked for. Pairs that were picked one by one are no pool in this sense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from django.db.models import Q

from evaluation.pool_estimates.stored_sample import read_sample
from labeling.adaptive.state import parts_of_pairs
from pooling.interface.problems import InputError
from pooling.models import Collection, Pool

if TYPE_CHECKING:
    import polars as pl

    from evaluation.estimates.sample import AuditSample
    from evaluation.scoring.estimate_figures import OtherPool
    from evaluation.scoring.results import Evaluation
    from labeling.models import QrelsRelease


class ChosenPool(TypedDict):
    """What a report says of the choice of its pool; see `evaluation.scoring.estimate_figures`."""

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
        """What a report tells of the choice."""
        others = {name: share for name, share in self.answered.items() if name != self.pool.name}
        return {
            "id": self.pool.pk,
            "asked": self.asked,
            "answered": self.answered.get(self.pool.name),
            "others": [{"name": name, "answered": share} for name, share in others.items()],
        }


def pools_to_rest_on(collection: Collection) -> list[Pool]:
    """The pools that estimates can be asked of, the newest first."""
    return list(collection.pools.exclude(strategy__in=Pool.PICKED).defer("diagnostics"))


def pool_to_rest_on(collection: Collection, name: str) -> Pool:
    """The pool of that name; the refusal lists those there are."""
    pools = pools_to_rest_on(collection)
    found = next((pool for pool in pools if pool.name == name), None)
    if found is None:
        known = ", ".join(f"“{pool.name}”" for pool in pools[:20])
        problem = f"There is no pool “{name}” that estimates can rest on."
        problem += f" There is {known}." if known else ""
        raise InputError(problem, field="pool")
    return found


def choose_pool(
    collection: Collection,
    release: QrelsRelease,
    qrels: pl.DataFrame,
    evaluation: Evaluation,
    *,
    asked: Pool | None = None,
) -> PoolChoice | None:
    """The pool that was asked for, else the one whose audit is furthest answered over the runs and queries
    measured, of equals the one with most pairs, of these the newest; without any audit the newest pool, of
    which nothing is estimated. None without a pool.
    """
    pools = pools_to_rest_on(collection)
    least = evaluation.conventions.min_relevance
    shares: dict[int, tuple[float, float, int]] = {}
    best: tuple[Pool, AuditSample] | None = None
    for pool in pools:
        if not has_audit(pool, release):
            continue
        audit = read_sample(pool, release, qrels, least)
        shares[pool.pk] = _answered(pool, audit, evaluation)
        if best is None or shares[pool.pk] > shares[best[0].pk]:
            best = pool, audit
    chosen = asked or (best[0] if best else next(iter(pools), None))
    if chosen is None:
        return None
    is_best = best is not None and best[0].pk == chosen.pk
    audit = best[1] if best and is_best else read_sample(chosen, release, qrels, least)
    answered = {pool.name: shares[pool.pk][0] for pool in pools if pool.pk in shares}
    return PoolChoice(chosen, audit, chosen.pk in shares, answered, asked is not None)


def _answered(pool: Pool, audit: AuditSample, evaluation: Evaluation) -> tuple[float, float, int]:
    """Of how many runs and queries measured the draw is answered, as a share; of how many queries; and the
    pairs of the pool."""
    queries = answered_share(audit, evaluation.labels.query_ids)
    merged = set(pool.pool_runs.values_list("run__name", flat=True))
    shared = len(merged & set(evaluation.runs)) / len(evaluation.runs)
    return queries * shared, queries, pool.pair_count


def has_audit(pool: Pool, release: QrelsRelease) -> bool:
    """Whether anything of a pool was drawn: for it, for a version before it, or by an adaptive queue."""
    if pool.entries.filter(Q(in_audit=True) | Q(inclusion_probability__lt=1)).exists():
        return True
    parts = parts_of_pairs(pool, release.sidecar.get("selections", ()))
    return parts is not None and any(part.place is not None for part in parts.values())


def answered_share(audit: AuditSample, query_ids: pl.Series) -> float:
    """The mean over queries of the share of the draw that is answered; 0 for a query that the pool does not
    hold or cannot estimate, 1 for one of which nothing had to be drawn."""
    import polars as pl

    columns = pl.col("sampled", "waiting").sum(), pl.col("defined").all()
    counted = audit.strata.group_by("query_id").agg(columns)
    drawn = pl.col("sampled") + pl.col("waiting")
    share = pl.when(drawn > 0).then(pl.col("sampled") / drawn).otherwise(1.0)
    shares = counted.filter("defined").select("query_id", share=share)
    measured = pl.DataFrame({"query_id": query_ids})
    found = measured.join(shares, on="query_id", how="left")["share"].fill_null(0.0).mean()
    return float(found) if isinstance(found, float) else 0.0
