"""The lists of gold questions, and of what somebody answered to them."""

from __future__ import annotations

from django.db.models import Q

from labeling.gold.scores import GoldAnswer
from labeling.models import GoldQuestion
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table


def _answer(question: GoldQuestion) -> str:
    return question.get_answer_display().lower()


def _use(question: GoldQuestion) -> str:
    if not question.active:
        return "not in use"
    return "practice" if question.practice else "hidden"


def _origin(question: GoldQuestion) -> str:
    return question.get_origin_display().lower()


def _seconds(answer: GoldAnswer) -> float | None:
    return answer.seconds


QUESTIONS = Table(
    "gold",
    "gold question",
    columns=(
        Column(
            "document",
            "Document",
            "document.external_id",
            natural=True,
            template="labeling/_gold_document.html",
        ),
        Column("query", "Query", "query.external_id", natural=True, template="labeling/_gold_query.html"),
        Column("answer", "Answer", _answer, sort="answer"),
        Column("reason", "Reason", template="labeling/_gold_reason.html"),
        Column("use", "Use", _use, sort=False, template="labeling/_gold_use.html"),
        Column("origin", "From", _origin, sort="origin", style="quiet"),
        Column("created", "Added", "created_at", hidden=True, style="quiet"),
        Column("change", "Change", "pk", sort=False, fixed=True, template="labeling/_gold_change.html"),
    ),
    sort="-created",
    search=(
        "query__external_id__icontains",
        "query__text__icontains",
        "document__external_id__icontains",
        "document__title__icontains",
        "reason__icontains",
    ),
    search_hint="Query, document or reason",
    filters=(
        Filter(
            "use",
            "Use",
            (
                Choice("all", "All"),
                Choice("hidden", "Hidden", Q(active=True, practice=False)),
                Choice("practice", "Practice", Q(active=True, practice=True)),
                Choice("out", "Not in use", Q(active=False)),
            ),
            default="all",
        ),
    ),
    anchor="there",
    choose="gold",
    empty=Empty("None yet. Mark a pair below, or import a file."),
)
ANSWERS_GIVEN = Table(
    "gold-answers",
    "answer",
    columns=(
        Column("document", "Document", natural=True, template="labeling/_gold_answer_document.html"),
        Column("query", "Query", natural=True, template="labeling/_gold_answer_query.html"),
        Column("verdict", "Answer given", "verdict_in_words", template="labeling/_gold_answer_given.html"),
        Column("answer", "Correct answer", template="labeling/_gold_answer_right.html"),
        Column("seconds", "Seconds", _seconds, number=True, decimals=1),
        Column("when", "When", "judged_at", to_the_minute=True, style="quiet"),
    ),
    sort="-when",
    search=("document", "query"),
    search_hint="Id of query or document",
    filters=(
        Filter(
            "answered",
            "Answered",
            (
                Choice("all", "All"),
                Choice("right", "Correctly", lambda answer: answer.right),
                Choice("wrong", "Wrongly", lambda answer: not answer.right),
            ),
            default="all",
        ),
    ),
    anchor="answers",
    empty=Empty("No answers yet."),
)
