"""From a pool and its labels to the sample that estimates rest on: what is certain, drawn, or waits.

A query's pool falls in three. *Certain* (π = 1) are the documents whose label was known before the draw, and
those that the greedy part reached and somebody labelled. What it reached and nobody has labelled yet is
*awaited*: the order chose it, so the audit does not speak for it, and any part of it may be relevant. All
others are the *remainder*: of these the labelled beginning of the audit order is a simple random sample, so
that π is (documents in that beginning) / (documents in the remainder). A label that another way brought to
the remainder is counted and not used, since it was not drawn. A remainder of which nothing was drawn is
undefined, never 0, and its query stays out of the sample; so does a query of a pool without an audit that
still awaits labels.

Where the audit's frame reaches deeper than the pool (`ranking.frame`), documents of the remainder that
were not drawn have no row: `frame_size` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from evaluation.estimates.totals import STRATUM, Remainder
from evaluation.measures.hajek import Design
from evaluation.scoring.results import Evaluation
from evaluation.scoring.wording import usual_cutoff
from pooling.heavy import pl
from pooling.ranking.sample import audit_order

PAIR = ["query_id", "document_id"]
#: The columns of a sample that mark pairs without an answer.
NO_ANSWER = ("cannot_judge", "awaited")
POOL = (*PAIR, "draw", "audit_rank", "in_audit", "inclusion_probability", "known", "cannot_judge")
#: What a pool whose frame is deeper has besides.
FRAME = {"frame_size": int, "is_beyond": bool}


@dataclass(frozen=True)
class AuditSample:
    """Labels of a pool, as a sample of all its documents.

    sample: query_id, document_id, draw, relevant, inclusion_probability, cannot_judge, awaited, for
    `evaluation.estimates.totals`; a pair that nobody could judge or that is awaited counts as not relevant
    here, and one from outside the pool is of draw 0. unsampled: query_id, document_id of the remainders'
    other documents. strata: one row per query and draw: query_id, draw, pairs, certain, awaited, unjudgeable
    (certain ones that nobody could judge), remainder, sampled, relevant (of the sampled), cannot_judge (of
    the sampled), waiting (audit documents of the remainder without a label), unused (labels that were not
    drawn), hidden (documents of the frame without a row), simple (a simple random sample), defined. Only
    queries whose strata are all defined are in `sample` and `unsampled`. beyond: query_id, document_id of the
    rows beyond the depth of the pool; hidden: query_id, documents: what the frames of the estimated queries
    hold without a row; left_out: labels of such documents that the draw did not bring.
    """

    sample: pl.DataFrame
    unsampled: pl.DataFrame
    strata: pl.DataFrame
    beyond: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String)))
    hidden: pl.DataFrame = field(
        default_factory=lambda: pl.DataFrame(schema={"query_id": pl.String, "documents": pl.Int64})
    )
    left_out: int = 0

    def weighed(self, design_of: Callable[[Sequence[str]], Design]) -> AuditSample:
        """Of the queries that were drawn from a log alone, with a column `weight` in `sample`: how much each
        counts among those that are defined."""
        ids = self.defined
        weights = pl.DataFrame(
            {"query_id": ids, "weight": design_of(ids).weights},
            schema={"query_id": pl.String, "weight": pl.Float64},
        )
        inside = self.without(weights.filter(pl.col("weight") == 0)["query_id"].to_list())
        sample = inside.sample.join(weights, on="query_id", how="left", maintain_order="left")
        return replace(inside, sample=sample)

    def without(self, query_ids: Collection[str]) -> AuditSample:
        """Of all other queries."""
        if not query_ids:
            return self
        outside = pl.Series(sorted(query_ids), dtype=pl.String).implode()
        names = ("sample", "unsampled", "strata", "beyond", "hidden")
        frames = {name: getattr(self, name).filter(~pl.col("query_id").is_in(outside)) for name in names}
        return replace(self, **frames)

    @property
    def unlabelled(self) -> int:
        """The documents of the remainders that were not drawn, with a row or without."""
        return self.unsampled.height + int(self.hidden["documents"].sum())

    @property
    def defined(self) -> list[str]:
        """The queries that can be estimated, bytewise."""
        return self._queries(defined=True)

    @property
    def undefined(self) -> list[str]:
        """The queries that cannot: nothing of a remainder was drawn and labelled."""
        return self._queries(defined=False)

    @property
    def unanswered(self) -> int:
        """The pairs of the sample that nobody could judge."""
        return int(self.sample["cannot_judge"].sum())

    @property
    def awaited(self) -> int:
        """The pairs of the sample that the greedy part reached and nobody has labelled yet."""
        return int(self.sample["awaited"].sum())

    def as_if(self, *, relevant: bool) -> pl.DataFrame:
        """The sample with all that has no answer as relevant, or as not relevant."""
        return _as_if(self.sample, NO_ANSWER, pl.lit(relevant))

    def extremes(self, *kinds: pl.DataFrame) -> list[pl.DataFrame]:
        """The sample under the extremes of what has no answer, as `extremes_of`."""
        return extremes_of(self.sample, NO_ANSWER, kinds)

    def remainders(self, *, relevant: bool = True) -> list[Remainder]:
        """One per estimated query and draw that has a remainder, in the order of `strata`; what nobody could
        judge counts as `relevant`. Empty where documents were drawn with unequal probabilities."""
        rows = self.strata.filter(pl.col("defined") & (pl.col("remainder") > 0))
        relevant_count = pl.col("relevant") + (pl.col("cannot_judge") if relevant else 0)
        table = rows.select("remainder", "sampled", relevant_count.alias("found")).rows()
        return [Remainder(*row) for row in table]

    @property
    def simple(self) -> bool:
        """Every remainder was sampled simply, as exact bounds need it."""
        return bool(self.strata.filter("defined")["simple"].all())

    def _queries(self, *, defined: bool) -> list[str]:
        rows = self.strata.filter(pl.col("defined") == defined)
        return rows["query_id"].unique().sort().to_list()


def extremes_of(
    sample: pl.DataFrame, no_answer: Sequence[str], kinds: Sequence[pl.DataFrame]
) -> list[pl.DataFrame]:
    """A sample under the extremes of what has no answer (by the columns that mark such pairs): none of it is
    relevant; all; and, for each kind of pairs (query_id, document_id), those alone and all but those. The
    sample as it is where everything has an answer.

    A ratio is not least or largest with all or nothing: recall of a run is largest if just what it retrieved
    is relevant.
    """
    if not sample.select(pl.any_horizontal(no_answer).any()).item():
        return [sample]
    samples = [_as_if(sample, no_answer, pl.lit(relevant)) for relevant in (False, True)]
    for kind in kinds:
        marks = kind.select(PAIR).unique().with_columns(is_kind=pl.lit(True))
        marked = sample.join(marks, on=PAIR, how="left", maintain_order="left")
        of_kind = marked["is_kind"].fill_null(False)
        samples += [_as_if(sample, no_answer, pl.lit(one)) for one in (of_kind, ~of_kind)]
    return samples


def _as_if(sample: pl.DataFrame, no_answer: Sequence[str], relevant: pl.Expr) -> pl.DataFrame:
    replaced = pl.when(pl.any_horizontal(no_answer)).then(relevant).otherwise("relevant")
    return sample.with_columns(replaced.alias("relevant"))


def audit_sample(pool: pl.DataFrame, labels: pl.DataFrame, *, left_out: int = 0) -> AuditSample:
    """The sample that a pool's labels are.

    pool: one row per pooled pair with POOL: `draw` numbers the versions of the pool, `audit_rank` is the
    place in the stored random order of the query's draw, `inclusion_probability` the one of the choice (null:
    neither greedy part nor audit), `known` says that the pair had a label before the draw, `cannot_judge`
    that it ended without one. labels: query_id, document_id, relevant (Boolean), judged pairs alone; those
    outside the pool are certain, because no audit could have chosen them. left_out: labels of documents
    without a row that are, or may be, in the frame.
    """
    absent = [name for name in POOL if name not in pool.columns]
    if absent:
        raise ValueError(f"The pool has no column {', '.join(absent)}; it needs {', '.join(POOL)}.")
    for name, kind in FRAME.items():
        if name not in pool.columns:
            pool = pool.with_columns(pl.lit(None).cast(kind).alias(name))
    rows = _split(pool.select(*POOL, *FRAME).join(labels.select(*PAIR, "relevant"), on=PAIR, how="left"))
    strata = _strata(rows)
    defined = strata.filter("defined").select("query_id").unique()
    inside = rows.join(defined, on="query_id", how="semi")
    outside = labels.join(pool, on=PAIR, how="anti").join(defined, on="query_id", how="semi")
    is_sampled = ~pl.col("rest") | pl.col("drawn")
    parts = [
        inside.filter(is_sampled),
        outside.select(
            *PAIR,
            "relevant",
            draw=pl.lit(0, dtype=pl.Int64),
            cannot_judge=pl.lit(False),
            awaited=pl.lit(False),
            probability=pl.lit(1.0),
        ),
    ]
    sample = pl.concat([_sampled(part) for part in parts]).sort(PAIR)
    unsampled = inside.filter(~is_sampled).select(PAIR).sort(PAIR)
    beyond = inside.filter(pl.col("is_beyond").fill_null(False)).select(PAIR)
    return AuditSample(sample, unsampled, strata, beyond, _hidden(strata), left_out)


def _hidden(strata: pl.DataFrame) -> pl.DataFrame:
    hiding = strata.filter(pl.col("defined") & (pl.col("hidden") > 0))
    return hiding.group_by("query_id").agg(documents=pl.col("hidden").sum().cast(pl.Int64)).sort("query_id")


def _split(rows: pl.DataFrame) -> pl.DataFrame:
    """Each pair as `certain`, `awaited` or of the `rest`, with `drawn`, `simple` and the `probability`."""
    chosen = pl.col("inclusion_probability")
    answered = pl.col("relevant").is_not_null() | pl.col("cannot_judge")
    reached = (chosen == 1).fill_null(False)
    rows = rows.with_columns(
        answered=answered,
        certain=answered & (pl.col("known") | reached),
        awaited=~answered & reached,
        alone=((chosen < 1) & ~pl.col("in_audit")).fill_null(False),
    ).sort(*STRATUM, "audit_rank")
    rows = rows.with_columns(rest=~(pl.col("certain") | pl.col("awaited")), size=_size().over(STRATUM))
    hidden = pl.col("size") - pl.len().over(STRATUM)
    rest = rows.with_columns(remainder=pl.col("rest").sum().over(STRATUM) + hidden).filter("rest")
    # What was drawn in audit order counts as far as it is answered without a gap.
    begun = (pl.col("answered") & pl.col("in_audit")).cast(pl.Int8).cum_prod() == 1
    due = chosen.is_not_null() & ~pl.col("answered")
    rest = rest.with_columns(
        simple=~pl.col("alone").any().over(STRATUM),
        begun=begun.over(STRATUM),
        complete=~due.any().over(STRATUM),
    ).with_columns(drawn=pl.when("simple").then("begun").otherwise(pl.col("alone") & pl.col("complete")))
    share = pl.col("drawn").sum().over(STRATUM) / pl.col("remainder")
    rest = rest.with_columns(probability=pl.when("simple").then(share).otherwise(chosen))
    kept = [*rows.columns, "simple", "drawn", "probability"]
    others = rows.filter(~pl.col("rest")).with_columns(
        simple=pl.lit(True), drawn=pl.lit(False), probability=pl.lit(1.0)
    )
    return pl.concat([others.select(kept), rest.select(kept)])


def _size() -> pl.Expr:
    """The documents of a stratum: those of its frame, or its rows where there is no deeper frame."""
    return pl.coalesce(pl.col("frame_size").max(), pl.len().cast(pl.Int64))


def _strata(rows: pl.DataFrame) -> pl.DataFrame:
    rest, in_sample = pl.col("rest"), pl.col("drawn")
    labelled = pl.col("relevant").is_not_null()
    counted = rows.group_by(STRATUM).agg(
        pairs=pl.col("size").first(),
        hidden=pl.col("size").first() - pl.len(),
        certain=pl.col("certain").sum(),
        awaited=pl.col("awaited").sum(),
        unjudgeable=(pl.col("certain") & ~labelled).sum(),
        remainder=rest.sum() + pl.col("size").first() - pl.len(),
        sampled=in_sample.sum(),
        relevant=(in_sample & pl.col("relevant").fill_null(False)).sum(),
        cannot_judge=(in_sample & ~labelled).sum(),
        waiting=(rest & (pl.col("in_audit") | pl.col("alone")) & ~pl.col("answered")).sum(),
        unused=(rest & ~in_sample & labelled).sum(),
        simple=pl.col("simple").all(),
        audit=pl.col("in_audit").any(),
    )
    has_audit = pl.col("audit").any().over("draw")
    is_defined = (pl.col("remainder") == 0) & ((pl.col("awaited") == 0) | has_audit)
    counted = counted.with_columns(known=is_defined | (pl.col("sampled") > 0)).drop("audit")
    return counted.with_columns(defined=pl.col("known").all().over("query_id")).drop("known").sort(STRATUM)


def _sampled(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        *PAIR,
        pl.col("draw").cast(pl.Int64),
        pl.col("relevant").fill_null(False),
        pl.col("probability").alias("inclusion_probability"),
        "cannot_judge",
        "awaited",
    )


def audit_ranks(
    query_ids: Sequence[str], document_ids: pl.Series, starts: Sequence[int], seed: int
) -> list[int]:
    """Places in queries' audit orders; `starts`: the first row of each, empty for a pool without entries."""
    places = [0] * len(document_ids)
    ends = [*starts, len(document_ids)][1:]
    for query_id, start, end in zip(query_ids, starts, ends, strict=True):
        for rank, row in enumerate(audit_order(query_id, document_ids[start:end], seed).tolist()):
            places[start + row] = rank
    return places


class Standing(NamedTuple):
    """By what pools with an audit are compared, the first that differs deciding.

    is_deep: whether its frame covers the usual K: one that is shallower says nothing there, however far it is
    judged. answered: of how many runs and queries measured the draw is answered, as a share; queries: of how
    many queries. size: documents in its frames.
    """

    is_deep: bool
    answered: float
    queries: float
    size: int


def standing(audit: AuditSample, evaluation: Evaluation, reach: int | None, shared: float) -> Standing:
    """shared: the share of the runs measured that the pool has; reach: None where nobody knows it."""
    cutoffs = [k for name, k in evaluation.keys if name == "recall" and k is not None]
    queries = answered_share(audit, evaluation.labels.query_ids)
    is_deep = reach is None or not cutoffs or reach >= usual_cutoff(cutoffs)
    return Standing(is_deep, queries * shared, queries, int(audit.strata["pairs"].sum()))


def answered_share(audit: AuditSample, query_ids: pl.Series) -> float:
    """The mean over queries of the share of the draw that is answered; 0 for a query that the pool does not
    hold or cannot estimate, 1 for one of which nothing had to be drawn."""
    columns = pl.col("sampled", "waiting").sum(), pl.col("defined").all()
    counted = audit.strata.group_by("query_id").agg(columns)
    draw_size = pl.col("sampled") + pl.col("waiting")
    share = pl.when(draw_size > 0).then(pl.col("sampled") / draw_size).otherwise(1.0)
    shares = counted.filter("defined").select("query_id", share=share)
    measured = pl.DataFrame({"query_id": query_ids})
    mean = measured.join(shares, on="query_id", how="left")["share"].fill_null(0.0).mean()
    return float(mean) if isinstance(mean, float) else 0.0
