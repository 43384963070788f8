"""The card a report opens with: the answer in words, one small picture, and the next step with its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.comparisons.page import signed, span
from evaluation.comparisons.stored import answer_at
from evaluation.models import Report
from evaluation.scoring.wording import decimal, interval
from labeling.progress.experience import seconds_taken
from pooling.formats.wording import counted

if TYPE_CHECKING:
    from evaluation.comparisons.answer import Answer, Rival

SECONDS_PER_HOUR, SECONDS_PER_MINUTE = 3_600, 60
# A difference is drawn on a scale that ends at least so far from 0.
LEAST_REACH = 0.05


@dataclass(frozen=True)
class AnswerCard:
    """The answer as the page words it. bar: places of 0, interval and difference on a scale of 100 units, as
    attributes of an SVG; takes: how long the next step takes, where the pace of judging is known."""

    answer: Answer
    recall: str
    against: str
    bar: dict[str, str] | None
    takes: str


def answer_card(report: Report, k: int) -> AnswerCard | None:
    """None where recall is undefined."""
    answer = answer_at(report, k)
    if answer is None:
        return None
    recall = f"{decimal(answer.recall)}{interval({'low': answer.low, 'high': answer.high})}"
    rival = answer.rival
    return AnswerCard(
        answer,
        recall,
        "" if rival is None else _against(rival),
        None if rival is None else _bar(rival),
        _takes(report, answer),
    )


def _against(rival: Rival) -> str:
    """The difference with its interval and p-value."""
    p_value = "" if rival.p_value is None else f" · p = {rival.p_value:.2g}"
    pairs = f" ({counted(rival.pairs, 'pair')})" if p_value and rival.pairs > 1 else ""
    return f"{signed(rival.difference)} {span(rival.low, rival.high)} over {rival.run}{p_value}{pairs}"


def _bar(rival: Rival) -> dict[str, str] | None:
    if rival.low is None or rival.high is None:
        return None
    reach = max(LEAST_REACH, abs(rival.low), abs(rival.high))
    places = {"low": rival.low, "high": rival.high, "mean": rival.difference}
    return {name: f"{50 + 50 * place / reach:.1f}" for name, place in places.items()}


def _takes(report: Report, answer: Answer) -> str:
    """The time of a person who judges what is to be judged, at the pace of this collection."""
    if answer.next is None or answer.next.kind != "judge":
        return ""
    pace = seconds_taken(report.collection)
    if pace is None:
        return ""
    seconds = pace * answer.next.count
    if seconds >= SECONDS_PER_HOUR:
        return f"about {counted(round(seconds / SECONDS_PER_HOUR), 'hour')}"
    return f"about {counted(max(1, round(seconds / SECONDS_PER_MINUTE)), 'minute')}"
