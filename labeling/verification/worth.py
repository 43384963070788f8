"""Whether a model's pre-labels pay, from the blind labels there are: what page, call and command show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q, Sum

from labeling.models import Prelabel, Prelabeler, PrelabelFailure, PrelabelJob, Verdict
from labeling.verification.blind_labels import Evidence, evidence
from pooling.models import Collection, Query

if TYPE_CHECKING:
    from labeling.verification.figures import Best, Quality

# The figures in the order of the page, each with what it means: shares of labels first.
SHARES = {
    "missed": ("Missed as labels", "Of the relevant documents, the share that it calls not relevant."),
    "recall": ("Recall", "Of the relevant documents, the share that it calls relevant."),
    "precision": ("Precision", "Of what it calls relevant, the share that is."),
    "elusion": ("Elusion", "Of what it calls not relevant, the share that is relevant. Exact interval."),
    "agreement": ("Agreement", "How often it says what people say."),
    "prevalence": ("Relevant", "The share that people call relevant."),
    "called": ("Called relevant", "The share that it calls relevant."),
    "saved": (
        "Of an audit's labels saved",
        "For an interval of equal width, where an estimate takes its scores beside the labels: ρ². No pair "
        "of a queue may stay unjudged for it.",
    ),
}
NUMBERS = {
    "kappa": ("Kappa", "Agreement beyond chance (Cohen); 1 is perfect, 0 is chance."),
    "correlation": ("Correlation ρ", "Of its score and the label."),
    "gain": ("Gain 1/(1 − ρ²)", "Labels that one label is worth with the scores beside it."),
}


def worth_of_all(collection: Collection) -> list[dict[str, Any]]:
    """A row for each prelabeler of a collection that was asked, newest first: `prelabeler`, `pairs`,
    `labels`, `verdict` (or None and `why`), `missed` and `saved` with intervals, `spent`, and `best`: of the
    best of several models what choosing it does to its figure, else None. A constant number of statements.
    """
    from labeling.verification.figures import quality

    found = evidence(collection)
    asked, best = _asked(collection), _best(found)
    rows = []
    for prelabeler in collection.prelabelers.asked():
        known = quality((found.get(prelabeler.pk) or _nothing()).compared)
        told = {name: _figure(getattr(known, name)) for name in ("missed", "saved")}
        about = {"prelabeler": prelabeler, **asked[prelabeler.pk], "labels": known.labels}
        chosen = _told_of_best(best, prelabeler)
        rows.append({**about, **told, "verdict": known.verdict, "why": known.why, "best": chosen})
    return rows


def worth(prelabeler: Prelabeler, found: Mapping[int, Evidence] | None = None) -> dict[str, Any]:
    """All figures of one prelabeler as plain data. found: the `evidence` of all models of its collection,
    where it is at hand.

    `shares` and `numbers` are figures with name, title, meaning, value, low, high and why; `confusion` counts
    pairs; `calibration` has bins, error and brier; `cost` is per pair; `by_tag` and `by_query` (worst first)
    hold groups; `weighed` and `audited` are as in `Evidence`; `best` is as in `worth_of_all`. Nothing is
    defined by force: values are None where there is nothing to divide by, or too little.
    """
    from labeling.verification.figures import quality, quality_by_group

    found = evidence(prelabeler.collection) if found is None else found
    given = found.get(prelabeler.pk) or _nothing()
    known = quality(given.compared)
    asked = _asked(prelabeler.collection)[prelabeler.pk]
    each = asked["spent"] / asked["pairs"] if asked["pairs"] and asked["spent"] is not None else None
    names = _queries(given)
    tags = [names[query][2] for query, _ in given.pairs]
    return {
        "labels": known.labels,
        "queries": known.queries,
        "weighed": given.weighed,
        "audited": given.audited,
        "verdict": known.verdict,
        "why": known.why,
        "best": _told_of_best(_best(found), prelabeler),
        **asked,
        "saved": _figure(known.saved),
        "shares": [_described(known, name, *words) for name, words in SHARES.items()],
        "numbers": [_described(known, name, *words) for name, words in NUMBERS.items()],
        "confusion": asdict(known.confusion),
        "calibration": asdict(known.calibration),
        "cost": {"per_pair": each, "currency": _currency(prelabeler)},
        "by_tag": [
            {
                "tag": tag,
                "labels": one.labels,
                **{name: _figure(getattr(one, name)) for name in ("agreement", "kappa", "missed")},
            }
            for tag, one in quality_by_group(given.compared, tags).items()
        ],
        "by_query": _by_query(given, names),
    }


def _best(found: Mapping[int, Evidence]) -> Best | None:
    from labeling.verification.figures import best_of

    return best_of({key: one.compared for key, one in found.items()})


def _told_of_best(best: Best | None, prelabeler: Prelabeler) -> dict[str, Any] | None:
    if best is None or best.key != prelabeler.pk:
        return None
    return {
        "compared": best.compared,
        "saved": _figure(best.saved),
        "sentence": best.sentence(prelabeler.model),
    }


def _nothing() -> Evidence:
    from labeling.verification.figures import Compared

    return Evidence([], Compared.of([], []), weighed=False)


def _asked(collection: Collection) -> dict[int, dict[str, Any]]:
    """By prelabeler: pairs with a pre-label, how many of them relevant, and what all answers have cost; None
    where some were had without a price.
    """
    theirs = Prelabel.objects.filter(prelabeler__collection=collection).order_by().values("prelabeler")
    counts: dict[int, dict[str, Any]] = defaultdict(lambda: {"pairs": 0, "relevant": 0, "spent": 0})
    told = theirs.annotate(
        pairs=Count("pk"), relevant=Count("pk", filter=Q(verdict=Verdict.RELEVANT)), spent=Sum("cost")
    )
    for key, *row in told.values_list("prelabeler", "pairs", "relevant", "spent"):
        counts[key] = dict(zip(("pairs", "relevant", "spent"), row, strict=True))
    failed = PrelabelFailure.objects.filter(prelabeler__collection=collection).order_by()
    lost = failed.values("prelabeler").annotate(spent=Sum("cost"))
    for key, spent in lost.values_list("prelabeler", "spent"):
        counts[key]["spent"] += spent
    for told_costs in counts.values():
        told_costs["spent"] = float(told_costs["spent"])
    for key in collection.prelabelers.unpriced().values_list("pk", flat=True):
        counts[key]["spent"] = None
    return counts


def _currency(prelabeler: Prelabeler) -> str:
    newest = PrelabelJob.objects.filter(prelabeler=prelabeler).exclude(currency="")
    return newest.values_list("currency", flat=True).first() or ""


def _queries(given: Evidence) -> dict[int, tuple[str, str, list[str]]]:
    """Of each query of the pairs: its id, text and tags."""
    known = Query.objects.in_bulk({query for query, _ in given.pairs})
    return {key: (query.external_id, query.text, query.tags) for key, query in known.items()}


def _by_query(given: Evidence, names: dict[int, tuple[str, str, list[str]]]) -> list[dict[str, Any]]:
    """Where model and people differ most often comes first."""
    compared = given.compared
    rows: dict[int, dict[str, Any]] = {}
    for place, (query, _) in enumerate(given.pairs):
        empty = {"labels": 0, "relevant": 0, "missed": 0, "wrongly_relevant": 0}
        row = rows.setdefault(
            query, {"query_id": names[query][0], "text": names[query][1], **empty, "tags": names[query][2]}
        )
        relevant, said = bool(compared.relevant[place]), bool(compared.verdict[place])
        row["labels"] += 1
        row["relevant"] += relevant
        row["missed"] += relevant and not said
        row["wrongly_relevant"] += said and not relevant
    return sorted(
        rows.values(),
        key=lambda row: (-row["missed"] - row["wrongly_relevant"], -row["missed"], row["query_id"].encode()),
    )


def _described(found: Quality, name: str, title: str, meaning: str) -> dict[str, Any]:
    return {"name": name, "title": title, "meaning": meaning, **_figure(getattr(found, name))}


def _figure(figure: Any) -> dict[str, Any]:
    """Value and interval; what is infinite is None, since plain data have no word for it."""
    ends = {name: getattr(figure, name) for name in ("value", "low", "high")}
    told = {name: None if one is None or math.isinf(one) else float(one) for name, one in ends.items()}
    return {**told, "why": getattr(figure, "why", "")}
