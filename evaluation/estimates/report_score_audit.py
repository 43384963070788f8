"""An audit by scores in a report: the newest one that is labelled, read from what was stored."""

from __future__ import annotations

from typing import TypedDict

from evaluation.estimates.of_pool import Basis, recall_cutoffs
from evaluation.estimates.score_audit import (
    ScoreAudit,
    differences_by_scores,
    relevant_by_scores,
    runs_by_scores,
    score_audit,
)
from evaluation.estimates.stored_sample import PAIR, pairs_frame
from evaluation.scoring.conventions import Conventions
from evaluation.scoring.estimate_figures import (
    NamedPool,
    NamedScoreAudit,
    ScoreAuditCounts,
    ScoreAuditEstimates,
    ScoreAuditFigures,
    ScoreStratum,
    TotalEstimate,
)
from evaluation.scoring.results import share_in_words
from labeling.models import QrelsRelease
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.models import Collection, Pool
from pooling.pools.building import pooled_frame

NO_MACRO = (
    "The mean over queries (macro) is not estimated: the strata run across queries, and queries from "
    "which nothing was drawn cannot be estimated separately."
)


def score_audit_of(
    collection: Collection, release: QrelsRelease, qrels: pl.DataFrame, basis: Basis | None
) -> ScoreAuditEstimates | None:
    """`status`, `sentence`, `pool`, `audit`, `counts`, `strata`, `relevant`, `runs`, `differences` and
    `notes`; None for a report that is too large, or without an audit by scores.

    Of several audits, the newest of which the release has an answer to all that was drawn; else the newest.
    """
    if basis is None:
        return None
    labels = qrels.filter(pl.col("relevance") >= 0)
    unanswered = pairs_frame(release.sidecar.get("cannot_judge", ()))
    chosen = _chosen(collection, pl.concat([labels.select(PAIR), unanswered]))
    if chosen is None:
        return None
    audit_pool, of = chosen
    conventions = basis.evaluation.conventions
    relevant = labels.select(*PAIR, relevant=pl.col("relevance") >= conventions.min_relevance)
    audit = read_score_audit(audit_pool, of, relevant, unanswered)
    return {**_described(audit_pool, of, audit), **_estimated(audit, basis, of, conventions)}


def read_score_audit(
    audit_pool: Pool, of: Pool, relevant: pl.DataFrame, unanswered: pl.DataFrame
) -> ScoreAudit:
    """The sample of an audit by scores from the pool `of`; outside the audit's own pool, all had labels."""
    population = pooled_frame(audit_pool).with_columns(known=pl.lit(False))
    pairs = pooled_frame(of).join(population, on=PAIR, how="left")
    return score_audit(
        pairs.with_columns(pl.col("known").fill_null(True)),
        _draw(audit_pool),
        [one["pairs"] for one in audit_pool.provenance["strata"]],
        labels=relevant,
        unanswered=unanswered,
    )


def _chosen(collection: Collection, answered: pl.DataFrame) -> tuple[Pool, Pool] | None:
    pools = list(collection.pools.filter(strategy=Pool.STRATA).defer("diagnostics"))
    of = collection.pools.in_bulk([pool.provenance["pool"]["id"] for pool in pools])
    kept = [pool for pool in pools if pool.provenance["pool"]["id"] in of]
    complete = (one for one in kept if _draw(one).join(answered, on=PAIR, how="anti").is_empty())
    chosen = next(complete, next(iter(kept), None))
    return None if chosen is None else (chosen, of[chosen.provenance["pool"]["id"]])


def _draw(pool: Pool) -> pl.DataFrame:
    """query_id, document_id, stratum, place: what was drawn, in the order of the draw."""
    rows = [
        (query, document, number, place)
        for number, stratum in enumerate(pool.provenance["drawn"])
        for place, (query, document) in enumerate(stratum, start=1)
    ]
    schema = {**dict.fromkeys(PAIR, pl.String), "stratum": pl.Int64, "place": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


class _Described(TypedDict):
    pool: NamedPool
    audit: NamedScoreAudit
    counts: ScoreAuditCounts
    strata: list[ScoreStratum]
    notes: list[str]


def _described(audit_pool: Pool, of: Pool, audit: ScoreAudit) -> _Described:
    draw = audit_pool.provenance
    later = Pool.objects.filter(extends=of).first()
    sums = audit.strata.sum()
    counts: ScoreAuditCounts = {
        "pairs": audit.pairs.height,
        "certain": audit.certain,
        "lost": audit.lost,
        "population": int(sums["pairs"].item()),
        "drawn": int(sums["drawn"].item()),
        "sampled": int(sums["sampled"].item()),
        "relevant": int(sums["relevant"].item()),
        "cannot_judge": int(sums["cannot_judge"].item()),
        "waiting": int(sums["waiting"].item()),
        "unused": audit.unused,
    }
    return {
        "pool": {
            "id": of.pk,
            "name": of.name,
            "version": of.version,
            "extended_by": later.name if later else None,
        },
        "audit": {
            "id": audit_pool.pk,
            "name": audit_pool.name,
            "prelabeler": draw["prelabeler"],
            "model": draw["model"],
            "drawn_at": audit_pool.built_at.isoformat(),
            "complete": audit.is_complete,
        },
        "counts": counts,
        "strata": [
            {
                "name": plan["name"],
                "supposed": plan["rate"],
                "rests_on": plan["rests_on"],
                "pairs": row["pairs"],
                "drawn": row["drawn"],
                "sampled": row["sampled"],
                "relevant": row["relevant"],
                "cannot_judge": row["cannot_judge"],
                "waiting": row["waiting"],
            }
            for plan, row in zip(draw["strata"], audit.strata.to_dicts(), strict=True)
        ],
        "notes": _notes(counts, of, later),
    }


def _estimated(audit: ScoreAudit, basis: Basis, of: Pool, conventions: Conventions) -> ScoreAuditFigures:
    if not audit.is_defined:
        return {
            "relevant": None,
            "runs": {},
            "differences": [],
            "status": "waiting",
            "sentence": _waiting_sentence(audit),
        }
    confidence, cutoffs = basis.evaluation.confidence, recall_cutoffs(basis.evaluation)
    relevant = relevant_by_scores(audit, confidence=confidence)
    depths = _depths(of, conventions)
    return {
        "status": "estimated",
        "relevant": relevant,
        "runs": runs_by_scores(audit, basis.places, cutoffs, depths, confidence=confidence),
        "differences": differences_by_scores(audit, basis.places, cutoffs, confidence=confidence),
        "sentence": _estimated_sentence(of, relevant),
    }


def _depths(of: Pool, conventions: Conventions) -> dict[str, int]:
    """Depth to which the pool holds each run's list wholly; runs and orders without one are left out."""
    if (of.ties, of.scores) != (conventions.ties, conventions.scores):
        return {}
    return {name: of.depth_of(name) for name in of.pool_runs.values_list("run__name", flat=True)}


def _estimated_sentence(of: Pool, relevant: TotalEstimate) -> str:
    text = (
        f"About {relevant['value']:,.0f} relevant documents in pool “{of.name}” ({relevant['low']:,.0f} to "
        f"{relevant['high']:,.0f}); {relevant['seen']:,} were seen"
    )
    if not relevant["at_most_unseen"]:
        return f"{text}."
    sure = share_in_words(relevant["confidence"])
    return f"{text}, and at most {relevant['at_most_unseen']:,} were not ({sure}, exact, one-sided)."


def _waiting_sentence(audit: ScoreAudit) -> str:
    without = audit.strata.filter(pl.col("sampled") == 0).height
    some = plural(without, "stratum has", "strata have")
    waiting, total = (int(audit.strata[name].sum()) for name in ("waiting", "drawn"))
    return (
        f"Nothing can be estimated yet: of what was drawn, {without} {some} no label at its beginning in "
        f"this release. {waiting:,} of {total:,} drawn pairs wait."
    )


def _notes(counts: ScoreAuditCounts, of: Pool, later: Pool | None) -> list[str]:
    notes = [NO_MACRO]
    behind = counts["drawn"] - counts["sampled"] - counts["waiting"]
    if counts["waiting"]:
        text = f"{_pairs_that(counts['waiting'], _IN_DRAW, ('waits', 'wait'))} for a label"
        if behind:
            text += (
                f", and {counted(behind, 'label')} behind such a gap in the order of the draw "
                f"{plural(behind, 'waits', 'wait')} with them"
            )
        notes.append(f"{text}; until then, the labelled beginning of each stratum stands for it.")
    if counts["unused"]:
        pairs = _pairs_that(counts["unused"], ("was not drawn", "were not drawn"), ("has", "have"))
        notes.append(
            f"{pairs} got a label since. That is not used here; a new draw would take it for certain."
        )
    both = "Intervals span all that this can be: all of it relevant, none, or just what a run has."
    if counts["lost"]:
        labelled = "had a label at the draw"
        pairs = _pairs_that(counts["lost"], (labelled, labelled), ("has", "have"))
        notes.append(f"{pairs} none in this release. {both}")
    if counts["cannot_judge"]:
        pairs = _pairs_that(counts["cannot_judge"], _IN_DRAW, ("could", "could"))
        notes.append(f"{pairs} not be judged. {both}")
    if later is not None:
        notes.append(
            f"Pool “{of.name}” was extended by “{later.name}” since; the pairs that it brought are not in "
            "these estimates."
        )
    return notes


_IN_DRAW = ("was drawn", "were drawn")


def _pairs_that(count: int, such: tuple[str, str], verb: tuple[str, str]) -> str:
    """Such as “1 pair that was drawn waits” or “3 pairs that were drawn wait”."""
    if count == 1:
        return f"1 pair that {such[0]} {verb[0]}"
    return f"{count:,} pairs that {such[1]} {verb[1]}"
