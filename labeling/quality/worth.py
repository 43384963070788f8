"""Worth of a model's pre-labels, from the blind labels there are: what page, call and command show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal

from django.db.models import Count, Q, Sum

from labeling.consensus.agreement import Figure
from labeling.consensus.shares import Share
from labeling.models import Prelabel, Prelabeler, PrelabelFailure, PrelabelJob, Verdict
from labeling.quality.blind_labels import Evidence, evidence
from labeling.quality.worth_facts import (
    AnswerCounts,
    BestOfSeveral,
    Interval,
    NamedFigure,
    QueryWorth,
    Worth,
    WorthRow,
)
from labeling.quality.worth_figures import Best, Compared, Quality, best_of, quality, quality_by_group
from pooling.models import Collection, Query

# The figures in the order of the page, each with what it means: shares of labels first.
SHARES = {
    "missed": ("Missed as labels", "Share of the relevant documents that it calls not relevant."),
    "recall": ("Recall", "Share of the relevant documents that it calls relevant."),
    "precision": ("Precision", "Sample of what it calls relevant, the share that is."),
    "elusion": (
        "Elusion",
        "Sample of what it calls not relevant, the share that is relevant. Exact interval.",
    ),
    "agreement": ("Agreement", "How often it agrees with people."),
    "prevalence": ("Relevant", "Share that people call relevant."),
    "called": ("Called relevant", "Share that it calls relevant."),
    "saved": (
        "Audit labels saved",
        "For an interval of equal width, if an estimate uses its scores together with the labels: ρ². "
        "This does not mean that pairs of a queue can stay unjudged.",
    ),
}
NUMBERS = {
    "kappa": ("Kappa", "Agreement beyond chance (Cohen); 1 is perfect, 0 is chance."),
    "correlation": ("Correlation ρ", "Correlation of its score with the label."),
    "gain": ("Gain 1/(1 − ρ²)", "How many labels one label is worth when combined with the scores."),
}


def worth_of_all(collection: Collection) -> list[WorthRow]:
    """A collection's prelabelers that were asked, newest first, by few statements; best: of several."""
    all_evidence = evidence(collection)
    counts, best = _answer_counts(collection), _best(all_evidence)
    rows: list[WorthRow] = []
    for prelabeler in collection.prelabelers.listed():
        figures = quality((all_evidence.get(prelabeler.pk) or _nothing()).compared)
        rows.append(
            {
                "prelabeler": prelabeler,
                **counts[prelabeler.pk],
                "labels": figures.labels,
                "missed": _interval(figures.missed),
                "saved": _interval(figures.saved),
                "verdict": figures.verdict,
                "why": figures.why,
                "best": _best_of_several(best, prelabeler),
            }
        )
    return rows


def worth(prelabeler: Prelabeler, all_evidence: Mapping[int, Evidence] | None = None) -> Worth:
    """All figures of one prelabeler. all_evidence: the `evidence` of all models of its collection, where it
    is at hand.

    Nothing is defined by force: values are None where there is nothing to divide by, or too little.
    """
    all_evidence = evidence(prelabeler.collection) if all_evidence is None else all_evidence
    given = all_evidence.get(prelabeler.pk) or _nothing()
    figures = quality(given.compared)
    counts = _answer_counts(prelabeler.collection)[prelabeler.pk]
    each = counts["spent"] / counts["pairs"] if counts["pairs"] and counts["spent"] is not None else None
    names = _queries(given)
    tags = [names[query][2] for query, _ in given.pairs]
    newest = PrelabelJob.objects.filter(prelabeler=prelabeler).exclude(currency="")
    return {
        "labels": figures.labels,
        "queries": figures.queries,
        "weighed": given.weighed,
        "audited": given.audited,
        "verdict": figures.verdict,
        "why": figures.why,
        "best": _best_of_several(_best(all_evidence), prelabeler),
        **counts,
        "saved": _interval(figures.saved),
        "shares": [_named_figure(figures, name, *words) for name, words in SHARES.items()],
        "numbers": [_named_figure(figures, name, *words) for name, words in NUMBERS.items()],
        "confusion": figures.confusion,
        "calibration": figures.calibration,
        "cost": {"per_pair": each, "currency": newest.values_list("currency", flat=True).first() or ""},
        "by_tag": [
            {
                "tag": tag,
                "labels": group.labels,
                "agreement": _interval(group.agreement),
                "kappa": _interval(group.kappa),
                "missed": _interval(group.missed),
            }
            for tag, group in quality_by_group(given.compared, tags).items()
        ],
        "by_query": _by_query(given, names),
    }


def _best(all_evidence: Mapping[int, Evidence]) -> Best | None:
    return best_of({key: one.compared for key, one in all_evidence.items()})


def _best_of_several(best: Best | None, prelabeler: Prelabeler) -> BestOfSeveral | None:
    if best is None or best.key != prelabeler.pk:
        return None
    return {
        "compared": best.compared,
        "saved": _interval(best.saved),
        "sentence": best.sentence(prelabeler.model),
    }


def _nothing() -> Evidence:
    return Evidence([], Compared.of([], []), weighed=False)


def _answer_counts(collection: Collection) -> Mapping[int, AnswerCounts]:
    """By prelabeler; nothing was asked of one that is not there."""
    theirs = Prelabel.objects.filter(prelabeler__collection=collection).order_by().values("prelabeler")
    counts: defaultdict[int, AnswerCounts] = defaultdict(lambda: {"pairs": 0, "relevant": 0, "spent": 0.0})
    answers = theirs.annotate(
        pairs=Count("pk"), relevant=Count("pk", filter=Q(verdict=Verdict.RELEVANT)), spent=Sum("cost")
    )
    costs: defaultdict[int, Decimal] = defaultdict(Decimal)
    for key, pairs, relevant, spent in answers.values_list("prelabeler", "pairs", "relevant", "spent"):
        counts[key] = {"pairs": pairs, "relevant": relevant, "spent": None}
        costs[key] += spent
    failed = PrelabelFailure.objects.filter(prelabeler__collection=collection).order_by()
    lost = failed.values("prelabeler").annotate(spent=Sum("cost"))
    for key, spent in lost.values_list("prelabeler", "spent"):
        costs[key] += spent
    for key, cost in costs.items():
        counts[key]["spent"] = float(cost)
    for key in collection.prelabelers.unpriced().values_list("pk", flat=True):
        counts[key]["spent"] = None
    return counts


def _queries(given: Evidence) -> dict[int, tuple[str, str, list[str]]]:
    queries = Query.objects.in_bulk({query for query, _ in given.pairs})
    return {key: (query.external_id, query.text, query.tags) for key, query in queries.items()}


def _by_query(given: Evidence, names: dict[int, tuple[str, str, list[str]]]) -> list[QueryWorth]:
    """Those on which model and people differ most often come first."""
    compared = given.compared
    rows: dict[int, QueryWorth] = {}
    for place, (query, _) in enumerate(given.pairs):
        query_id, text, tags = names[query]
        row = rows.setdefault(
            query,
            {
                "query_id": query_id,
                "text": text,
                "labels": 0,
                "relevant": 0,
                "missed": 0,
                "wrongly_relevant": 0,
                "tags": tags,
            },
        )
        relevant, verdict = bool(compared.relevant[place]), bool(compared.verdict[place])
        row["labels"] += 1
        row["relevant"] += relevant
        row["missed"] += relevant and not verdict
        row["wrongly_relevant"] += verdict and not relevant
    return sorted(
        rows.values(),
        key=lambda row: (-row["missed"] - row["wrongly_relevant"], -row["missed"], row["query_id"].encode()),
    )


def _named_figure(figures: Quality, name: str, title: str, meaning: str) -> NamedFigure:
    return {"name": name, "title": title, "meaning": meaning, **_interval(getattr(figures, name))}


def _interval(figure: Figure | Share) -> Interval:
    """Value and interval; what is infinite is None, since plain data have no word for it."""
    return {
        "value": _finite(figure.value),
        "low": _finite(figure.low),
        "high": _finite(figure.high),
        "why": figure.why,
    }


def _finite(number: float | None) -> float | None:
    return None if number is None or math.isinf(number) else float(number)
