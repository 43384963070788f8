"""Answers to practice questions: verdicts like any other, as events that count nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from labeling.gold.practice import questions_of_round
from labeling.items.passages import ENGLISH_FORMS, sentences_in, term_marks
from labeling.judging.flow import reflowed
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import record_judgment
from labeling.models import Item, Judgment, Queue, Verdict
from pooling.interface.problems import InputError
from pooling.texts.word_forms import WordForms, forms_of

# Which passage decides a practice question: what its reason quotes, or the sentence nearest to the query.


# What a reason quotes, in the marks of several languages.
_QUOTED = re.compile(r"[“\"„«‘]([^“”\"„«»‘’]{3,})[”\"“»’]")


def deciding_span(
    text: str, query: str, reason: str, forms: WordForms = ENGLISH_FORMS
) -> tuple[int, int] | None:
    """A half-open span of `text`: the words that `reason` quotes from it, else the sentence that shares most
    words with the query, and of equals the one that shares most with the reason; None if none shares any.

    >>> deciding_span("It rains. The bus leaves at one.", "night bus", "")
    (10, 32)
    """
    for quoted in _QUOTED.findall(reason):
        if (start := text.find(quoted)) >= 0:
            return start, start + len(quoted)
    best: tuple[int, int] | None = None
    most = (0, 0)
    for start, end in sentences_in(text):
        sentence = text[start:end].rstrip()
        shared = (_shared(query, sentence, forms), _shared(reason, sentence, forms))
        if shared > most and (shared[0] or not most[0]):
            best, most = (start, start + len(sentence)), shared
    return best


def _shared(words: str, sentence: str, forms: WordForms) -> int:
    """How many different words of `words` a sentence has."""
    return len({forms.stem(sentence[start:end]) for start, end in term_marks(words, sentence, forms)})


@dataclass(frozen=True)
class PracticeExplanation:
    """Whether a verdict was right, the answer, why, and the span of the text that decides it, if one does."""

    is_right: bool
    answer: str
    reason: str
    passage: tuple[int, int] | None

    @property
    def answer_in_words(self) -> str:
        """The answer as pages say it."""
        return Verdict(self.answer).in_words


@dataclass(frozen=True)
class Practised:
    """A question of the round with what somebody answered."""

    query: str
    title: str
    given: str
    answer: str
    reason: str
    is_right: bool


def answer_practice(
    queue: Queue, annotator: User, submission: Submission, *, now: datetime | None = None
) -> PracticeExplanation:
    """Take a verdict on a question of the round and say what is right, and why.

    `InputError` for an item that is not among the round's questions, and for a verdict that is refused.
    """
    item = (
        Item.objects.filter(pk=submission.item, queue=queue)
        .select_related("query", "document", "queue__collection")
        .first()
    )
    question = questions_of_round(queue).get((item.query_id, item.document_id)) if item else None
    if item is None or question is None:
        raise InputError(
            _("This question is not part of the practice round. Request the next one."), field="item"
        )
    outcome = record_judgment(queue, annotator, replace(submission, practises=True), now=now)
    if outcome.status == "rejected":
        raise InputError(outcome.detail)
    return PracticeExplanation(
        submission.verdict == question.answer,
        question.answer,
        question.reason,
        deciding_span(
            reflowed(item.document.text or ""),
            item.query.text,
            question.reason,
            forms_of(item.queue.collection.language, item.queue.collection.synonyms),
        ),
    )


def practised(queue: Queue, annotator: User) -> list[Practised]:
    """The questions that somebody answered, in the order of the round; two queries."""
    questions = questions_of_round(queue)
    given = Judgment.objects.filter(
        annotator=annotator,
        collection=queue.collection_id,
        query__in={query for query, _ in questions},
        document__in={document for _, document in questions},
    ).select_related("query", "document")
    verdicts = {(row.query_id, row.document_id): row for row in given.defer("document__text")}
    return [
        Practised(
            query=row.query.text,
            title=row.document.title,
            given=Verdict(row.verdict).in_words,
            answer=Verdict(question.answer).in_words,
            reason=question.reason,
            is_right=row.verdict == question.answer,
        )
        for pair, question in questions.items()
        if (row := verdicts.get(pair))
    ]
