"""Quality of a queue's judgments for page, HTTP interface and command. Loads nothing heavy.

Shares are 0 to 1, null where there is nothing to divide by; intervals are of 95 %.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal, TypedDict

from labeling.quality.monitors import Speed, Streak

Interval = Annotated[tuple[float, float] | None, "95 %."]


class AgreementFigure(TypedDict):
    """A coefficient with its 95 % interval over pairs; null where `why` says so."""

    name: str
    title: str
    meaning: str
    value: float | None
    low: float | None
    high: float | None
    why: str


class AgreementFigures(TypedDict):
    """Agreement on the pairs that two or more people judged."""

    pairs: int
    verdicts: int
    prevalence: Annotated[float | None, "Share of relevant among these verdicts."]
    figures: list[AgreementFigure]


class Leniency(TypedDict):
    """Difference of somebody's share of relevant from that of others on the same pairs."""

    pairs: int
    queries: Annotated[int, "Of these pairs."]
    own: float
    others: float
    difference: float
    low: float | None
    high: float | None


class GoldFigures(TypedDict):
    """Answers to gold questions and what the rule makes of them."""

    answers: int
    relevant_answers: Annotated[int, "To questions whose answer is relevant."]
    not_relevant_answers: int
    sensitivity: float | None
    sensitivity_interval: Interval
    specificity: float | None
    specificity_interval: Interval
    balanced_accuracy: float | None
    balanced_interval: Interval
    cannot_judge: int
    advice: Annotated[str, Literal["continue", "warn", "pause"]]


class AgainFigures(TypedDict):
    """Somebody's verdicts on their own earlier pairs, shown again; without "can't judge"."""

    answers: int
    same: int
    share: float
    interval: Annotated[tuple[float, float], "95 %, Wilson."]


class AnnotatorFigures(TypedDict):
    """One annotator in a queue."""

    username: str
    verdicts: int
    set_aside: Annotated[int, "Those of them in quarantine."]
    relevant: int
    not_relevant: int
    cannot_judge: int
    share: Annotated[float | None, "Of relevant."]
    share_low: float | None
    share_high: float | None
    leniency: Leniency | None
    streak: Streak
    speed: Speed
    last_at: datetime | None
    gold: GoldFigures | None
    again: AgainFigures | None


class AnnotatorQuality(AnnotatorFigures):
    """One annotator in a queue."""

    is_paused: bool


class PlaceFigures(TypedDict):
    """The share of relevant at some places of a session; `last` is null in the open group."""

    first: int
    last: int | None
    verdicts: int
    share: float | None
    low: float | None
    high: float | None


class DayFigures(TypedDict):
    """Verdicts that stand, of one day."""

    day: date
    verdicts: int
    annotators: int
    median_seconds: float | None


class HardQuery(TypedDict):
    """A query that people could not judge."""

    query_id: str
    verdicts: int
    cannot_judge: int
    share: float
    is_bad: bool
    text: str


class VerdictFigures(TypedDict):
    """Figures from all verdicts of a queue.

    `agreement`, `by_position`, `per_day` and `hard_queries` rest on the verdicts that count, without answers
    to gold questions, adjudications and what is in quarantine.
    """

    verdicts: int
    set_aside: int
    cannot_judge: int
    relevant: int
    agreement: AgreementFigures
    annotators: list[AnnotatorFigures]
    by_position: list[PlaceFigures]
    per_day: list[DayFigures]
    hard_queries: list[HardQuery]


class Finding(TypedDict):
    """A sentence on how good the judgments are."""

    about: Annotated[str, Literal["agreement", "annotators", "speed", "waiting"]]
    grade: Annotated[str, Literal["good", "unsure", "poor", "none"]]
    text: str
    who: Annotated[list[str], "Annotators it names."]


class QueueQuality(TypedDict):
    """The quality of the judgments of a queue."""

    queue: int
    name: str
    computed_at: datetime
    verdict: Annotated[list[Finding], "The sentences the page begins with."]
    waiting: Annotated[int, "Pairs that wait for a decision."]
    verdicts: Annotated[int, "That stand, without answers to gold questions."]
    set_aside: int
    cannot_judge: int
    relevant: int
    agreement: AgreementFigures
    annotators: list[AnnotatorQuality]
    by_position: list[PlaceFigures]
    per_day: list[DayFigures]
    hard_queries: list[HardQuery]
