"""Gold questions: storing and changing them, and what follows for the queues.

A pair of a pool that becomes a gold question has its answer as label and is nobody's ordinary work any more.
One that no pool holds gets an item in each queue that hides gold questions among its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, Count, Exists, Q, QuerySet, Value, When
from django.utils import timezone

from labeling.adaptive.reordering import order_anew
from labeling.items.slots import GOLD_STATES, recount
from labeling.models import GoldQuestion, Item, Lease, Queue, Verdict
from labeling.models.words import SAME_PAIR, THERE
from pooling.formats.wording import counted, plural
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Query
from pooling.people.activity_log import record_action
from pooling.texts.importing import lock

ANSWERS = (Verdict.RELEVANT, Verdict.NOT_RELEVANT)
LONGEST_REASON = 2000

Pair = tuple[int, int]


@dataclass(frozen=True)
class GoldBalance:
    """Active questions by answer and use."""

    relevant: int
    not_relevant: int
    practice_relevant: int
    practice_not_relevant: int

    @property
    def is_uneven(self) -> bool:
        """One answer has more than twice the hidden questions of the other."""
        return max(self.relevant, self.not_relevant) > 2 * min(self.relevant, self.not_relevant)


@dataclass(frozen=True)
class NewQuestion:
    """A pair, by the collection's own ids, and its known answer; `practice` keeps it out of the stream."""

    query: str
    document: str
    answer: str
    reason: str = ""
    practice: bool = False


def add_question(collection: Collection, question: NewQuestion, *, user: User | None = None) -> GoldQuestion:
    """Make a pair a gold question; `InputError` for an unknown id or answer, or where it is one already."""
    checked_answer(question.answer)
    checked_reason(question.reason)
    row = GoldQuestion(
        collection=collection,
        query=_row_named(collection.queries.all(), "query", question.query),
        document=_row_named(collection.documents.all(), "document", question.document),
        answer=question.answer,
        reason=question.reason.strip(),
        practice=question.practice,
        created_by=user,
    )
    with transaction.atomic():
        lock(collection)
        if GoldQuestion.objects.filter(query=row.query, document=row.document).exists():
            pair = f"Query {question.query}, document {question.document}"
            problem = f"{pair} is already a gold question. “Change the answer” is on its page."
            raise InputError(problem, field="document", conflict=True)
        row.save()
        follow_gold(collection)
        write_down("made", [row], user, answer=row.answer, use=row.use_in_words)
    return row


def change_question(question: GoldQuestion, *, by: User | None = None, **changes: Any) -> None:
    """Change `answer`, `reason`, `practice` or `active`; scores follow, for they are counted when read."""
    change_questions(question.collection, [question], by=by, **changes)


def change_questions(
    collection: Collection, questions: Sequence[GoldQuestion], *, by: User | None = None, **changes: Any
) -> None:
    """Change many questions of a collection; all of them or none."""
    if "answer" in changes:
        checked_answer(changes["answer"])
    checked_reason(changes.get("reason", ""))
    with transaction.atomic():
        lock(collection)
        for question in questions:
            for name, value in changes.items():
                setattr(question, name, value)
            question.save(update_fields=list(changes))
        follow_gold(collection)
        facts = {"answer": changes["answer"]} if "answer" in changes else {}
        if questions and changes.keys() & {"active", "practice"}:
            facts["use"] = questions[0].use_in_words
        if "reason" in changes:
            facts["reason"] = "changed"
        write_down("changed", questions, by, **facts)


def write_down(deed: str, questions: Sequence[GoldQuestion], by: User | None, **facts: object) -> None:
    if not questions:
        return
    first, count = questions[0], len(questions)
    subject = first.pair_in_words if count == 1 else counted(count, "gold question")
    record_action(first.collection, by, f"{plural(count, 'gold question')} {deed}", subject, **facts)


def gold_balance(collection: Collection) -> GoldBalance:
    hidden, practice = Q(practice=False), Q(practice=True)
    relevant, not_relevant = (Q(answer=answer) for answer in ANSWERS)
    counts = GoldQuestion.objects.filter(collection=collection, active=True).aggregate(
        relevant=Count("pk", filter=hidden & relevant),
        not_relevant=Count("pk", filter=hidden & not_relevant),
        practice_relevant=Count("pk", filter=practice & relevant),
        practice_not_relevant=Count("pk", filter=practice & not_relevant),
    )
    return GoldBalance(**counts)


def follow_gold(collection: Collection) -> None:
    """Let the items of every queue of pairs follow the gold questions; the collection is locked."""
    for queue in collection.queues.filter(kind=Queue.Kind.PAIRS).order_by("pk"):
        follow_gold_in(queue)


def follow_gold_in(queue: Queue) -> None:
    """Let a queue's items follow the gold questions, and count them; leases on what is ordinary now end."""
    wanted = _wanted_states(queue)
    if not wanted:
        return
    items = Item.objects.filter(queue=queue, query__in={query for query, _ in wanted}, repeats=None)
    items = items.filter(Exists(GoldQuestion.objects.filter(**SAME_PAIR)), **THERE).exclude(
        state=Item.State.WITHDRAWN
    )
    gold_items = list(items.order_by("pk").select_for_update(of=("self",), no_key=True))
    changed = []
    for item in gold_items:
        state = wanted.pop((item.query_id, item.document_id))
        if state is None:
            is_ordinary = item.order_key and item.state not in GOLD_STATES
            state = item.state if is_ordinary else Item.State.OPEN if item.order_key else Item.State.ASIDE
        if state != item.state:
            item.state = state
            changed.append(item)
    _store_states(changed)
    _add_items(queue, wanted)
    _count_gold(queue)
    if changed:
        order_anew(queue, {item.query_id for item in changed})


def checked_answer(answer: str) -> None:
    """`InputError` for what is no answer to a gold question."""
    if answer not in ANSWERS:
        problem = f"The answer of a gold question is {' or '.join(ANSWERS)}, not “{answer}”."
        raise InputError(problem, field="answer")


def checked_reason(reason: str) -> None:
    """`InputError` for a reason that is too long or cannot be stored."""
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise InputError(f"A reason has at most {LONGEST_REASON:,} characters and no NUL.", field="reason")


def _row_named(rows: QuerySet[Any], what: str, external_id: str) -> Any:
    row = rows.filter(external_id=external_id).first() if "\0" not in external_id else None
    if row is None:
        raise InputError(f"There is no {what} “{external_id}” in the collection.", field=what)
    return row


def _wanted_states(queue: Queue) -> dict[Pair, str | None]:
    """The state that the item of each question's pair is to have; None for whatever it is without one."""
    state = Case(
        When(active=False, then=Value(None)),
        When(practice=True, then=Value(Item.State.ASIDE.value)),
        default=Value(Item.State.GOLD.value),
    )
    rows = (
        GoldQuestion.objects.filter(collection=queue.collection_id, **THERE)
        .order_by("pk")
        .values_list("query_id", "document_id", state)
    )
    return {(query, document): wanted for query, document, wanted in rows}


def _store_states(items: list[Item]) -> None:
    for item in items:
        # What `recount` compares with is the row: the state alone is written here.
        Item.objects.filter(pk=item.pk).update(state=item.state)
    ordinary = [item for item in items if item.state not in GOLD_STATES]
    Lease.objects.filter(item__in=[item for item in items if item.state != Item.State.GOLD]).delete()
    recount([item for item in items if item.state in GOLD_STATES] + ordinary, timezone.now())


def _add_items(queue: Queue, wanted: dict[Pair, str | None]) -> None:
    """Items for questions whose pair the queue does not hold, where it has a use for them."""
    uses = set()
    if queue.state != Queue.State.CLOSED:
        uses |= {Item.State.GOLD} if _hides_gold(queue) else set()
        uses |= {Item.State.ASIDE} if queue.practice_questions else set()
    at_least, at_most = queue.bounds
    Item.objects.bulk_create(
        (
            Item(
                queue=queue,
                query_id=query,
                document_id=document,
                order_key=0,
                needed=at_least,
                needed_at_least=at_least,
                needed_at_most=at_most,
                state=state,
            )
            for (query, document), state in wanted.items()
            if state in uses
        ),
        batch_size=500,
    )


def _hides_gold(queue: Queue) -> bool:
    return queue.gold_first_share > 0 or queue.gold_share > 0


def _count_gold(queue: Queue) -> None:
    gold = queue.items.filter(state=Item.State.GOLD).count() if _hides_gold(queue) else 0
    practice = 0
    if queue.practice_questions:
        practice = GoldQuestion.objects.filter(
            collection=queue.collection_id, active=True, practice=True, **THERE
        ).count()
    if (gold, practice) != (queue.gold_count, queue.practice_count):
        queue.gold_count, queue.practice_count = gold, practice
        queue.save(update_fields=["gold_count", "practice_count"])


def pair_of(collection: Collection, query: str, document: str) -> tuple[Query, Document]:
    """A pair by the collection's own ids; `InputError` for one it does not have."""
    return (
        _row_named(collection.queries.all(), "query", query),
        _row_named(collection.documents.all(), "document", document),
    )
