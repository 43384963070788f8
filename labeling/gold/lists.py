from __future__ import annotations

from labeling.gold.scores import GoldAnswer
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table


def _seconds(answer: GoldAnswer) -> float | None:
    return answer.seconds


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
