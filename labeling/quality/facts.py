"""How good the judgments of a queue are, as page, HTTP interface and command get it. Loads nothing heavy.

Shares are 0 to 1, null where there is nothing to divide by; intervals are of 95 %.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TypedDict


class AgreementFigure(TypedDict):
    """A coefficient with its name, what it means, and its interval; or null and why."""

    name: str
    title: str
    meaning: str
    value: float | None
    low: float | None
    high: float | None
    why: str


class AgreementFigures(TypedDict):
    """Agreement on the pairs that two or more people judged; prevalence: share of relevant among these."""

    pairs: int
    verdicts: int
    prevalence: float | None
    figures: list[AgreementFigure]


class Leniency(TypedDict):
    """How much more often somebody says relevant than others do on the same pairs."""

    pairs: int
    queries: int
    own: float
    others: float
    difference: float
    low: float | None
    high: float | None


class StreakFigures(TypedDict):
    """The longest run of one verdict, how likely so long a one is by chance, and whether that is odd."""

    length: int
    relevant: bool | None
    chance: float
    is_odd: bool


class SpeedFigures(TypedDict):
    """Middle active time; how many of the `recent` and of the `timed` verdicts were faster than anybody can
    read, and whether these are too many: of the recent, or of either."""

    median_ms: float | None
    recent: int
    too_fast: int
    timed: int
    all_too_fast: int
    has_collapsed: bool
    is_implausible: bool


class GoldFigures(TypedDict):
    """Answers to gold questions, how many were right by kind, and what the rule advises."""

    answers: int
    relevant_answers: int
    not_relevant_answers: int
    sensitivity: float | None
    sensitivity_interval: tuple[float, float] | None
    specificity: float | None
    specificity_interval: tuple[float, float] | None
    balanced_accuracy: float | None
    balanced_interval: tuple[float, float] | None
    cannot_judge: int
    advice: str


class AgainFigures(TypedDict):
    """How often somebody said of a pair shown again what they had said before."""

    answers: int
    same: int
    share: float
    interval: tuple[float, float]


class AnnotatorFigures(TypedDict):
    """Verdicts of somebody by kind, `set_aside` of them in quarantine, and what they show."""

    username: str
    verdicts: int
    set_aside: int
    relevant: int
    not_relevant: int
    cannot_judge: int
    share: float | None
    share_low: float | None
    share_high: float | None
    leniency: Leniency | None
    streak: StreakFigures
    speed: SpeedFigures
    last_at: datetime | None
    gold: GoldFigures | None
    again: AgainFigures | None


class AnnotatorQuality(AnnotatorFigures):
    """The same, and whether somebody is paused."""

    is_paused: bool


class PlaceFigures(TypedDict):
    """The share of relevant at some places in a session; `last` is null in the open group."""

    first: int
    last: int | None
    verdicts: int
    share: float | None
    low: float | None
    high: float | None


class DayFigures(TypedDict):
    """Verdicts that stand by the day they were given on, with how many people gave them."""

    day: date
    verdicts: int
    annotators: int
    median_seconds: float | None


class HardQuery(TypedDict):
    """A query that could not be judged, and how often."""

    query_id: str
    verdicts: int
    cannot_judge: int
    share: float
    is_bad: bool
    text: str


class VerdictFigures(TypedDict):
    """What is computed from all verdicts of a queue.

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
    """A sentence of the verdict. about: agreement, annotators, speed or waiting; grade: good, unsure, poor or
    none (nothing to tell it from); who: whom it names."""

    about: str
    grade: str
    text: str
    who: list[str]


class QueueQuality(TypedDict):
    """Everything the quality page shows; `annotators` has everybody with all they judged here, `verdict` the
    sentences it begins with, and `waiting` counts the pairs that wait for a decision."""

    queue: int
    name: str
    computed_at: datetime
    verdict: list[Finding]
    waiting: int
    verdicts: int
    set_aside: int
    cannot_judge: int
    relevant: int
    agreement: AgreementFigures
    annotators: list[AnnotatorQuality]
    by_position: list[PlaceFigures]
    per_day: list[DayFigures]
    hard_queries: list[HardQuery]
