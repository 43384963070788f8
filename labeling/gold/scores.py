"""Answers to gold questions in a queue, and the number left for each annotator."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F, Max, QuerySet

from labeling.gold.rule import Advice, Score, advice
from labeling.models import GoldQuestion, Judgment, Quarantine, Queue, Verdict
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table

# With so few questions left for somebody, or none of one answer, it is time for new ones.
LOW_STOCK = 5

NAMES = {
    (Verdict.RELEVANT.value, True): "relevant_right",
    (Verdict.RELEVANT.value, False): "relevant_wrong",
    (Verdict.NOT_RELEVANT.value, True): "not_relevant_right",
    (Verdict.NOT_RELEVANT.value, False): "not_relevant_wrong",
}


@dataclass(frozen=True)
class AnnotatorGold:
    """One annotator's answers in a queue, what the rule makes of them, and the questions left.

    `cannot_judge` counts answers that are neither right nor wrong; `before` those from before the last time
    that the person was restored, which count no more; `left` has the questions never asked, by answer.
    """

    annotator_id: int
    username: str
    score: Score
    cannot_judge: int
    before: int
    left: dict[str, int]
    advice: Advice

    @property
    def is_low(self) -> bool:
        """The questions run out for this person."""
        return sum(self.left.values()) < LOW_STOCK or min(self.left.values()) == 0


def standing_answers(queue: Queue) -> QuerySet[Judgment]:
    """The answers to hidden gold questions that stand, given in this queue.

    The first answer to each counts. Taken back before the next verdict, it was a slip and does not count;
    what is changed later stands as it was: it may have been learned elsewhere.
    """
    return Judgment.objects.answers_to_hidden_gold().filter(event__queue=queue)


def score_of(queue: Queue, annotator: User) -> Score:
    """Somebody's score in a queue, since the last time that they were restored."""
    lifted = Quarantine.objects.filter(queue=queue, annotator=annotator, lifted_at__isnull=False)
    since = lifted.order_by("-lifted_at").values_list("lifted_at", flat=True).first()
    answers = standing_answers(queue).filter(annotator=annotator)
    if since:
        answers = answers.filter(judged_at__gt=since)
    return scored(answers.values_list("verdict", "event__gold__answer"))


def scored(answers: Iterable[tuple[str, str]]) -> Score:
    counts = Counter(
        NAMES[answer, verdict == answer] for verdict, answer in answers if verdict != Verdict.CANNOT_JUDGE
    )
    return Score(**counts)


def gold_rows(queue: Queue) -> list[AnnotatorGold]:
    """Everybody who has answered a gold question in the queue, in four statements however many they are."""
    since = lifted_at(queue)
    answers: defaultdict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
    before: Counter[int] = Counter()
    rows = standing_answers(queue).values_list(
        "annotator_id", "annotator__username", "verdict", "event__gold__answer", "judged_at"
    )
    for annotator, name, verdict, answer, judged_at in rows.iterator():
        restored = since.get(annotator)
        if restored and judged_at <= restored:
            before[annotator] += 1
        answers[annotator, name] += [(verdict, answer)] if not restored or judged_at > restored else []
    stock, used = _stock(queue), _used(queue)
    records = []
    for (annotator, name), given in sorted(answers.items(), key=lambda row: row[0][1]):
        score = scored(given)
        left = {answer: count - used[annotator, answer] for answer, count in stock.items()}
        unable = sum(verdict == Verdict.CANNOT_JUDGE for verdict, _ in given)
        records.append(AnnotatorGold(annotator, name, score, unable, before[annotator], left, advice(score)))
    return records


@dataclass(frozen=True)
class GoldAnswer:
    """Somebody's answer to a gold question, with what is right and why; `counts`: the rule sees it still."""

    query: str
    document: str
    verdict: str
    judged_at: datetime
    answer: str
    reason: str
    active_ms: int | None
    query_text: str
    title: str
    right: bool
    counts: bool

    @property
    def verdict_in_words(self) -> str:
        return str(Verdict(self.verdict).label).lower()

    @property
    def seconds(self) -> float | None:
        return None if self.active_ms is None else self.active_ms / 1000


def gold_answers(queue: Queue, annotator: User) -> list[GoldAnswer]:
    """Somebody's standing answers in a queue, the newest first."""
    since = lifted_at(queue).get(annotator.pk)
    answers = standing_answers(queue).filter(annotator=annotator).order_by("-judged_at", "-pk")
    rows: Any = answers.values_list(
        *("query__external_id", "document__external_id", "verdict", "judged_at"),
        *("event__gold__answer", "event__gold__reason", "event__active_ms"),
        *("query__text", "document__title"),
    )
    return [GoldAnswer(*(*row, row[2] == row[4], since is None or row[3] > since)) for row in rows]


def lifted_at(queue: Queue) -> dict[int, datetime]:
    lifted = Quarantine.objects.filter(queue=queue, lifted_at__isnull=False).order_by()
    return dict(lifted.values_list("annotator_id").annotate(last=Max("lifted_at")))


def _stock(queue: Queue) -> dict[str, int]:
    stock = dict.fromkeys((Verdict.RELEVANT.value, Verdict.NOT_RELEVANT.value), 0)
    questions = GoldQuestion.objects.filter(collection=queue.collection_id, active=True, practice=False)
    stock.update(Counter(questions.values_list("answer", flat=True)))
    return stock


def _used(queue: Queue) -> Counter[tuple[int, str]]:
    judged = Judgment.objects.filter(
        collection=queue.collection_id,
        document__gold_questions__query=F("query"),
        document__gold_questions__active=True,
        document__gold_questions__practice=False,
    )
    return Counter(judged.values_list("annotator_id", "document__gold_questions__answer"))


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
