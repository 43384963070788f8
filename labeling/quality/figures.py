"""Quality of a queue's judgments: agreement, what each annotator's verdicts and gold answers show, and which
queries nobody can judge. The figures of the page, the call and the command.

What is computed from all verdicts is kept for a while, because a large queue takes a second or two: until
something changes, and for a minute although verdicts came in meanwhile. `computed_at` says of when it is."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db.models import Count, Max, Q
from django.utils import timezone

from labeling.consensus.agreement import Agreement, agreement
from labeling.consensus.shares import wilson
from labeling.gold.repeats import same_again
from labeling.gold.scores import AnnotatorGold, gold_rows
from labeling.items.reading_speed import CHARACTERS
from labeling.models import GoldQuestion, Item, Judgment, Queue, Verdict
from labeling.quality.facts import (
    AgainFigures,
    AgreementFigures,
    AnnotatorFigures,
    GoldFigures,
    HardQuery,
    QueueQuality,
    VerdictFigures,
)
from labeling.quality.monitors import hard_queries, leniency, longest_streak, relevant_by_position, speed
from labeling.quality.verdict import quality_verdict
from pooling.heavy import pl
from pooling.models import Query
from pooling.storage.frames import rows_frame


def queue_verdicts(queue: Queue) -> pl.DataFrame:
    """The verdicts that stand and were given in the queue, in the order in which they were given.

    Columns: query_id, document_id, annotator (keys of rows), at (Datetime in the site's time zone), relevant
    (null for "can't judge"), active_ms (null where it was not measured), set_aside (in quarantine),
    characters (of title and text, as far as reading speed needs them). Answers to gold questions are not
    among them, nor adjudications: anyone who settles a pair has seen what the others said.
    """
    rows = Judgment.objects.filter(event__queue=queue, is_gold=False, is_adjudication=False)
    frame = rows_frame(
        rows.annotate(characters=CHARACTERS).order_by("event"),
        "query_id",
        "document_id",
        "verdict",
        "characters",
        annotator="annotator_id",
        at="judged_at",
        active_ms="event__active_ms",
        set_aside="quarantine_id",
    )
    when_decided = pl.when(pl.col("verdict") != Verdict.CANNOT_JUDGE.value)
    return frame.select(
        "query_id",
        "document_id",
        "annotator",
        pl.col("at").dt.round("1ms").dt.convert_time_zone(timezone.get_current_timezone_name()),
        when_decided.then(pl.col("verdict") == Verdict.RELEVANT.value).alias("relevant"),
        "active_ms",
        pl.col("set_aside").is_not_null(),
        "characters",
    )


KEPT_SECONDS = 600
# So long may figures of a large queue be behind the verdicts; below this many verdicts they never are.
BEHIND = timedelta(seconds=60)
LARGE = 20_000
HARD_QUERIES = 20
# The coefficients in the order of the page, each with what it means.
MEANINGS = {
    "raw": ("Raw agreement", "How often two people judging a pair agree."),
    "positive": ("Agreement on relevant", "If one person says relevant, how often another does too."),
    "negative": ("Agreement on not relevant", "If one person says not relevant, how often another does too."),
    "krippendorff": (
        "Krippendorff's alpha",
        "Agreement beyond chance, for any number of verdicts per pair; 1 is perfect, 0 is chance. Low "
        "when nearly everything is not relevant, however careful people are.",
    ),
    "gwet": ("Gwet's AC1", "Agreement beyond chance, robust when one class is rare."),
    "fleiss": (
        "Fleiss' kappa",
        "Agreement beyond chance on the pairs with the most common number of verdicts.",
    ),
    "cohen": (
        "Cohen's kappa, mean",
        (
            "Agreement beyond chance of two people, averaged over all who share at least 30 pairs, "
            "weighted by pairs."
        ),
    ),
}


def queue_quality(queue: Queue, *, now: datetime | None = None) -> QueueQuality:
    figures, computed_at = _kept(queue, now or timezone.now())
    waiting = queue.items.filter(state=Item.State.ADJUDICATION).count()
    paused = set(queue.quarantines.filter(lifted_at=None).values_list("annotator__username", flat=True))
    return {
        "queue": queue.pk,
        "name": queue.name,
        "computed_at": computed_at,
        "verdict": quality_verdict(figures["agreement"], figures["annotators"], waiting),
        "waiting": waiting,
        **figures,
        "annotators": [{**row, "is_paused": row["username"] in paused} for row in figures["annotators"]],
    }


def _kept(queue: Queue, now: datetime) -> tuple[VerdictFigures, datetime]:
    key = f"quality-{queue.pk}-{queue.opened_at.timestamp()}"
    state = _state(queue)
    if kept := cache.get(key):
        figures, computed_at, before = kept
        may_lag = figures["verdicts"] >= LARGE and now - computed_at < BEHIND
        if before == state or (before[1:] == state[1:] and may_lag):
            return figures, computed_at
    figures = _figures(queue)
    cache.set(key, (figures, now, state), KEPT_SECONDS)
    return figures, now


def _state(queue: Queue) -> tuple[Any, ...]:
    """The last event, and what changes figures without one: quarantines and gold questions."""
    questions = GoldQuestion.objects.filter(collection=queue.collection_id, active=True, practice=False)
    counts = questions.order_by().aggregate(
        all=Count("pk"), last=Max("pk"), relevant=Count("pk", filter=Q(answer=Verdict.RELEVANT))
    )
    quarantines = queue.quarantines.order_by().aggregate(last=Max("pk"), lifted=Count("lifted_at"))
    last = queue.events.order_by().aggregate(last=Max("pk"))["last"]
    return last, tuple(quarantines.values()), tuple(counts.values())


def _figures(queue: Queue) -> VerdictFigures:
    verdicts = queue_verdicts(queue)
    counted = verdicts.filter(~pl.col("set_aside"))
    opinions = counted.drop_nulls("relevant")
    places: list[Any] = relevant_by_position(counted).to_dicts()
    days = counted.group_by(pl.col("at").dt.date().alias("day")).agg(
        verdicts=pl.len(),
        annotators=pl.col("annotator").n_unique(),
        median_seconds=pl.col("active_ms").median() / 1000,
    )
    per_day: list[Any] = days.sort("day").to_dicts()
    return {
        "verdicts": verdicts.height,
        "set_aside": verdicts.height - counted.height,
        "cannot_judge": counted.height - opinions.height,
        "relevant": int(opinions["relevant"].sum()),
        "agreement": _agreement_figures(agreement(opinions)),
        "annotators": _annotators(verdicts, counted, gold_rows(queue), same_again(queue)),
        "by_position": places,
        "per_day": per_day,
        "hard_queries": _hard_queries(counted),
    }


def _agreement_figures(measured: Agreement) -> AgreementFigures:
    figures: list[Any] = [
        {"name": name, "title": title, "meaning": meaning, **asdict(getattr(measured, name))}
        for name, (title, meaning) in MEANINGS.items()
    ]
    return {
        "pairs": measured.pairs,
        "verdicts": measured.verdicts,
        "prevalence": measured.prevalence,
        "figures": figures,
    }


def _annotators(
    verdicts: pl.DataFrame,
    counted: pl.DataFrame,
    answers: list[AnnotatorGold],
    again: dict[int, tuple[int, int]],
) -> list[AnnotatorFigures]:
    """A row for everybody who judged, most judgments first; leniency is by verdicts that count."""
    names = dict(
        get_user_model()
        .objects.filter(pk__in=verdicts["annotator"].unique().to_list())
        .values_list("pk", "username")
    )
    lenient: dict[int, Any] = {row.pop("annotator"): row for row in leniency(counted).to_dicts()}
    share = _share(int(counted["relevant"].sum() or 0), counted["relevant"].drop_nulls().len())
    gold = {row.annotator_id: row for row in answers}
    judged = set(verdicts["annotator"].unique().to_list())
    rows = [_nothing_judged(row) for key, row in gold.items() if key not in judged]
    for (key,), own in verdicts.group_by("annotator"):
        relevant = own["relevant"].drop_nulls()
        yes = int(relevant.sum())
        low, high = wilson(yes, relevant.len()) if relevant.len() else (None, None)
        timed = own.drop_nulls(["active_ms", "relevant"]).select("active_ms", "characters")
        rows.append(
            {
                "username": names[key],
                "verdicts": own.height,
                "set_aside": int(own["set_aside"].sum()),
                "relevant": yes,
                "not_relevant": relevant.len() - yes,
                "cannot_judge": own.height - relevant.len(),
                "share": _share(yes, relevant.len()),
                "share_low": low,
                "share_high": high,
                "leniency": lenient.get(key),
                "streak": longest_streak(relevant.to_list(), share if share is not None else 0.5),
                "speed": speed(timed["active_ms"].to_list(), timed["characters"].to_list()),
                "last_at": own.select(pl.col("at").max()).item(),
                "gold": _gold_of(gold[key]) if key in gold else None,
                "again": _again_of(*again[key]) if key in again else None,
            }
        )
    return sorted(rows, key=lambda row: (-row["verdicts"], row["username"]))


def _nothing_judged(row: AnnotatorGold) -> AnnotatorFigures:
    """The row of somebody of whom there are only answers to gold questions."""
    return {
        "username": row.username,
        "verdicts": 0,
        "set_aside": 0,
        "relevant": 0,
        "not_relevant": 0,
        "cannot_judge": 0,
        "share": None,
        "share_low": None,
        "share_high": None,
        "leniency": None,
        "last_at": None,
        "streak": longest_streak((), 0.5),
        "speed": speed((), ()),
        "gold": _gold_of(row),
        "again": None,
    }


def _again_of(same: int, answers: int) -> AgainFigures:
    """Self-consistency: how often somebody said of a pair shown again what they had said before."""
    return {"answers": answers, "same": same, "share": same / answers, "interval": wilson(same, answers)}


def _gold_of(row: AnnotatorGold) -> GoldFigures:
    score = row.score
    relevant = score.relevant_right, score.relevant_right + score.relevant_wrong
    others = score.not_relevant_right, score.not_relevant_right + score.not_relevant_wrong
    return {
        "answers": score.answers,
        "relevant_answers": relevant[1],
        "not_relevant_answers": others[1],
        "sensitivity": score.sensitivity,
        "sensitivity_interval": wilson(*relevant) if relevant[1] else None,
        "specificity": score.specificity,
        "specificity_interval": wilson(*others) if others[1] else None,
        "balanced_accuracy": score.balanced_accuracy,
        "balanced_interval": _balanced_interval(score.balanced_accuracy, relevant, others),
        "cannot_judge": row.cannot_judge,
        "advice": str(row.advice),
    }


def _balanced_interval(
    balanced: float | None, relevant: tuple[int, int], others: tuple[int, int]
) -> tuple[float, float] | None:
    """95 % for the mean of two shares from their Wilson intervals (Zou and Donner, 2008: square and add)."""
    if balanced is None:
        return None
    below, above = 0.0, 0.0
    for right, answers in (relevant, others):
        low, high = wilson(right, answers)
        below += (right / answers - low) ** 2
        above += (high - right / answers) ** 2
    return balanced - below**0.5 / 2, balanced + above**0.5 / 2


def _hard_queries(counted: pl.DataFrame) -> list[HardQuery]:
    rows = hard_queries(counted).head(HARD_QUERIES).to_dicts()
    queries = Query.objects.filter(pk__in=[row["query_id"] for row in rows])
    texts = {pk: (name, text) for pk, name, text in queries.values_list("pk", "external_id", "text")}
    return [
        {
            "query_id": texts[row["query_id"]][0],
            "verdicts": row["verdicts"],
            "cannot_judge": row["cannot_judge"],
            "share": row["share"],
            "is_bad": row["is_bad"],
            "text": texts[row["query_id"]][1],
        }
        for row in rows
    ]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
