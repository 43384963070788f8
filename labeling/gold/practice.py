"""The practice round: questions with known answers before the first item, each explained after the verdict.

An answer is a verdict like any other, an event that never counts; practice has no part in anybody's score.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from labeling.items.withdrawn import THERE
from labeling.models import Bookmark, GoldQuestion, Item, Judgment, Queue

Pair = tuple[int, int]


@dataclass(frozen=True)
class PracticeRound:
    total: int
    answered: int
    next: Item | None


def practice_round(queue: Queue, annotator: User) -> PracticeRound:
    """Somebody's place in the practice round of a queue; everybody gets the same questions."""
    questions = questions_of_round(queue)
    answered = _judged(queue, annotator) & questions.keys()
    waiting = [pair for pair in questions if pair not in answered]
    item = _item(queue, waiting[0]) if waiting else None
    return PracticeRound(len(questions), len(answered), item)


def is_practice_due(bookmark: Bookmark) -> bool:
    """Practice comes next, unless somebody has begun; the bookmark is locked, and notes when none is due."""
    queue = bookmark.queue
    if bookmark.practised or not queue.practice_count:
        return False
    begun = bookmark.stretch > 0
    if not begun and practice_round(queue, bookmark.annotator).next:
        return True
    bookmark.practised = True
    Bookmark.objects.filter(pk=bookmark.pk).update(practised=True)
    return False


def questions_of_round(queue: Queue) -> dict[Pair, GoldQuestion]:
    """The round's questions by pair, relevant and not relevant ones in turn as far as both last."""
    if not queue.practice_count:
        return {}
    questions = GoldQuestion.objects.filter(
        collection=queue.collection_id, practice=True, active=True, **THERE
    )
    ranked, seen = [], {"relevant": 0, "not_relevant": 0}
    for question in questions.order_by("pk"):
        seen[question.answer] += 1
        ranked.append((seen[question.answer], question.pk, question))
    ranked.sort()
    chosen = [question for *_, question in ranked[: queue.practice_questions]]
    return {(question.query_id, question.document_id): question for question in chosen}


def _judged(queue: Queue, annotator: User) -> set[Pair]:
    own = Judgment.objects.filter(
        annotator=annotator, query__gold_questions__practice=True, collection=queue.collection_id
    )
    return set(own.values_list("query_id", "document_id"))


def _item(queue: Queue, pair: Pair) -> Item | None:
    items = queue.items.filter(query=pair[0], document=pair[1])
    return items.select_related("query", "document", "queue__collection").first()
