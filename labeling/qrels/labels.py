"""The labels of a collection as they stand: people's consensus first, then what was imported."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from labeling.consensus.rules import Ballots, decide
from labeling.models import (
    GoldQuestion,
    ImportedLabel,
    Item,
    Judgment,
    QrelsRelease,
    Quarantine,
    QueryPlan,
    Queue,
    Verdict,
)
from labeling.models.words import SAME_PAIR, THERE
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, PoolEntry, Query
from pooling.storage.frames import PAIR_IDS, rows_frame


def has_unreleased(collection: Collection, newest: QrelsRelease | None) -> bool:
    """Any judgment or imported label is newer than the newest release."""
    return any(rows.exists() for rows in _unreleased(collection, newest))


def unreleased_count(collection: Collection, newest: QrelsRelease | None) -> int:
    """Number of judgments and imported labels newer than the newest release; all, where there is none."""
    return sum(rows.count() for rows in _unreleased(collection, newest))


def _unreleased(
    collection: Collection, newest: QrelsRelease | None
) -> tuple[QuerySet[Judgment], QuerySet[ImportedLabel]]:
    """Read from the indexes `judgments_by_time` and `imported_by_time` alone."""
    judged, imported = collection.judgments.counted(), collection.imported_labels.all()
    if newest is not None:
        judged = judged.filter(judged_at__gt=newest.released_at)
        imported = imported.filter(imported_at__gt=newest.released_at)
    return judged, imported


PAIR = ["query_id", "document_id"]


@dataclass(frozen=True)
class Labels:
    """The labels of a collection and what has none.

    `frame`: query_id, document_id (the collection's own ids), relevance (Int32; negative is "pooled, not
    judged"), source (`human`, `adjudicated`, `gold` or `imported`), sorted bytewise by query, then document.
    `undecided`: the pairs with verdicts but without a label, with their `outcome`. `counts` has whole numbers
    of pairs.
    """

    frame: pl.DataFrame
    undecided: pl.DataFrame
    counts: dict[str, int]


def has_labels(collection: Collection) -> bool:
    """Anybody has judged or imported anything; it may still be too little for a final label."""
    return (
        Judgment.objects.filter(collection=collection).exists()
        or ImportedLabel.objects.filter(collection=collection).exists()
    )


def state_of_labels(collection: Collection) -> str:
    """A text that changes whenever a label may have: what is worked out from labels is kept under it."""
    gold = GoldQuestion.objects.filter(collection=collection, active=True)
    paused = Quarantine.objects.filter(queue__collection=collection)
    counted: list[tuple[Any, dict[str, Any]]] = [
        (collection.judgment_events, {"last": Max("pk")}),
        (collection.imported_labels, {"last": Max("imported_at")}),
        (collection.label_files, {"last": Max("pk"), "withdrawn": Count("withdrawn_at")}),
        (collection.judgment_imports, {"last": Max("pk")}),
        (collection.queues, {"last": Max("pk")}),
        (_deleted(Query, collection), {"last": Max("deleted_at")}),
        (_deleted(Document, collection), {"last": Max("deleted_at")}),
        (gold, {"last": Max("pk")}),
        (paused, {"last": Max("pk"), "restored": Count("lifted_at")}),
    ]
    states = [rows.order_by().aggregate(count=Count("pk"), **more) for rows, more in counted]
    return sha256(repr([tuple(state.values()) for state in states]).encode()).hexdigest()


def _deleted(model: type[Query | Document], collection: Collection) -> QuerySet[Any]:
    return model.everything.filter(collection=collection, deleted_at__isnull=False)


def current_labels(collection: Collection, rule: str = "majority") -> Labels:
    """Reduce verdicts and imported labels to one label for each pair.

    1. Pairs with as many verdicts as their queue needs get the label of `rule`; the largest need counts
       where several queues hold a pair, and closed queues only where no other does.
    2. A gold question of a pool has its answer as label, whatever else is known of the pair; else a pair
       that was adjudicated has what the latest adjudicator said.
    3. Imported labels count for pairs without verdicts of our own, and for pairs that have too few only
       because some are set aside. Where both exist our own wins, and a contradiction is counted. Only final
       labels count: other pairs with too few verdicts, or with a tie, have none.

    Pairs of deleted queries and documents have none while these are deleted.
    """
    questions, verdicts = _questions(collection), _verdicts(collection)
    gold = questions.filter("is_label").select(*PAIR, "relevance")
    adjudicated = _adjudicated(collection).join(gold, on=PAIR, how="anti")
    settled = pl.concat([gold.select(PAIR), adjudicated.select(PAIR)])
    voting = verdicts.filter("counts").drop("counts").join(settled, on=PAIR, how="anti")
    decided = _decided(collection, rule, voting)
    ruled = adjudicated.drop_nulls()
    final = decided.filter(pl.col("outcome") == "final")
    labels = ImportedLabel.objects.filter(collection=collection, **THERE)
    imported = rows_frame(labels, "relevance", **PAIR_IDS).select(*PAIR, pl.col("relevance").cast(pl.Int32))
    reopened = _reopened(collection, decided.join(imported, on=PAIR, how="semi"))
    voted = decided.filter(pl.col("relevant") + pl.col("not_relevant") > 0).join(
        reopened, on=PAIR, how="anti"
    )
    frame = pl.concat(
        [
            final.select(*PAIR, pl.col("label").alias("relevance"), pl.lit("human").alias("source")),
            ruled.with_columns(source=pl.lit("adjudicated")),
            gold.with_columns(source=pl.lit("gold")),
            imported.join(pl.concat([voted.select(PAIR), settled]), on=PAIR, how="anti").with_columns(
                source=pl.lit("imported")
            ),
        ]
    ).sort(PAIR)
    given_up = adjudicated.filter(pl.col("relevance").is_null())
    undecided = pl.concat(
        [
            decided.filter(pl.col("outcome") != "final")
            .join(reopened, on=PAIR, how="anti")
            .select(*PAIR, "outcome"),
            given_up.select(*PAIR, outcome=pl.lit("cannot_judge")),
        ]
    )
    # Hidden gold questions that no pool has chosen need no label.
    others = pl.concat([part.select(PAIR) for part in (frame, undecided, questions)])
    uncounted = verdicts.select(PAIR).unique().join(others, on=PAIR, how="anti")
    undecided = pl.concat([undecided, uncounted.with_columns(outcome=pl.lit("not_counted"))]).sort(PAIR)
    ours = pl.concat([final.select(*PAIR, "label"), pl.concat([gold, ruled]).rename({"relevance": "label"})])
    return Labels(frame, undecided, _counts(collection, frame, undecided, ours.join(imported, on=PAIR)))


def judged_labels(collection: Collection, rule: str = "majority") -> pl.DataFrame:
    """`current_labels` without pooled pairs (query_id, document_id, relevance): what "has a label"."""
    return current_labels(collection, rule).frame.filter(pl.col("relevance") >= 0).drop("source")


def _decided(collection: Collection, rule: str, verdicts: pl.DataFrame) -> pl.DataFrame:
    try:
        return decide(Ballots.of(verdicts, _needs(collection), _gold_answers(collection)), rule)
    except ValueError as error:
        raise InputError(str(error), field="rule") from error


def _reopened(collection: Collection, decided: pl.DataFrame) -> pl.DataFrame:
    """The pairs of `decided` that have too few verdicts, and others that are set aside."""
    few = decided.filter(pl.col("outcome") == "not_final").select(PAIR)
    if few.is_empty():
        return few
    set_aside = Judgment.objects.filter(collection=collection, quarantine__isnull=False, **THERE).order_by()
    return few.join(rows_frame(set_aside, **PAIR_IDS), on=PAIR, how="semi")


def _verdicts(collection: Collection) -> pl.DataFrame:
    judged = Judgment.objects.filter(collection=collection, **THERE).order_by()
    facts = {**PAIR_IDS, "annotator": "annotator__username"}
    frame = rows_frame(judged, "verdict", "is_gold", "quarantine", **facts)
    counts = ~pl.col("is_gold") & pl.col("quarantine").is_null()
    return frame.select(*PAIR, "annotator", "verdict", counts=counts)


def _gold_answers(collection: Collection) -> pl.DataFrame:
    """Verdicts on gold questions in use, by which rules weigh people; relevant and answer are bool."""
    judgments = Judgment.objects.answers_to_hidden_gold().filter(collection=collection, **THERE)
    judgments = judgments.exclude(verdict=Verdict.CANNOT_JUDGE)
    frame = rows_frame(
        judgments.order_by(),
        "verdict",
        **PAIR_IDS,
        annotator="annotator__username",
        answer="event__gold__answer",
    )
    relevant = Verdict.RELEVANT.value
    return frame.select(
        *PAIR, "annotator", relevant=pl.col("verdict") == relevant, answer=pl.col("answer") == relevant
    )


def _adjudicated(collection: Collection) -> pl.DataFrame:
    """The last adjudication of each pair; relevance is null where they could not judge either."""
    judgments = Judgment.objects.counted().filter(collection=collection, is_adjudication=True, **THERE)
    frame = rows_frame(judgments.order_by("event"), "verdict", **PAIR_IDS)
    latest = frame.unique(PAIR, keep="last", maintain_order=True)
    relevances = {Verdict.RELEVANT.value: 1, Verdict.NOT_RELEVANT.value: 0}
    relevance = pl.col("verdict").replace_strict(relevances, default=None, return_dtype=pl.Int32)
    return latest.select(*PAIR, relevance.alias("relevance"))


def _needs(collection: Collection) -> pl.DataFrame:
    judged = Judgment.objects.filter(collection=collection).values("query")
    items = Item.objects.filter(queue__collection=collection, query__in=judged).order_by()
    rows = items.values(*PAIR_IDS.values()).annotate(
        need=Coalesce(Max("needed", filter=~Q(queue__state=Queue.State.CLOSED)), Max("needed"))
    )
    return rows_frame(rows, **PAIR_IDS, needed="need")


def _questions(collection: Collection) -> pl.DataFrame:
    """The gold questions, practice ones too. The answer `is_label` where a pool has chosen the pair for
    judging, or the order of a queue has come to it or drawn it: it would be awaited for ever."""
    chosen = PoolEntry.objects.filter(
        pool__collection=collection, **SAME_PAIR, inclusion_probability__isnull=False
    )
    questions = GoldQuestion.objects.filter(collection=collection, active=True, **THERE)
    rows = questions.annotate(is_chosen=Exists(chosen)).order_by()
    answers = rows_frame(rows, "query", "document", "answer", "is_chosen", **PAIR_IDS)
    taken = _taken(collection, questions)
    is_taken = [pair in taken for pair in answers.select("query", "document").iter_rows()]
    is_relevant = pl.col("answer") == Verdict.RELEVANT.value
    is_label = pl.col("is_chosen") | pl.Series(is_taken, dtype=pl.Boolean)
    return answers.select(*PAIR, is_relevant.cast(pl.Int32).alias("relevance"), is_label.alias("is_label"))


def _taken(collection: Collection, questions: QuerySet[GoldQuestion]) -> set[tuple[int, int]]:
    """Pairs (keys) that adaptive queues have reached or drawn, of the queries of some questions."""
    has_question = Exists(questions.filter(query=OuterRef("query")))
    plans = QueryPlan.objects.filter(has_question, selection__queue__collection=collection)
    return {
        (query, document)
        for query, reached, draws in plans.values_list("query_id", "reached", "drawn")
        for document, *_ in [*reached, *draws]
    }


def _counts(
    collection: Collection, frame: pl.DataFrame, undecided: pl.DataFrame, both: pl.DataFrame
) -> dict[str, int]:
    outcomes = Counter(undecided["outcome"].to_list())
    relevance = frame["relevance"]
    agrees = (pl.col("relevance") >= 1) == (pl.col("label") == 1)
    return {
        "pairs": frame.height,
        "relevant": int((relevance >= 1).sum()),
        "not_relevant": int((relevance == 0).sum()),
        "pooled_not_judged": int((relevance < 0).sum()),
        "queries": frame["query_id"].n_unique(),
        **{
            source: int((frame["source"] == source).sum())
            for source in ("human", "adjudicated", "gold", "imported")
        },
        "tie": outcomes["tie"],
        "conflict": outcomes["conflict"],
        "not_final": outcomes["not_final"],
        "cannot_judge": outcomes["cannot_judge"],
        "not_counted": outcomes["not_counted"],
        "grades_unused": both.filter(pl.col("relevance") > 1).height,
        "contradictions": both.filter((pl.col("relevance") >= 0) & ~agrees).height,
        "waiting": _waiting(collection),
    }


def _waiting(collection: Collection) -> int:
    """Pairs that stand open in a queue, without a verdict and without an imported label."""
    judged = Judgment.objects.filter(collection=collection).values_list("query_id", "document_id")
    labels = ImportedLabel.objects.filter(collection=collection, relevance__gte=0)
    ended = judged.union(labels.values_list("query_id", "document_id"), all=True)
    queued = Item.objects.filter(
        queue__collection=collection, queue__deleted_at=None, state=Item.State.OPEN, order_key__gte=0
    )
    pairs = set(queued.values_list("query_id", "document_id").iterator())
    return len(pairs.difference(ended.iterator()))
