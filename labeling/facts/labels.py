"""What documents say of facts, as labels: people's consensus first, then what was imported.

A label is made twice from the same votes by the rule: whether the document supports the fact wholly, and
whether it supports at least a part of it. A pair has a label where both are final.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Max, Q, QuerySet

from labeling.consensus.rules import Ballots, decide
from labeling.facts.items import OF_THIS_MEANING
from labeling.models import Fact, FactItem, GoldSupport, ImportedSupport, Queue, Support, SupportVerdict
from pooling.formats.facts.records import PAIR as IDS
from pooling.formats.facts.records import VERDICTS, FactRecord
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.storage.frames import rows_frame

PAIR: Final = ["fact", "document"]
FACT_IDS: Final = {"query_id": "query__external_id", "fact_id": "external_id"}
COUNTED: Final[dict[str, Any]] = {
    "fact__state": Fact.State.CONFIRMED,
    "fact__query__deleted_at": None,
    "document__deleted_at": None,
}


@dataclass(frozen=True)
class SupportCounts:
    """Whole numbers of pairs of a confirmed fact and a document; `queries` and `facts` count these."""

    queries: int
    facts: int
    vital: int
    pairs: int
    supports: int
    partly: int
    human: int
    adjudicated: int
    gold: int
    imported: int
    undecided: int

    def to_dict(self) -> dict[str, int]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class SupportLabels:
    """The confirmed facts of a collection and what documents say of them.

    facts: sorted by query bytewise, then in their order. supports: a frame of judged pairs alone, sorted by
    query, fact and document. undecided: query id, fact id and document id of pairs with votes and without a
    label.
    """

    facts: Sequence[FactRecord]
    supports: pl.DataFrame
    undecided: Sequence[tuple[str, str, str]]
    counts: SupportCounts


def support_labels(collection: Collection, rule: str = "majority") -> SupportLabels:
    """Reduce what people and files say to one label for each pair of a confirmed fact and a document.

    1. A gold answer is the label, else what the latest adjudicator said.
    2. Pairs with as many verdicts as their queue needs get the label of `rule`; two people who cannot judge
       leave a pair without one.
    3. An imported support counts where nobody has voted.
    """
    rows = Fact.objects.filter(collection=collection, state=Fact.State.CONFIRMED, query__deleted_at=None)
    frame = rows_frame(
        rows.order_by(), "text", "importance", "group", "position", **{"fact": "pk", **FACT_IDS}
    )
    confirmed = frame.sort("query_id", "position", "fact")
    gold = _frame(GoldSupport.objects.filter(collection=collection, **COUNTED), "answer", "gold")
    ruled = _adjudicated(collection).join(gold, on=PAIR, how="anti")
    settled = pl.concat([gold, ruled])
    votes = _votes(collection).join(settled, on=PAIR, how="anti")
    decided = _decided(votes, _needs(collection), rule)
    final = decided.filter(pl.col("verdict").is_not_null())
    open_pairs = decided.filter(pl.col("verdict").is_null())
    imported = _frame(ImportedSupport.objects.filter(collection=collection, **COUNTED), "verdict", "imported")
    imported = imported.filter(pl.col("verdict") != SupportVerdict.CANNOT.value)
    imported = imported.join(decided, on=PAIR, how="anti").join(settled, on=PAIR, how="anti")
    labels = pl.concat([settled.filter(pl.col("verdict") != SupportVerdict.CANNOT.value), final, imported])
    ids = pl.DataFrame(
        list(collection.documents.values_list("pk", "external_id").iterator()),
        schema={"document": pl.Int64, "document_id": pl.String},
        orient="row",
    )
    names = confirmed.select("fact", "query_id", "fact_id")
    supports = _supports(collection, labels).join(names, on="fact").join(ids, on="document")
    facts = [
        FactRecord(query, fact, text, "vital" if importance == Fact.Importance.VITAL else "okay", group)
        for query, fact, text, importance, group in confirmed.select(
            "query_id", "fact_id", "text", "importance", "group"
        ).iter_rows()
    ]
    by_source = dict(labels.group_by("source").len().iter_rows())
    counts = SupportCounts(
        queries=len({fact.query_id for fact in facts}),
        facts=len(facts),
        vital=sum(fact.importance == "vital" for fact in facts),
        pairs=len(supports),
        supports=int((supports["weight"] == 1).sum()),
        partly=int((supports["weight"] == 0.5).sum()),
        **{name: by_source.get(name, 0) for name in ("human", "adjudicated", "gold", "imported")},
        undecided=len(open_pairs),
    )
    undecided = open_pairs.join(names, on="fact").join(ids, on="document").select(IDS)
    supports = supports.select(*IDS, "weight", "span_start", "span_end").sort(IDS)
    return SupportLabels(facts, supports, sorted(undecided.iter_rows()), counts)


def _supports(collection: Collection, labels: pl.DataFrame) -> pl.DataFrame:
    """fact, document, weight, and the evidence of what supports at least in part."""
    schema = dict.fromkeys((*PAIR, "span_start", "span_end"), pl.Int64)
    rows = [(*pair, *span) for pair, span in _spans(collection).items()]
    spans = pl.DataFrame(rows, schema=schema, orient="row")
    weighed = labels.with_columns(
        weight=pl.col("verdict").replace_strict(VERDICTS, return_dtype=pl.Float64)
    ).join(spans, on=PAIR, how="left")
    has_span = pl.col("weight") > 0
    return weighed.select(
        *PAIR, "weight", *(pl.when(has_span).then(name).alias(name) for name in ("span_start", "span_end"))
    )


@dataclass(frozen=True)
class FactCounts:
    """Confirmed facts, how many of them are vital and of how many queries; proposals; and verdicts of people
    on pairs of a fact and a document."""

    facts: int
    vital: int
    queries: int
    proposed: int
    verdicts: int


def fact_counts(collection: Collection) -> FactCounts:
    confirmed = Q(state=Fact.State.CONFIRMED)
    counts = Fact.objects.filter(collection=collection, query__deleted_at=None).aggregate(
        facts=Count("pk", filter=confirmed),
        vital=Count("pk", filter=confirmed & Q(importance=Fact.Importance.VITAL)),
        queries=Count("query", filter=confirmed, distinct=True),
        proposed=Count("pk", filter=Q(state=Fact.State.PROPOSED)),
    )
    return FactCounts(**counts, verdicts=Support.objects.filter(collection=collection).count())


def _frame(rows: QuerySet[Any], verdict: str, source: str) -> pl.DataFrame:
    return rows_frame(rows, *PAIR, verdict=verdict).with_columns(source=pl.lit(source))


def _standing(collection: Collection) -> QuerySet[Support]:
    return Support.objects.filter(OF_THIS_MEANING, collection=collection, **COUNTED)


def _adjudicated(collection: Collection) -> pl.DataFrame:
    latest = _standing(collection).filter(is_adjudication=True).order_by("event")
    return _frame(latest, "verdict", "adjudicated").unique(PAIR, keep="last", maintain_order=True)


def _votes(collection: Collection) -> pl.DataFrame:
    rows = _standing(collection).filter(is_adjudication=False).order_by()
    return rows_frame(rows, *PAIR, "annotator", "verdict")


def _needs(collection: Collection) -> pl.DataFrame:
    """fact, document, needed: as many verdicts as the queue that holds the document asks for."""
    rows = (
        FactItem.objects.filter(queue__collection=collection, queue__deleted_at=None)
        .exclude(queue__state=Queue.State.CLOSED)
        .order_by()
        .values("query", "document")
        .annotate(needed=Max("queue__judgments_per_item"))
    )
    facts = rows_frame(Fact.objects.filter(collection=collection).order_by(), "query", fact="pk")
    return rows_frame(rows, "query", "document", "needed").join(facts, on="query").select(*PAIR, "needed")


def _decided(votes: pl.DataFrame, needs: pl.DataFrame, rule: str) -> pl.DataFrame:
    """fact, document, verdict (null without a label), source."""
    if votes.is_empty():
        schema = {"fact": pl.Int64, "document": pl.Int64, "verdict": pl.String, "source": pl.String}
        return pl.DataFrame(schema=schema)
    wholly = _by_rule(votes, needs, rule, [SupportVerdict.SUPPORTS])
    in_part = _by_rule(votes, needs, rule, [SupportVerdict.SUPPORTS, SupportVerdict.PARTLY])
    both = wholly.join(in_part, on=PAIR, suffix="_part")
    verdict = (
        pl.when(pl.col("label").is_null() | pl.col("label_part").is_null())
        .then(None)
        .when(pl.col("label") == 1)
        .then(pl.lit("supports"))
        .when(pl.col("label_part") == 1)
        .then(pl.lit("partly"))
        .otherwise(pl.lit("no"))
    )
    return both.select(*PAIR, verdict=verdict, source=pl.lit("human"))


def _by_rule(
    votes: pl.DataFrame, needs: pl.DataFrame, rule: str, positive: Sequence[SupportVerdict]
) -> pl.DataFrame:
    """fact, document, label: 1 for the verdicts in `positive`, by the rules for judgments."""
    verdict = pl.col("verdict")
    ids = {"query_id": pl.col("fact").cast(pl.String), "document_id": pl.col("document").cast(pl.String)}
    ballots = votes.select(
        **ids,
        annotator=pl.col("annotator").cast(pl.String),
        verdict=pl.when(verdict == SupportVerdict.CANNOT.value)
        .then(pl.lit("cannot_judge"))
        .when(verdict.is_in([one.value for one in positive]))
        .then(pl.lit("relevant"))
        .otherwise(pl.lit("not_relevant")),
    )
    needed = needs.select(
        query_id=pl.col("fact").cast(pl.String),
        document_id=pl.col("document").cast(pl.String),
        needed="needed",
    )
    try:
        decided = decide(Ballots.of(ballots, needed), rule)
    except ValueError as error:
        raise InputError(str(error), field="rule") from error
    return decided.select(
        fact=pl.col("query_id").cast(pl.Int64), document=pl.col("document_id").cast(pl.Int64), label="label"
    )


def _spans(collection: Collection) -> dict[tuple[int, int], tuple[int, int]]:
    """The evidence of each pair: the first that a person gave, else the file's."""
    imported = ImportedSupport.objects.filter(collection=collection, span_start__isnull=False, **COUNTED)
    given = _standing(collection).filter(event__span_start__isnull=False).order_by("-event")
    rows = [
        *imported.values_list(*PAIR, "span_start", "span_end"),
        *given.values_list(*PAIR, "event__span_start", "event__span_end"),
    ]
    return {
        (fact, document): (start, end)
        for fact, document, start, end in rows
        if start is not None and end is not None
    }
