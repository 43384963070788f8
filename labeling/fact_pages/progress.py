"""How far a queue of facts is, how far its people agree, and which facts they read differently."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, TypedDict

from django.contrib.auth.models import User
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from labeling.consensus.agreement import agreement
from labeling.fact_pages.storing import judged_by
from labeling.facts.items import OF_THIS_MEANING
from labeling.models import Fact, FactItem, FactLease, GoldSupport, Queue, Support, SupportVerdict
from pooling.heavy import pl
from pooling.storage.frames import rows_frame

# Below this agreement on "supports" people read a fact differently; shown from this many shared pairs.
UNCLEAR_BELOW, LEAST_SHARED = 0.5, 5


class OwnFacts(TypedDict):
    judged: int
    open_documents: int


class FactAnnotator(TypedDict):
    """What a person did."""

    username: str
    judged: int
    supports: int
    partly: int
    cannot: int
    active_seconds: float
    facts_per_minute: float | None
    # Answers to pairs with a known answer, and right ones.
    gold: int
    gold_right: int
    last_at: datetime | None


class AgreementFigures(TypedDict):
    """Agreement on “supports” over pairs that two people judged; null where these are too few."""

    pairs: int
    alpha: float | None
    ac1: float | None
    positive: float | None


class UnclearFact(TypedDict):
    """A fact that people read differently."""

    query: str
    fact: str
    text: str
    pairs: int
    positive: float


class FactProgress(TypedDict):
    """How far a queue of facts is."""

    documents: int
    open: int
    held: int
    audit: int
    facts_asked: int
    facts_judged: int
    audit_supports: Annotated[
        int, "Documents that were labelled not relevant and support a fact all the same."
    ]
    agreement: AgreementFigures
    annotators: list[FactAnnotator]
    unclear: list[UnclearFact]


def own_progress(queue: Queue, user: User) -> OwnFacts:
    return {"judged": judged_by(user, queue), "open_documents": queue.fact_items.filter(is_open=True).count()}


def fact_counts(queues: Sequence[int]) -> dict[int, tuple[int, int]]:
    """By queue: its documents, and those that are done. One statement for all."""
    rows = FactItem.objects.filter(queue__in=queues).order_by().values_list("queue")
    counted = rows.annotate(all=Count("pk"), done=Count("pk", filter=Q(is_open=False)))
    return {queue: (every, done) for queue, every, done in counted}


def fact_progress(queue: Queue) -> FactProgress:
    items = queue.fact_items.order_by()
    counts = items.aggregate(
        documents=Count("pk"),
        open=Count("pk", filter=Q(is_open=True)),
        audit=Count("pk", filter=Q(is_audit=True)),
        facts=Sum("asked"),
    )
    votes = _votes(queue)
    leases = FactLease.objects.filter(item__queue=queue, expires_at__gt=timezone.now()).values("item")
    audited = set(queue.fact_items.filter(is_audit=True).values_list("query", "document"))
    supports = _in_queue(queue).filter(verdict=SupportVerdict.SUPPORTS).order_by()
    return {
        "documents": counts["documents"],
        "open": counts["open"],
        "held": leases.distinct().count(),
        "audit": counts["audit"],
        "facts_asked": (counts["facts"] or 0) * queue.judgments_per_item,
        "facts_judged": len(votes),
        "audit_supports": len(audited & set(supports.values_list("fact__query", "document").distinct())),
        "agreement": _agreement(votes),
        "annotators": _annotators(queue),
        "unclear": _unclear(queue, votes),
    }


def _in_queue(queue: Queue) -> Any:
    return Support.objects.filter(OF_THIS_MEANING, event__queue=queue, fact__state=Fact.State.CONFIRMED)


def _votes(queue: Queue) -> pl.DataFrame:
    """query_id (the fact), document_id, annotator, relevant, as agreement takes them; no "can't judge"."""
    supports = _in_queue(queue).filter(is_adjudication=False).exclude(verdict=SupportVerdict.CANNOT)
    frame = rows_frame(
        supports.order_by(), "verdict", query_id="fact", document_id="document", annotator="annotator"
    )
    return frame.with_columns(
        pl.col("query_id", "document_id", "annotator").cast(pl.String),
        relevant=pl.col("verdict") == SupportVerdict.SUPPORTS.value,
    )


def _agreement(votes: pl.DataFrame) -> AgreementFigures:
    figures = agreement(votes)
    return {
        "pairs": figures.pairs,
        "alpha": figures.krippendorff.value,
        "ac1": figures.gwet.value,
        "positive": figures.positive.value,
    }


def _unclear(queue: Queue, votes: pl.DataFrame) -> list[UnclearFact]:
    """Facts with positive agreement below one half, the worst first."""
    pairs = (
        votes.group_by("query_id", "document_id")
        .agg(n=pl.len(), yes=pl.col("relevant").sum())
        .filter(pl.col("n") >= 2)
        # Of ordered pairs of two people: those where both, and those where one says that it supports.
        .with_columns(
            both=pl.col("yes") * (pl.col("yes") - 1) / (pl.col("n") - 1), one=pl.col("yes").cast(pl.Float64)
        )
    )
    by_fact = (
        pairs.group_by("query_id")
        .agg(pairs=pl.len(), both=pl.col("both").sum(), one=pl.col("one").sum())
        .filter((pl.col("pairs") >= LEAST_SHARED) & (pl.col("one") > 0))
        .with_columns(positive=pl.col("both") / pl.col("one"))
        .filter(pl.col("positive") < UNCLEAR_BELOW)
        .sort("positive", "query_id")
    )
    facts = Fact.objects.filter(pk__in=[int(one) for one in by_fact["query_id"]]).select_related("query")
    by_key = {str(fact.pk): fact for fact in facts}
    return [
        {
            "query": by_key[key].query.external_id,
            "fact": by_key[key].external_id,
            "text": by_key[key].text,
            "pairs": shared,
            "positive": positive,
        }
        for key, shared, positive in by_fact.select("query_id", "pairs", "positive").iter_rows()
    ]


def _annotators(queue: Queue) -> list[FactAnnotator]:
    rows = (
        _in_queue(queue)
        .order_by()
        .values("annotator__username", "annotator")
        .annotate(
            judged=Count("pk"),
            supports=Count("pk", filter=Q(verdict=SupportVerdict.SUPPORTS)),
            partly=Count("pk", filter=Q(verdict=SupportVerdict.PARTLY)),
            cannot=Count("pk", filter=Q(verdict=SupportVerdict.CANNOT)),
            spent=Sum("event__active_ms"),
            timed=Count("event__active_ms"),
            last_at=Max("judged_at"),
        )
        .order_by("annotator__username")
    )
    gold = _gold(queue)
    return [
        {
            "username": row["annotator__username"],
            "judged": row["judged"],
            "supports": row["supports"],
            "partly": row["partly"],
            "cannot": row["cannot"],
            "active_seconds": (row["spent"] or 0) / 1000,
            "facts_per_minute": row["timed"] * 60_000 / row["spent"] if row["spent"] else None,
            "gold": len(gold.get(row["annotator"], [])),
            "gold_right": sum(gold.get(row["annotator"], [])),
            "last_at": row["last_at"],
        }
        for row in rows
    ]


def _gold(queue: Queue) -> dict[int, list[bool]]:
    """By person: whether each answer to a pair with a known answer is right."""
    answers = {
        (fact, document): answer
        for fact, document, answer in GoldSupport.objects.filter(collection=queue.collection_id).values_list(
            "fact", "document", "answer"
        )
    }
    by_person: dict[int, list[bool]] = {}
    if not answers:
        return by_person
    supports = _in_queue(queue).filter(fact__in={fact for fact, _ in answers})
    rows = supports.exclude(verdict=SupportVerdict.CANNOT)
    for fact, document, annotator, verdict in rows.values_list("fact", "document", "annotator", "verdict"):
        if (fact, document) in answers:
            by_person.setdefault(annotator, []).append(answers[fact, document] == verdict)
    return by_person
