from __future__ import annotations

from django.db.models import Q

from labeling.gold_pages.answers import NOBODY, records
from labeling.gold_pages.proposals import Proposal
from labeling.models import GoldQuestion
from pooling.tables.columns import BulkAction, Choice, Column, Empty, Filter
from pooling.tables.table import Table


def _answer(question: GoldQuestion) -> str:
    return question.get_answer_display().lower()


def _use(question: GoldQuestion) -> str:
    if not question.active:
        return "not in use"
    return "practice" if question.practice else "hidden"


def _origin(question: GoldQuestion) -> str:
    return question.get_origin_display().lower()


def fetch_records(questions: list[GoldQuestion]) -> None:
    """Give each question its `record`: how it was answered; in one statement for all."""
    if questions:
        by_question = records(questions[0].collection)
        for question in questions:
            question.record = by_question.get(question.pk, NOBODY)  # type: ignore[attr-defined]


def _proposed_answer(proposal: Proposal) -> str:
    return "relevant" if proposal.answer == "relevant" else "not relevant"


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
        Column("missed", "Missed", "record", sort=False, template="labeling/_gold_missed.html"),
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
    actions=(BulkAction("edit", "Change these", "gold_edit"),),
    prepare=fetch_records,
    empty=Empty("None yet. Mark a pair below, or import a file."),
)
PROPOSALS = Table(
    "gold-proposals",
    "proposal",
    columns=(
        Column("document_id", "Document", natural=True, template="labeling/_gold_proposed_document.html"),
        Column("query_id", "Query", natural=True, template="labeling/_gold_proposed_query.html"),
        Column("answer", "Answer", _proposed_answer),
        Column("separation", "Separation", number=True, decimals=2),
        Column("votes", "Agree", number=True),
        Column("origin", "From", "origin_in_words", style="quiet"),
        Column(
            "make", "Make it one", "pk", sort=False, fixed=True, template="labeling/_gold_make_proposed.html"
        ),
    ),
    sort="",
    search=("query_id", "query_text", "document_id", "title"),
    search_hint="Query or document",
    filters=(
        Filter(
            "answer",
            "Answer",
            (
                Choice("all", "All"),
                Choice("relevant", "Relevant", lambda one: one.answer == "relevant"),
                Choice("not_relevant", "Not relevant", lambda one: one.answer != "relevant"),
            ),
            default="all",
        ),
    ),
    actions=(BulkAction("decide", "Make gold, or decline", "gold_decide"),),
    choose="pair",
    empty=Empty("No proposals: they appear when two people judge a pair and agree, or an admin settles one."),
)
ANSWERS_TO = Table(
    "answers-to-gold",
    "answer",
    columns=(
        Column("name", "Who", style="id"),
        Column("verdict", "Answer given", "verdict_in_words", template="labeling/_gold_given.html"),
        Column("when", "When", to_the_minute=True, style="quiet"),
    ),
    sort="-when",
    empty=Empty("Nobody was asked in judging yet."),
)
