"""Pairs that could be gold questions, the best first: see `labeling/gold_pages/separation.py`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet
from django.db.models.functions import Left

from labeling.adjudication.rules import BY_RULE
from labeling.gold.questions import checked_reason, follow_gold, write_down
from labeling.gold_pages.answers import careful_chances
from labeling.gold_pages.separation import Vote, separation
from labeling.items.passages import term_marks
from labeling.models import DeclinedSuggestion, GoldQuestion, Judgment, Verdict
from labeling.models.words import SAME_PAIR, THERE
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.texts.importing import lock
from pooling.texts.word_forms import WordForms, unspaced_pairs

LEAST_UNANIMOUS = 2
#: The unanimous pairs with most votes, and as many settled last, are ranked.
CONSIDERED = 200
#: Characters of a text in which the words of the query are looked for.
READ = 5_000
UNANIMOUS, SETTLED = GoldQuestion.Origin.UNANIMOUS, GoldQuestion.Origin.SETTLED

Pair = tuple[int, int]


@dataclass(frozen=True)
class Proposal:
    """A pair that could be a gold question with this answer; `votes` counts the verdicts that agree with it.

    `separation` is what an answer is expected to tell of its author. `reason` is kept with the question where
    nobody gives another.
    """

    query: int
    document: int
    query_id: str
    query_text: str
    document_id: str
    title: str
    answer: str
    origin: str
    votes: int
    separation: float
    reason: str

    @property
    def pk(self) -> str:
        return f"{self.query}:{self.document}"

    @property
    def origin_in_words(self) -> str:
        return "unanimous" if self.origin == UNANIMOUS else "adjudicated"


def suggestions(collection: Collection) -> QuerySet[Any]:
    """Pairs that at least two people judged and all alike, as dictionaries with `answer` and `votes`.

    The pairs with most votes first; without gold questions and what was declined. Gold answers and
    judgments in quarantine do not count.
    """
    pairs: QuerySet[Any] = (
        _open(collection)
        .values(*_FIELDS)
        .annotate(votes=Count("pk"), kinds=Count("verdict", distinct=True), answer=Max("verdict"))
        .filter(votes__gte=LEAST_UNANIMOUS, kinds=1)
        .exclude(answer=Verdict.CANNOT_JUDGE)
        .order_by("-votes", "query__external_id", "document__external_id")
    )
    return pairs


def proposals(collection: Collection, *, only: Iterable[Pair] | None = None) -> list[Proposal]:
    """The pairs that could be gold questions, best first; with `only`, those of them."""
    unanimous, settled = suggestions(collection), _settled(collection)
    if only is not None:
        chosen = set(only)
        near = {
            "query__in": {query for query, _ in chosen},
            "document__in": {document for _, document in chosen},
        }
        unanimous, settled = unanimous.filter(**near), settled.filter(**near)
    by_pair: dict[Pair, tuple[dict[str, Any], str]] = {}
    for rows, origin in ((settled, SETTLED), (unanimous, UNANIMOUS)):
        for row in rows[:CONSIDERED] if only is None else rows:
            by_pair.setdefault((row["query"], row["document"]), (row, origin))
    if only is not None:
        by_pair = {pair: one for pair, one in by_pair.items() if pair in chosen}
    ranked = _ranked(collection, by_pair)
    return sorted(ranked, key=lambda one: (-one.separation, -one.votes, one.query_id, one.document_id))


def accept_proposals(
    collection: Collection,
    pairs: Iterable[Pair],
    *,
    user: User | None = None,
    reason: str = "",
    practice: bool = False,
) -> int:
    """Make those of `pairs` gold questions that are proposed; returns how many."""
    checked_reason(reason)
    with transaction.atomic():
        lock(collection)
        made = GoldQuestion.objects.bulk_create(
            GoldQuestion(
                collection=collection,
                query_id=one.query,
                document_id=one.document,
                answer=one.answer,
                reason=reason.strip() or one.reason,
                practice=practice,
                origin=one.origin,
                created_by=user,
            )
            for one in proposals(collection, only=pairs)
        )
        follow_gold(collection)
        write_down("made", made, user, use="for practice" if practice else "hidden in judging")
    return len(made)


def decline_proposals(collection: Collection, pairs: Iterable[Pair], *, user: User | None = None) -> int:
    """Never propose those of `pairs` again that are proposed now; returns how many."""
    declined = DeclinedSuggestion.objects.bulk_create(
        (
            DeclinedSuggestion(query_id=one.query, document_id=one.document, declined_by=user)
            for one in proposals(collection, only=pairs)
        ),
        ignore_conflicts=True,
    )
    return len(declined)


def pairs_named(words: Iterable[str]) -> list[Pair]:
    """The pairs of a form, each the keys of query and document with a colon between; others are left out."""
    pairs = []
    for word in words:
        query, _, document = word.partition(":")
        if all(key.isascii() and key.isdigit() and len(key) <= 18 for key in (query, document)):
            pairs.append((int(query), int(document)))
    return pairs


def set_size(text: str, most: int) -> int:
    """Size of a balanced set; `InputError` for what is no such number."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:9]) <= most:
        raise InputError(f"A set has 1 to {most:,} questions, not “{text}”.", field="set")
    return int(text)


_FIELDS = (
    "query",
    "document",
    "query__external_id",
    "query__text",
    "document__external_id",
    "document__title",
)


def _open(collection: Collection) -> QuerySet[Judgment]:
    rows = Judgment.objects.counted().filter(collection=collection, **THERE)
    rows = rows.exclude(Exists(GoldQuestion.objects.filter(**SAME_PAIR)))
    return rows.exclude(Exists(DeclinedSuggestion.objects.filter(**SAME_PAIR)))


def _settled(collection: Collection) -> QuerySet[Any]:
    """The latest adjudicator's verdict on each pair, the last settled first."""
    later = Judgment.objects.counted().filter(event__gt=OuterRef("event"), is_adjudication=True, **SAME_PAIR)
    rows = _open(collection).filter(is_adjudication=True).exclude(verdict=Verdict.CANNOT_JUDGE)
    settlements: QuerySet[Any] = rows.exclude(Exists(later)).order_by("-event")
    return settlements.values(*_FIELDS, answer=F("verdict"), note=F("event__note"))


def _ranked(collection: Collection, by_pair: dict[Pair, tuple[dict[str, Any], str]]) -> list[Proposal]:
    queries, documents = {query for query, _ in by_pair}, {document for _, document in by_pair}
    judged = Judgment.objects.opinions().filter(query__in=queries, document__in=documents)
    careful, forms = careful_chances(collection), WordForms(collection.language)
    verdicts: defaultdict[Pair, list[tuple[str, int]]] = defaultdict(list)
    for query, document, verdict, annotator in judged.values_list(
        "query_id", "document_id", "verdict", "annotator_id"
    ):
        verdicts[query, document].append((verdict, annotator))
    texts = dict(
        collection.documents.filter(pk__in=documents).values_list("pk", Left("text", READ)).iterator()
    )
    ranked = []
    for pair, (row, origin) in by_pair.items():
        answer = str(row["answer"])
        votes = [Vote(verdict == answer, careful[annotator]) for verdict, annotator in verdicts[pair]]
        share = _share_of_words(
            forms, row["query__text"], f"{row['document__title']} {texts.get(pair[1]) or ''}"
        )
        by_words = share if answer == Verdict.RELEVANT else 1 - share
        agreeing = sum(vote.is_right for vote in votes)
        ranked.append(
            Proposal(
                *pair,
                query_id=row["query__external_id"],
                query_text=row["query__text"],
                document_id=row["document__external_id"],
                title=row["document__title"],
                answer=answer,
                origin=origin,
                votes=agreeing,
                separation=separation(votes, by_words),
                reason=_reason(row, agreeing),
            )
        )
    return ranked


def _reason(row: dict[str, Any], agreeing: int) -> str:
    """The reason that practice tells annotators: never the note of a rule, which names people."""
    if "note" not in row:
        return f"{agreeing} people judged it, all alike."
    note = row["note"].strip()
    return note if note and not note.startswith(BY_RULE) else "An admin settled it."


def _share_of_words(forms: WordForms, query: str, text: str) -> float:
    """The share of the query's words that the text has; half where the query has none."""
    wanted = forms.looked_for(query)
    if not wanted:
        return 0.5
    there: set[str] = set()
    for start, end in term_marks(query, text, forms):
        there |= {forms.stem(text[start:end]), *unspaced_pairs(text[start:end])}
    return len(there & wanted) / len(wanted)
