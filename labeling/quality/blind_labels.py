"""Labels that people gave without having seen a pre-label, next to what models proposed for the pairs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count, Exists, Max, OuterRef

from labeling.models import Judgment, JudgmentEvent, Prelabel, PrelabelSeen, QueryPlan, Queue, Verdict
from labeling.models.prelabels import ORDER_SCORE
from labeling.models.words import SAME_PAIR, THERE
from labeling.quality.worth_figures import Compared
from pooling.heavy import np
from pooling.models import Collection, Pool, PoolEntry

Pair = tuple[int, int]


def inclusion_probabilities(collection: Collection, judged: Exists) -> dict[Pair, float]:
    """π of each pair, by the keys of query and document, that only an audit's draw had judged; all others are
    certain. judged: of an entry of a pool, whether people judged its pair.

    A pair that several queues asked for has the greatest probability. What an adaptive queue's order reached
    is certain whatever the pool's own choice was; what it drew has the audit's share of what was not reached.
    """
    shares = _of_fixed_orders(collection, judged)
    certain: set[Pair] = set()
    for plan in QueryPlan.objects.filter(selection__queue__collection=collection).iterator():
        begun = [entry for entry in plan.drawn if entry[1] <= plan.begun]
        reached = {document for document, batch in plan.reached if batch <= plan.begun}
        reached |= {document for document, _, draw in begun if draw < plan.draw}
        audit = {document for document, _, draw in begun if draw == plan.draw} - reached
        certain |= {(plan.query_id, document) for document in reached}
        share = len(audit) / max(plan.size - len(reached), 1)
        for document in audit:
            pair = plan.query_id, document
            shares[pair] = max(shares.get(pair, 0.0), share)
    return {pair: share for pair, share in shares.items() if share < 1 and pair not in certain}


def _of_fixed_orders(collection: Collection, judged: Exists) -> dict[Pair, float]:
    """By the choice of the pools over which a queue with a fixed order was opened."""
    opened = Queue.objects.filter(pool=OuterRef("pool"), selection=None)
    entries = (
        PoolEntry.objects.filter(
            Exists(opened), judged, pool__collection=collection, inclusion_probability__isnull=False
        )
        .exclude(pool__strategy=Pool.VERIFICATION)
        .order_by()
        .values("query", "document")
        .annotate(most=Max("inclusion_probability"))
    )
    return {
        (query, document): most for query, document, most in entries.values_list("query", "document", "most")
    }


@dataclass(frozen=True)
class BlindLabel:
    """relevant: what people say of a pair; is_sampled: they were asked by a sample of the model's scores."""

    relevant: bool
    is_sampled: bool


@dataclass(frozen=True)
class Evidence:
    """The pairs that people judged blind and a model labelled too: `pairs` are keys of query and document,
    parallel to `compared`. `weighed` says that its negatives and positives were judged at unequal shares;
    `audited` counts the labels that an audit drew, which weigh by their inclusion probability."""

    pairs: list[Pair]
    compared: Compared
    weighed: bool
    audited: int = 0


def blind_labels(collection: Collection, pairs: Exists | None = None) -> dict[Pair, BlindLabel]:
    """The label of each pair by the blind verdicts that count: the majority, or what an adjudicator said.

    Of each person the last verdict counts that came before they had seen any model's pre-label of the pair:
    where a pre-label was revealed afterwards and they changed their mind, the one before. A tie is no label,
    and deleted queries and documents have none.
    """
    stands = Judgment.objects.counted().filter(**SAME_PAIR, annotator=OuterRef("annotator"))
    events = JudgmentEvent.objects.filter(
        Exists(stands),
        collection=collection,
        kind=JudgmentEvent.Kind.VERDICT,
        gold=None,
        repeats=None,
        undone_by=None,
        brought_by__deleted_at=None,
        **THERE,
    ).exclude(prelabel_seen=PrelabelSeen.BEFORE)
    if pairs is not None:
        events = events.filter(pairs)
    fields = ("query", "document", "annotator", "verdict", "is_adjudication", "queue__pool__strategy")
    last = {row[:3]: row[3:] for row in events.order_by("pk").values_list(*fields).iterator()}
    votes: dict[Pair, list[tuple[str, bool, bool]]] = defaultdict(list)
    for (query, document, _), (verdict, settles, strategy) in last.items():
        votes[query, document].append((verdict, settles, strategy in Pool.SAMPLES))
    labels = {}
    for pair, ballots in votes.items():
        verdicts = [verdict for verdict, settles, _ in ballots if settles][-1:] or [row[0] for row in ballots]
        balance = verdicts.count(Verdict.RELEVANT) - verdicts.count(Verdict.NOT_RELEVANT)
        if balance:
            labels[pair] = BlindLabel(balance > 0, all(sampled for _, _, sampled in ballots))
    return labels


def evidence(collection: Collection, prelabeler: int | None = None) -> dict[int, Evidence]:
    """For each prelabeler of a collection (or one), its pre-labels of pairs with a blind label.

    Pre-labels of texts that have changed since are left out. A label that an audit drew weighs 1/π. Where a
    sample by its verdicts or scores was judged, its negatives and positives were not judged at equal shares;
    then each weighs by how many there are.
    """
    labels = blind_labels(collection)
    theirs = Prelabel.objects.current().filter(prelabeler__collection=collection).order_by()
    if prelabeler is not None:
        theirs = theirs.filter(prelabeler=prelabeler)
    counts = theirs.values("prelabeler", "verdict").annotate(pairs=Count("pk"))
    sizes = {(row["prelabeler"], row["verdict"] == Verdict.RELEVANT): row["pairs"] for row in counts}
    judged = JudgmentEvent.objects.filter(**SAME_PAIR)
    rows = theirs.filter(Exists(judged)).order_by("prelabeler", "query", "document")
    probability = inclusion_probabilities(collection, Exists(judged))
    fields = ("prelabeler", "query", "document", "verdict", ORDER_SCORE)
    answers_by_model: dict[int, list[tuple[Pair, bool, float]]] = defaultdict(list)
    for key, query, document, verdict, score in rows.values_list(*fields).iterator():
        if (query, document) in labels:
            answers_by_model[key].append(((query, document), verdict == Verdict.RELEVANT, score))
    result = {}
    for key, answers in answers_by_model.items():
        pairs = [pair for pair, _, _ in answers]
        verdicts = np.array([verdict for _, verdict, _ in answers])
        weighed = any(labels[pair].is_sampled for pair in pairs)
        weight = np.array([1 / probability.get(pair, 1.0) for pair in pairs])
        if weighed:
            for verdict in (False, True):
                inside = verdicts == verdict
                if inside.any():
                    weight[inside] *= sizes[key, verdict] / weight[inside].sum()
        compared = Compared.of(
            [labels[pair].relevant for pair in pairs],
            verdicts,
            score=[score for _, _, score in answers],
            weight=weight,
            query=[query for query, _ in pairs],
        )
        result[key] = Evidence(pairs, compared, weighed, sum(pair in probability for pair in pairs))
    return result
