"""Estimates of recall where the pool behind the labels is known: from its audit, what is missing, and what a
new retriever would lose. Plain values, for reports and for files alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from evaluation.estimates.from_audit import (
    REST_PER_QUERY,
    Places,
    missing_by_query,
    proposal,
    recall_estimates,
    relevant_estimate,
)
from evaluation.estimates.intervals import DesignOf
from evaluation.estimates.missing import (
    further_loss,
    labelled_depth,
    leave_one_out,
    missing_floor,
    new_retriever_line,
)
from evaluation.estimates.sample import AuditSample
from evaluation.scoring.estimate_figures import (
    AuditProposal,
    EstimatedQueries,
    Estimates,
    FloorFigures,
    FrameFigures,
    LeaveOneOut,
    LeftOutAt,
    LeftOutRun,
    PoolOfEstimates,
    SampleCounts,
    TotalEstimate,
)
from evaluation.scoring.results import Evaluation, share_in_words
from evaluation.scoring.unsettled import Unsettled, unsettled
from pooling.formats.wording import counted, plural
from pooling.heavy import pd, pl
from pooling.inputs.reading import run_frame
from pooling.merging.families import families

MOST_IDS = 200
# Lists of this many documents are compared with each other to find near-duplicates; above, each run is its
# own.
MOST_COMPARED_LISTS = 20_000
# Queries × deepest K × runs. Above, reading all runs again for what has no label takes too long.
LARGEST = 20_000_000


@dataclass(frozen=True)
class PoolDesign:
    """The pool behind the labels: its description, the sample that the labels are, and how many documents
    of each query were chosen and pooled, for when there is no sample. depths: run -> how far down its list
    was pooled, None where that is not known. has_audit: whether anything of it was drawn. frame: what the
    audit was drawn from; None without one. members: the runs whose lists it was, as far as that is known.
    deepest_draw: how far down something was drawn, where nobody knows how deep the frame is."""

    described: PoolOfEstimates
    audit: AuditSample
    budgets: Callable[[], Sequence[tuple[int, int]]]
    depths: Mapping[str, int] | None
    has_audit: bool
    frame: FrameFigures | None = None
    members: Collection[str] = ()
    deepest_draw: int | None = None

    @property
    def reach(self) -> int | None:
        """The deepest K of which the audit speaks for sure; None where nobody knows of any."""
        return self.deepest_draw if self.frame is None else self.frame["reach"] or self.deepest_draw

    @property
    def is_deep(self) -> bool:
        """Whether the audit was drawn from documents that the pool has no row of as well."""
        return bool(self.audit.strata["hidden"].sum())

    @property
    def estimates(self) -> bool:
        """Complete labels without an audit are no estimate."""
        return self.has_audit and bool(self.audit.defined)


@dataclass(frozen=True)
class Basis:
    """Input of estimates and comparisons of one evaluation; `pool` is None where none is known."""

    evaluation: Evaluation
    opened: Unsettled
    places: Places
    pool: PoolDesign | None

    @property
    def design_of(self) -> DesignOf | None:
        """How queries were drawn from a log, where the evaluation is taken back to it."""
        return None if self.evaluation.design is None else self.evaluation.design_of

    @classmethod
    def of(cls, evaluation: Evaluation, pool: PoolDesign | None) -> Basis:
        """Read the runs again for their documents without a label."""
        opened = unsettled(evaluation, list(evaluation.runs))
        return cls(evaluation, opened, places_of(evaluation, opened), pool)


def too_large(evaluation: Evaluation) -> bool:
    return evaluation.labels.query_count * int(evaluation.cutoffs[-1]) * len(evaluation.runs) > LARGEST


def places_of(evaluation: Evaluation, opened: Unsettled) -> Places:
    """Places of the labelled pairs in every run, and of the others of its first documents."""
    labels, names = evaluation.labels, list(evaluation.runs)
    ranks = {
        f"rank_{at}": pl.Series(run.counted.position).cast(pl.UInt32).replace(0, None)
        for at, run in enumerate(evaluation.runs.values())
    }
    numbers = pl.Series("query", labels.query, dtype=pl.Int64)
    labelled = pl.DataFrame(
        {"query": numbers, "document_id": labels.document_ids, "label": labels.judged, **ranks}
    )
    others = pl.concat([opened.tops[name].select("query", "document_id") for name in names]).unique()
    for at, name in enumerate(names):
        place = opened.tops[name].select(
            "query", "document_id", pl.col("position").cast(pl.UInt32).alias(f"rank_{at}")
        )
        others = others.join(place, on=["query", "document_id"], how="left")
    frame = pl.concat([labelled.filter("label").drop("label"), others.select(labelled.drop("label").columns)])
    ids = labels.query_ids.gather(frame["query"]).alias("query_id")
    conventions = evaluation.conventions
    skipped = {
        name: labels.query_ids.filter(run.counted.missing).to_list()
        for name, run in evaluation.runs.items()
        if conventions.missing == "skip"
    }
    placed = frame.select(ids, pl.exclude("query"))
    return Places(placed, tuple(names), skipped, zero_relevant=conventions.zero_relevant == "zero")


def estimates_of(basis: Basis | None, *, complete: bool = False) -> Estimates:
    """Everything under `estimates`; what cannot be said is null and has a sentence that says why. No basis:
    the report is too large. complete: the labels are, so that nothing is missing."""
    if complete:
        pool = None if basis is None else basis.pool
        return {**_nothing("complete", _COMPLETE), "pool": None if pool is None else pool.described}
    if basis is None:
        return _nothing("too large", _TOO_LARGE)
    depths = _depths(basis)
    return {
        **_from_audit(basis),
        "floor": _floor(basis.evaluation, depths),
        "leave_one_out": leave_out(basis.evaluation, depths),
    }


def _depths(basis: Basis) -> Mapping[str, int] | None:
    """Depth of judging by run: that of its pool, or as the labels tell; None where neither is known."""
    if basis.pool is not None and basis.pool.depths is not None:
        return basis.pool.depths
    depth = labelled_depth(basis.evaluation)
    return dict.fromkeys(basis.evaluation.runs, depth) if depth else None


def _floor(evaluation: Evaluation, depths: Mapping[str, int] | None) -> FloorFigures | None:
    if depths is None:
        return None
    floor = missing_floor(evaluation, depths)
    counted = f"Counted in the first {max(depths.values())} places of the runs, as deep as they were judged."
    sentence = floor.sentence() if floor.total is None else f"{floor.sentence()} {counted}"
    return {
        "seen": floor.seen,
        "once": floor.once,
        "twice": floor.twice,
        "runs": floor.runs,
        "total": floor.total,
        "low": floor.low,
        "high": floor.high,
        "confidence": floor.confidence,
        "depth": max(depths.values()),
        "sentence": sentence,
    }


def recall_cutoffs(evaluation: Evaluation) -> list[int]:
    return [k for name, k in evaluation.keys if name == "recall" and k is not None]


def _from_audit(basis: Basis) -> Estimates:
    if basis.pool is None:
        return _nothing("no pool", _NO_POOL)
    pool, confidence = basis.pool, basis.evaluation.confidence
    audit = pool.audit
    if not pool.has_audit:
        complete = not audit.unlabelled and not audit.undefined and not audit.unanswered
        would = None if complete else proposal(pool.budgets(), confidence=confidence)
        sentence = _no_audit_sentence(pool, would, confidence)
        return {**_nothing("no audit", sentence), "pool": pool.described, "would": would}
    counted: Estimates = {
        **_nothing("waiting", "" if pool.estimates else _waiting_sentence(pool)),
        "pool": pool.described,
        "frame": pool.frame,
        "queries": _queries(audit),
        "sample": _counts(audit),
    }
    if not pool.estimates:
        return counted
    relevant = relevant_estimate(audit, confidence=confidence)
    # A frame that ends above K holds hardly a document that the first K of a run missed.
    cutoffs = [k for k in recall_cutoffs(basis.evaluation) if pool.reach is None or k <= pool.reach]
    return {
        **counted,
        "status": "estimated",
        "relevant": relevant,
        "missing": missing_by_query(audit, confidence=confidence),
        "runs": recall_estimates(
            audit, basis.places, cutoffs, confidence=confidence, design_of=basis.design_of
        ),
        "sentence": _estimated_sentence(pool, relevant),
    }


def _nothing(status: str, sentence: str) -> Estimates:
    return {
        "pool": None,
        "queries": None,
        "sample": None,
        "relevant": None,
        "would": None,
        "missing": [],
        "runs": {},
        "status": status,
        "sentence": sentence,
        "floor": None,
        "leave_one_out": {},
    }


def _queries(audit: AuditSample) -> EstimatedQueries:
    waiting = audit.undefined
    return {
        "pool": len(audit.defined) + len(waiting),
        "estimated": len(audit.defined),
        "not_estimated": len(waiting),
        "not_estimated_ids": list(waiting[:MOST_IDS]),
    }


def _counts(audit: AuditSample) -> SampleCounts:
    """Pairs of estimated queries, `awaited` ones without a label, and audit documents that still wait."""
    sums = audit.strata.filter("defined").sum()
    return {
        "pairs": int(sums["pairs"].item()),
        "certain": int(sums["certain"].item()),
        "remainder": int(sums["remainder"].item()),
        "sampled": int(sums["sampled"].item()),
        "relevant": int(sums["relevant"].item()),
        "unused": int(sums["unused"].item()) + audit.left_out,
        "cannot_judge": audit.unanswered,
        "awaited": audit.awaited,
        "waiting": int(audit.strata["waiting"].sum()),
    }


_COMPLETE = "The labels are complete: no relevant document is missing, and there is nothing to estimate."
_TOO_LARGE = "This is too large for estimates and comparisons. Take fewer runs or a smaller deepest K."
_NO_POOL = (
    "No pool was built here, so nobody knows how the labelled documents were chosen, and nothing is "
    "estimated. Build a pool with an audit share, for instance 10 %, and judge it."
)


def _waiting_sentence(pool: PoolDesign) -> str:
    strata = pool.audit.strata
    waiting = int(strata["waiting"].sum()) + int(strata["awaited"].sum())
    return (
        f"No query of pool “{pool.described['name']}” can be estimated yet: "
        f"{counted(waiting, 'chosen document')} still {plural(waiting, 'waits', 'wait')} for a label in this "
        "release."
    )


def _no_audit_sentence(pool: PoolDesign, would: AuditProposal | None, confidence: float) -> str:
    begin = f"Pool “{pool.described['name']}” has no audit, so nothing is estimated"
    if would is None:
        pairs = int(pool.audit.strata["pairs"].sum())
        queries = pool.audit.strata["query_id"].n_unique()
        price = f"{counted(queries * REST_PER_QUERY, 'judgment')}, {REST_PER_QUERY} a query"
        return (
            f"{begin}: {plural(pairs, 'its only pair has', f'all of its {pairs:,} pairs have')} a "
            "label, and what lies outside it nobody knows. An "
            f"audit that reaches deeper would estimate it for about {price}."
        )
    if not would["documents"]:
        return f"{begin}, and its labels are not complete."
    return (
        f"{begin}, and what its unjudged documents hold is unknown, not zero. An audit share of "
        f"{100 * would['audit_share']:.0f} % would spend {counted(would['documents'], 'judgment')} on "
        "documents drawn at "
        f"random from the {would['remainder']:,} left: with none of them relevant, at most "
        f"{would['at_most']:,} relevant documents would be missing ({share_in_words(confidence)}); each "
        f"relevant one would stand for about {would['each']:.0f}."
    )


def _estimated_sentence(pool: PoolDesign, relevant: TotalEstimate) -> str:
    audit, count = pool.audit, len(pool.audit.defined)
    place = f"in pool “{pool.described['name']}”, of {counted(count, 'query')}"
    if pool.frame is not None and int(audit.strata["hidden"].sum()):
        # The pool itself holds far fewer documents than its audit speaks for.
        pairs = int(audit.strata.filter("defined")["pairs"].sum())
        size = f"{pairs:,} documents of {counted(count, 'query')}"
        place = f"in what the audit of pool “{pool.described['name']}” was drawn from ({size})"
    span = f"{relevant['low']:,.0f} to {relevant['high']:,.0f}"
    if audit.awaited:
        text = f"{span} relevant documents {place}. {_awaited_sentence(audit.awaited)}"
        text = f"{text} {relevant['seen']:,} were seen"
    else:
        text = f"About {relevant['value']:,.0f} relevant documents {place} ({span}); "
        text = f"{text}{relevant['seen']:,} were seen"
    unseen = relevant["at_most_unseen"]
    if unseen is None:
        return f"{text}."
    sure = share_in_words(relevant["confidence"])
    return f"{text}, and at most {unseen:,} were not ({sure}, exact, one-sided)."


def _awaited_sentence(count: int) -> str:
    wait, may = plural(count, "waits", "wait"), plural(count, "may", "may all")
    return (
        f"{counted(count, 'document')} that the order reached {wait} for a label "
        f"and {may} be relevant or not, so a span is all that can be said until then."
    )


def leave_out(evaluation: Evaluation, depths: Mapping[str, int] | None) -> LeaveOneOut:
    """By K, the loss of each run and family had it not helped to find; nothing without a known depth."""
    if len(evaluation.runs) < 2 or depths is None:
        return {}

    families = _families(evaluation, max(depths.values()))
    alike = {name: group[0] for group in families for name in group}
    grouped = any(len(group) > 1 for group in families)
    further = further_loss(evaluation, depths, alike)
    by_cutoff: dict[str, LeftOutAt] = {}
    for k in (int(k) for k in evaluation.cutoffs):
        table = leave_one_out(evaluation, k, depth=depths)
        by_family = leave_one_out(evaluation, k, depth=depths, families=alike) if grouped else None
        rows = table if by_family is None else by_family
        by_cutoff[str(k)] = {
            "runs": _rows(table),
            "families": None if by_family is None else _rows(by_family),
            "sentence": new_retriever_line(rows, k, *further),
        }
    alike_runs = [group for group in families if len(group) > 1]
    return {"depth": max(depths.values()), "families": alike_runs, "at": by_cutoff}


def _rows(table: pd.DataFrame) -> list[LeftOutRun]:
    return cast("list[LeftOutRun]", table.astype(object).where(table.notna(), None).to_dict("records"))


def _families(evaluation: Evaluation, depth: int) -> list[list[str]]:
    """Runs that are nearly the same list; each its own where comparing the lists would take too long."""
    if len(evaluation.runs) * evaluation.labels.query_count > MOST_COMPARED_LISTS:
        return [[name] for name in evaluation.runs]
    frames = {name: run_frame(name, evaluation.sources[name]) for name in evaluation.runs}
    return families(frames, depth=depth)
