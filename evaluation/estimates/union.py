"""All pools of a release together: the draw of one carries the estimate, and what the others chose for
certain is known.

A document that another pool chose for certain (π = 1 there: its order came to it) has a label for a reason
that has nothing to do with the draw of the pool that carries. So it leaves the population of that draw and
counts as itself, and the draw's other documents are a simple random sample of what is left. That holds for a
choice as a whole: of one that is half labelled, the documents that were drawn here have their label already,
so that taking what is labelled would take those out. A choice counts once all of it is answered.

A choice that an order made which began with labels of this very draw does not count either. What was drawn
led it, and counts as reached there because it was drawn: without it, what is left of the draw would speak for
documents among which it no longer is. In 200 simulated campaigns the estimated number of relevant documents
was 27 % too small so, and 20 % too large where only what the order handed out counted; without it, 1 %.

What another pool *drew* does not count in the frame of the one that carries, and neither does a label that
came in any other way after the draw. To weigh several draws by their estimated variances would use more, and
be wrong: a draw that finds no relevant document has variance 0 and all the weight. Of two draws of ten from
a remainder of 300 with 6 relevant documents, that estimates 1.1 (`tests/evaluation/estimates/test_union.py`
has such a case, and counts all draws of a small one); the draw that carries alone, 6.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from evaluation.estimates.sample import FRAME, PAIR, POOL
from pooling.heavy import pl

#: How rarely a draw may be left without a document outside what others chose, where that is used.
RARELY = Fraction(1, 100)


def answered_in_full(chosen: pl.DataFrame, labels: pl.DataFrame, unanswered: pl.DataFrame) -> pl.DataFrame:
    """The certain pairs of those choices of which every pair has an answer.

    chosen: query_id, document_id, choice (which one). labels, unanswered: query_id, document_id of the pairs
    with a label, and of those that nobody could judge.
    """
    answers = pl.concat([labels.select(PAIR), unanswered.select(PAIR)])
    open_ones = chosen.join(answers, on=PAIR, how="anti")["choice"].unique()
    return chosen.filter(~pl.col("choice").is_in(open_ones.implode()))


def not_led_by(design: pl.DataFrame, chosen: pl.DataFrame) -> pl.DataFrame:
    """The choices (query_id, document_id, is_given, choice) without those that began with a label which this
    design's draw brought."""
    is_certain = (pl.col("inclusion_probability") == 1).fill_null(False)
    draws = design.filter(pl.col("in_audit") & ~is_certain & ~pl.col("known"))
    led = chosen.filter("is_given").join(draws, on=PAIR, how="semi")["choice"].unique()
    return chosen.filter(~pl.col("choice").is_in(led.implode()))


def with_others(
    design: pl.DataFrame, labels: pl.DataFrame, certain: pl.DataFrame, inside: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The design of a pool and the labels, as `evaluation.estimates.sample.audit_sample` wants them, with
    what other pools know.

    certain: query_id, document_id that others chose. inside: query_id, document_id, is_inside of labelled
    pairs without a row in a frame that is deeper than its rows: whether the frame has them, null where nobody
    knows; a pair that is not named is as one of these. What is certain gets a row there; of the others, a
    label within the frame says nothing that the draw does not, and one that may be is left out like it.
    """
    marks = certain.select(PAIR).unique().with_columns(is_certain=pl.lit(True))
    strangers = (
        labels.join(design, on=PAIR, how="anti")
        .join(_frames(design), on="query_id", how="inner")
        .join(inside, on=PAIR, how="left")
    )
    added = strangers.filter("is_inside").select(
        *PAIR,
        "draw",
        audit_rank=pl.lit(0, dtype=pl.Int64),
        in_audit=pl.lit(False),
        inclusion_probability=pl.lit(None, dtype=pl.Float64),
        known=pl.lit(False),
        cannot_judge=pl.lit(False),
        frame_size="frame_size",
        is_beyond=pl.lit(True),
    )
    rows = [design.select(*POOL, *FRAME).with_columns(is_added=False), added.with_columns(is_added=True)]
    marked = pl.concat(rows).join(marks, on=PAIR, how="left", maintain_order="left")
    rows_with_labels = _with_labels(marked.with_columns(pl.col("is_certain").fill_null(False)), labels)
    # Of the documents of the frame without a row, those that count get one; the others stay hidden.
    kept = rows_with_labels.filter(pl.col("known") | ~pl.col("is_added")).select(*POOL, *FRAME)
    outside = strangers.filter(~pl.col("is_inside").fill_null(True))
    gone = strangers.select(PAIR).join(
        pl.concat([outside.select(PAIR), kept.select(PAIR)]), on=PAIR, how="anti"
    )
    return kept, labels.join(gone, on=PAIR, how="anti")


def _frames(design: pl.DataFrame) -> pl.DataFrame:
    """query_id, draw, frame_size of the queries whose frame is deeper than their rows."""
    deep = design.filter(pl.col("frame_size").is_not_null())
    return deep.group_by("query_id").agg(pl.col("draw", "frame_size").max())


def _with_labels(rows: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """With `known` where another pool's choice counts, unless by its size it would take the whole draw."""
    own, is_reached = ~pl.col("is_added"), (pl.col("inclusion_probability") == 1).fill_null(False)
    rest = ~pl.col("known") & ~is_reached
    size = pl.coalesce(pl.col("frame_size").max(), own.sum().cast(pl.Int64))
    labelled = labels.select(*PAIR, is_labelled=pl.lit(True))
    counted = rows.join(labelled, on=PAIR, how="left", maintain_order="left").with_columns(
        counts=pl.col("is_certain") & (pl.col("is_labelled").fill_null(False) | pl.col("cannot_judge"))
    )
    sizes = counted.group_by("query_id", "draw").agg(
        rest=size - (own & ~rest).sum(),
        drawn=(rest & pl.col("in_audit")).sum(),
        taken=(rest & pl.col("counts")).sum(),
    )
    used = [(*row[:2], _is_used(*row[2:])) for row in sizes.iter_rows()]
    schema = {"query_id": pl.String, "draw": pl.Int64, "is_used": pl.Boolean}
    counted = counted.join(
        pl.DataFrame(used, schema=schema, orient="row"),
        on=["query_id", "draw"],
        how="left",
        maintain_order="left",
    )
    return counted.with_columns(known=pl.col("known") | (pl.col("counts") & pl.col("is_used")))


def _is_used(rest: int, sampled: int, taken: int) -> bool:
    """A draw of `sampled` from `rest` documents, of which others know `taken`, has one outside them almost
    surely, or needs none."""
    if sampled == 0 or taken >= rest:
        return True
    return comb(taken, sampled) <= RARELY * comb(rest, sampled)
