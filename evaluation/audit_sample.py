"""From a pool and its labels to the sample that estimates rest on: what is certain, drawn, or waits.

A query's pool falls in two. *Certain* (π = 1) are the documents whose label was known before the draw and
those the greedy part reached. All others are the *remainder*: of these the labelled beginning of the audit
order is a simple random sample, so that π is (documents in that beginning) / (documents in the remainder). A
label that another way brought to the remainder is counted and not used, since it was not drawn. A remainder
of which nothing was drawn is undefined, never 0, and its query stays out of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from evaluation.estimates import STRATUM, Remainder

PAIR = ["query_id", "document_id"]
POOL = (*PAIR, "draw", "audit_rank", "in_audit", "inclusion_probability", "known", "cannot_judge")


@dataclass(frozen=True)
class AuditSample:
    """What the labels of a pool say of all its documents.

    sample: query_id, document_id, draw, relevant, inclusion_probability, cannot_judge, for
    `evaluation.estimates`; a pair that nobody could judge counts as not relevant here, and one from outside
    the pool is of draw 0. unsampled: query_id, document_id of the
    remainders' other documents. strata: one row per query and draw: query_id, draw, pairs, certain,
    remainder, sampled, relevant (of the sampled), cannot_judge (of the sampled), waiting (audit documents
    without a label), unused (labels that were not drawn), simple (a simple random sample), defined. Only
    queries whose strata are all defined are in `sample` and `unsampled`.
    """

    sample: pl.DataFrame
    unsampled: pl.DataFrame
    strata: pl.DataFrame

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

    def as_if(self, *, relevant: bool) -> pl.DataFrame:
        """The sample with all that nobody could judge as relevant, or as not relevant."""
        return self.sample.with_columns(
            pl.when("cannot_judge").then(relevant).otherwise("relevant").alias("relevant")
        )

    def remainders(self, *, relevant: bool = True) -> list[Remainder]:
        """One per estimated query and draw that has a remainder, in the order of `strata`; what nobody could
        judge counts as `relevant`. Empty where documents were drawn with unequal probabilities."""
        rows = self.strata.filter(pl.col("defined") & (pl.col("remainder") > 0))
        found = pl.col("relevant") + (pl.col("cannot_judge") if relevant else 0)
        table = rows.select("remainder", "sampled", found.alias("found")).rows()
        return [Remainder(*row) for row in table]

    @property
    def simple(self) -> bool:
        """Whether every remainder was sampled simply, as exact bounds need it."""
        return bool(self.strata.filter("defined")["simple"].all())

    def _queries(self, *, defined: bool) -> list[str]:
        rows = self.strata.filter(pl.col("defined") == defined)
        return rows["query_id"].unique().sort().to_list()


def audit_sample(pool: pl.DataFrame, labels: pl.DataFrame) -> AuditSample:
    """The sample that a pool's labels are.

    pool: one row per pooled pair with POOL: `draw` numbers the versions of the pool, `audit_rank` is the
    place in the stored random order of the query's draw, `inclusion_probability` the one of the choice (null:
    neither greedy part nor audit), `known` says that the pair had a label before the draw, `cannot_judge`
    that it ended without one. labels: query_id, document_id, relevant (Boolean), judged pairs alone; those
    outside the pool are certain, because no audit could have chosen them.
    """
    absent = [name for name in POOL if name not in pool.columns]
    if absent:
        raise ValueError(f"The pool has no column {', '.join(absent)}; it needs {', '.join(POOL)}.")
    rows = _split(pool.select(POOL).join(labels.select(*PAIR, "relevant"), on=PAIR, how="left"))
    strata = _strata(rows)
    defined = strata.filter("defined").select("query_id").unique()
    held = rows.join(defined, on="query_id", how="semi")
    outside = labels.join(pool, on=PAIR, how="anti").join(defined, on="query_id", how="semi")
    parts = [
        held.filter(pl.col("certain")).with_columns(probability=pl.lit(1.0)),
        held.filter(pl.col("drawn")),
        outside.select(
            *PAIR,
            "relevant",
            draw=pl.lit(0, dtype=pl.Int64),
            cannot_judge=pl.lit(False),
            probability=pl.lit(1.0),
        ),
    ]
    sample = pl.concat([_sampled(part) for part in parts]).sort(PAIR)
    unsampled = held.filter(~pl.col("certain") & ~pl.col("drawn")).select(PAIR).sort(PAIR)
    return AuditSample(sample, unsampled, strata)


def _split(rows: pl.DataFrame) -> pl.DataFrame:
    """Each pair with `certain`, `drawn`, `simple` and the `probability` of what was drawn."""
    chosen = pl.col("inclusion_probability")
    answered = pl.col("relevant").is_not_null() | pl.col("cannot_judge")
    rows = rows.with_columns(
        answered=answered,
        certain=answered & (pl.col("known") | (chosen == 1).fill_null(False)),
        alone=((chosen < 1) & ~pl.col("in_audit")).fill_null(False),
    ).sort(*STRATUM, "audit_rank")
    rest = rows.filter(~pl.col("certain"))
    # What was drawn in audit order counts as far as it is answered without a gap.
    begun = (pl.col("answered") & pl.col("in_audit")).cast(pl.Int8).cum_prod() == 1
    due = chosen.is_not_null() & ~pl.col("answered")
    rest = rest.with_columns(
        simple=~pl.col("alone").any().over(STRATUM),
        begun=begun.over(STRATUM),
        complete=~due.any().over(STRATUM),
    ).with_columns(
        drawn=pl.when("simple").then("begun").otherwise(pl.col("alone") & pl.col("complete")),
    )
    share = pl.col("drawn").mean().over(STRATUM)
    rest = rest.with_columns(probability=pl.when("simple").then(share).otherwise(chosen))
    kept = [*rows.columns, "simple", "drawn", "probability"]
    certain = rows.filter("certain").with_columns(
        simple=pl.lit(True), drawn=pl.lit(False), probability=pl.lit(1.0)
    )
    return pl.concat([certain.select(kept), rest.select(kept)])


def _strata(rows: pl.DataFrame) -> pl.DataFrame:
    rest, drawn = ~pl.col("certain"), pl.col("drawn")
    labelled = pl.col("relevant").is_not_null()
    counted = rows.group_by(STRATUM).agg(
        pairs=pl.len(),
        certain=pl.col("certain").sum(),
        remainder=rest.sum(),
        sampled=drawn.sum(),
        relevant=(drawn & pl.col("relevant").fill_null(False)).sum(),
        cannot_judge=(drawn & ~labelled).sum(),
        waiting=(rest & (pl.col("in_audit") | pl.col("alone")) & ~pl.col("answered")).sum(),
        unused=(rest & ~drawn & labelled).sum(),
        simple=pl.col("simple").all(),
    )
    known = (pl.col("remainder") == 0) | (pl.col("sampled") > 0)
    return counted.with_columns(defined=known.all().over("query_id")).sort(STRATUM)


def _sampled(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        *PAIR,
        pl.col("draw").cast(pl.Int64),
        pl.col("relevant").fill_null(False),
        pl.col("probability").alias("inclusion_probability"),
        "cannot_judge",
    )


def audit_ranks(
    query_ids: Sequence[str], document_ids: pl.Series, starts: Sequence[int], seed: int
) -> list[int]:
    """The place of each document in its query's audit order; `starts` is where each query's rows begin."""
    from pooling.audit import audit_order

    places = [0] * len(document_ids)
    ends = [*starts[1:], len(document_ids)]
    for query_id, start, end in zip(query_ids, starts, ends, strict=True):
        for rank, row in enumerate(audit_order(query_id, document_ids[start:end], seed).tolist()):
            places[start + row] = rank
    return places
