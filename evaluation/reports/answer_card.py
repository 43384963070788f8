"""The card a report opens with: the answer in words, one small picture, and the next step with its price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.comparisons.answer import Answer, Rival, estimated_frame
from evaluation.comparisons.next_step import NextMove, estimate_move, next_move
from evaluation.comparisons.results_table import Earlier, change_in_words
from evaluation.comparisons.stored import answer_at, compared
from evaluation.comparisons.wording import (
    difference_in_words,
    frame_in_words,
    of_relevant_so_far,
    recall_read_first,
    what_recall_is_of,
)
from evaluation.failures.stored_facts import facts_in
from evaluation.models import Report
from evaluation.report_store.options import UNWEIGHTED, headline_k
from evaluation.report_store.settings import outside_draw, weights_in_words
from evaluation.scoring.estimate_figures import COMPLETE, LABELS, Estimates
from evaluation.scoring.wording import decimal, first_places, share_in_words
from pooling.formats.wording import counted

# A difference is drawn on a scale that ends at least so far from 0.
LEAST_REACH = 0.05


@dataclass(frozen=True)
class AnswerCard:
    """The answer as the page words it.

    recall: the number, or the span, that is read first; of: what it is a recall of; context: what stands
    next to it. bar: places of 0, interval and difference on a scale of 100 units, as attributes of an SVG.
    covered: what is judged, and what of the relevant documents was seen. weights: how drawn queries count, a
    sentence each. facts: fact recall of the run with its bounds. since: the change against an earlier report.
    move: the next step; rest: how to estimate what was not found.
    can_compare: whether the comparison has a page."""

    answer: Answer
    recall: str
    of: str
    context: str
    against: str
    bar: dict[str, str] | None
    covered: str
    facts: str = ""
    weights: Sequence[str] = ()
    since: str = ""
    since_name: str = ""
    move: NextMove | None = None
    rest: NextMove | None = None
    can_compare: bool = False


def answer_card(report: Report, k: int) -> AnswerCard | None:
    """The part of the answer for anyone; None where recall is undefined."""
    answer = answer_at(report, k)
    if answer is None:
        return None
    rival = answer.rival
    return AnswerCard(
        answer,
        *_recall(report, answer),
        "" if rival is None else difference_in_words(answer, rival),
        None if rival is None else _bar(rival),
        _covered(report, answer),
        _facts(report, answer),
        weights_in_words(report),
    )


def queries_in_all(report: Report) -> int:
    """The queries that the collection had, of which some had no label."""
    labelled: int = report.result["queries"]["labelled"]
    every: int = report.options["queries"]
    return max(labelled, every)


def of_labels(report: Report) -> str:
    """Recall by the labels at hand, in words; empty where these are declared complete."""
    answer = answer_at(report)
    return "" if answer is None or answer.basis == COMPLETE else of_relevant_so_far(answer)


def full_card(report: Report, k: int, earlier: Earlier | None) -> AnswerCard | None:
    """The card for members: with the change since an earlier report, and the next step."""
    card = answer_card(report, k)
    if card is None:
        return None
    answer, rival = card.answer, card.answer.rival
    comparisons = None if rival is None else compared(report)
    earlier = earlier if answer.k == k else None
    # What was found is compared with what was found; an estimate of then is on the page of that report.
    now, before = answer.found["recall"], None if earlier is None else earlier.means.get(answer.run)
    return AnswerCard(
        answer,
        card.recall,
        card.of,
        card.context,
        card.against,
        card.bar,
        card.covered,
        card.facts,
        card.weights,
        since=""
        if before is None or now is None
        else change_in_words(now - before, by_labels=earlier is not None and bool(earlier.others)),
        since_name=_since(earlier),
        move=next_move(report, answer) if answer.k == headline_k(report.options) else None,
        rest=estimate_move(report, answer),
        can_compare=comparisons is not None
        and rival is not None
        and {answer.run, rival.run} <= set(comparisons.runs),
    )


def _recall(report: Report, answer: Answer) -> tuple[str, str, str]:
    first, of = recall_read_first(answer), what_recall_is_of(answer)
    if answer.basis == LABELS:
        bounds = report.result["runs"][answer.run][f"recall@{answer.k}"]["bounds"]
        between = "–".join(decimal(bound) for bound in bounds)
        return first, of, f"{between} whatever the unjudged documents of pool and runs are"
    beside = f"{decimal(answer.found['recall'])} {of_relevant_so_far(answer)}"
    return first, of, "" if answer.basis == COMPLETE else beside


def estimated_caption(report: Report) -> str:
    """What a curve of recall by the audit is of, and what its bands cover."""
    estimates: Estimates = report.result["estimates"]
    level = share_in_words(report.result["conventions"]["interval"]["level"])
    answer = answer_at(report)
    is_micro = answer is not None and answer.average == "micro"
    return (
        f"Recall {frame_in_words(estimated_frame(estimates))}, as the audit estimates it"
        f"{', over all relevant documents at once' if is_micro else ''}, with its {level} interval, which "
        "covers the choice of queries and of the documents drawn."
    )


def _since(earlier: Earlier | None) -> str:
    if earlier is None:
        return ""
    return f"{earlier.name}, of what was found" + (f", with other {earlier.others}" if earlier.others else "")


def _bar(rival: Rival) -> dict[str, str] | None:
    if rival.low is None or rival.high is None:
        return None
    reach = max(LEAST_REACH, abs(rival.low), abs(rival.high))
    places = {"low": rival.low, "high": rival.high, "mean": rival.difference}
    return {name: f"{50 + 50 * place / reach:.1f}" for name, place in places.items()}


def _facts(report: Report, answer: Answer) -> str:
    facts = facts_in(report)
    figure = facts["runs"][answer.run].get(f"fact_recall@{answer.k}") if facts else None
    if facts is None or figure is None or figure["mean"] is None:
        return ""
    apart = facts["counts"].get("without_judged", 0)
    unjudged = f", {apart:,} of them without a judged pair and in no mean" if apart else ""
    once = (
        ", where each query counts once," if report.options.get("weights", UNWEIGHTED) != UNWEIGHTED else ""
    )
    between = f"between {decimal(figure['bound_low'])} and {decimal(figure['bound_high'])}"
    return (
        f"Fact recall@{answer.k} of {answer.run}{once} is {decimal(figure['mean'])}, {between} whatever "
        f"the unjudged pairs are: {counted(facts['counts']['facts'], 'fact')} of "
        f"{counted(facts['counts']['queries'], 'query')}{unjudged}."
    )


def _covered(report: Report, answer: Answer) -> str:
    parts, counts = [], report.result["queries"]
    if (every := queries_in_all(report)) > counts["scored"]:
        outside = f", {out:,} outside the draw" if (out := outside_draw(report)) else ""
        parts.append(f"{counts['scored']:,} of {counted(every, 'query')} scored{outside}")
    if answer.judged is not None:
        parts.append(f"{100 * answer.judged:.0f} % of the {first_places(answer.k)} of {answer.run} judged")
    if answer.rival is not None and answer.rival.unjudged:
        documents = counted(answer.rival.unjudged, "unjudged document")
        parts.append(f"{documents} could move the difference")
    estimates: Estimates = report.result["estimates"]
    relevant = estimates["relevant"]
    if relevant is not None and relevant["value"] is not None:
        frame = frame_in_words(estimated_frame(estimates))
        parts.append(
            f"{relevant['seen']:,} seen of about {relevant['value']:,.0f} relevant documents {frame}"
        )
    return " · ".join(parts)
