"""The card a report opens with: the answer in words, one small picture, and the next step with its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluation.comparisons.next_step import NextMove, next_move
from evaluation.comparisons.results_table import Earlier, change_in_words
from evaluation.comparisons.stored import answer_at, compared
from evaluation.comparisons.wording import difference_in_words
from evaluation.fact_reports.stored import facts_in
from evaluation.models import Report
from evaluation.report_store.files import usual_cutoff
from evaluation.scoring.wording import decimal, interval
from pooling.formats.wording import counted

if TYPE_CHECKING:
    from evaluation.comparisons.answer import Answer, Rival
    from evaluation.scoring.estimate_figures import Estimates

# A difference is drawn on a scale that ends at least so far from 0.
LEAST_REACH = 0.05


@dataclass(frozen=True)
class AnswerCard:
    """The answer as the page words it. bar: places of 0, interval and difference on a scale of 100 units, as
    attributes of an SVG. covered: what is judged, and what of the relevant documents was seen. facts: fact
    recall of the run with its bounds. since: the change against an earlier report. move: the next step.
    can_compare: whether the comparison has a page."""

    answer: Answer
    recall: str
    against: str
    bar: dict[str, str] | None
    covered: str
    facts: str = ""
    since: str = ""
    since_name: str = ""
    move: NextMove | None = None
    can_compare: bool = False


def answer_card(report: Report, k: int) -> AnswerCard | None:
    """What anyone may see of it; None where recall is undefined."""
    answer = answer_at(report, k)
    if answer is None:
        return None
    recall = f"{decimal(answer.recall)}{interval({'low': answer.low, 'high': answer.high})}"
    rival = answer.rival
    return AnswerCard(
        answer,
        recall,
        "" if rival is None else difference_in_words(rival),
        None if rival is None else _bar(rival),
        _covered(report, answer),
        _facts(report, answer),
    )


def full_card(report: Report, k: int, earlier: Earlier | None) -> AnswerCard | None:
    """The card for members: with the change since an earlier report, and the next step."""
    card = answer_card(report, k)
    if card is None:
        return None
    answer, rival = card.answer, card.answer.rival
    found = None if rival is None else compared(report)
    earlier = earlier if answer.k == k else None
    before = None if earlier is None else earlier.means.get(answer.run)
    return AnswerCard(
        answer,
        card.recall,
        card.against,
        card.bar,
        card.covered,
        card.facts,
        since="" if before is None else change_in_words(answer.recall - before),
        since_name="" if earlier is None else earlier.name,
        move=next_move(report, answer) if answer.k == usual_cutoff(report.options["k"]) else None,
        can_compare=found is not None and rival is not None and {answer.run, rival.run} <= set(found.runs),
    )


def _bar(rival: Rival) -> dict[str, str] | None:
    if rival.low is None or rival.high is None:
        return None
    reach = max(LEAST_REACH, abs(rival.low), abs(rival.high))
    places = {"low": rival.low, "high": rival.high, "mean": rival.difference}
    return {name: f"{50 + 50 * place / reach:.1f}" for name, place in places.items()}


def _facts(report: Report, answer: Answer) -> str:
    """Fact recall of the answer's run, and between what it can lie."""
    facts = facts_in(report)
    figure = facts["runs"][answer.run].get(f"fact_recall@{answer.k}") if facts else None
    if facts is None or figure is None or figure["mean"] is None:
        return ""
    between = f"{decimal(figure['bound_low'])} to {decimal(figure['bound_high'])}"
    return (
        f"Fact recall@{answer.k} of {answer.run} is {decimal(figure['mean'])}, whatever the unjudged pairs "
        f"are between {between}: {counted(facts['counts']['facts'], 'fact')} of "
        f"{counted(facts['counts']['queries'], 'query')}."
    )


def _covered(report: Report, answer: Answer) -> str:
    """Coverage in one figure, and how many relevant documents there may be, by the audit or the runs."""
    told = []
    if answer.judged is not None:
        told.append(f"{100 * answer.judged:.0f} % of the first {answer.k} of {answer.run} judged")
    if answer.rival is not None and answer.rival.unjudged:
        documents = counted(answer.rival.unjudged, "unjudged document")
        told.append(f"{documents} could move the difference")
    estimates: Estimates | None = report.result.get("estimates")
    relevant, floor = (estimates["relevant"], estimates["floor"]) if estimates else (None, None)
    if relevant is not None and relevant["value"] is not None:
        about, seen = f"about {relevant['value']:,.0f}", f"{relevant['seen']:,} seen"
        told.append(f"{about} relevant documents in the pool, {seen} (from the audit)")
    elif floor is not None and floor["total"] is not None and floor["total"] > floor["seen"] + 0.5:
        told.append(
            f"at least {floor['total']:,.0f} relevant documents down to rank {floor['depth']}, "
            f"{floor['seen']:,} seen"
        )
    return " · ".join(told)
