"""Pre-labels in front of annotators, and the record of who has seen which.

In a blind queue nothing is read and nothing leaves; in one that assists, a proposal goes with the item; in
one that reveals, it comes with the answer to a verdict that it contradicts. Pairs of the control arm stay
blind in every mode. Before anything is handed out it is written down, and from then on anyone who got it has
seen it: what a verdict says of this is the server's word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, TypedDict

from django.contrib.auth.models import User
from django.utils import timezone

from labeling.items.answers import own_answers
from labeling.items.numbers import number_of
from labeling.models import Item, Prelabel, PrelabelMode, PrelabelSeen, PrelabelSight, Queue, Verdict


def is_blind(seed: int, share: float, query: int, document: int) -> bool:
    """True for a pair, by its keys, in the control arm.

    The same seed always draws the same; a larger share adds pairs and takes none away. Nobody without the
    seed can tell which.

    >>> sum(is_blind(7, 0.1, query, document) for query in range(100) for document in range(100))
    981
    """
    pair = f"{query} {document}".encode()
    digest = blake2b(pair, key=seed.to_bytes(8, signed=True), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64


LONGEST_REASONING = 300


class Proposal(TypedDict):
    """A model's proposal for a pair. It fills no slot and never votes."""

    verdict: Annotated[str, {"choices": [Verdict.RELEVANT, Verdict.NOT_RELEVANT]}]
    reasoning: Annotated[str, {"allow_blank": True}]
    model: str


@dataclass(frozen=True)
class Revealed:
    """A pre-label that contradicts a verdict, for the page: what was judged, and what each said, in words."""

    item: int
    version: int | None
    title: str
    verdict: str
    verdict_in_words: str
    prelabel: Proposal
    proposed: str


class SightFacts(TypedDict, total=False):
    prelabel_seen: str
    prelabeler_id: int


def proposals_for(queue: Queue, annotator: User, items: Iterable[Item]) -> dict[int, Proposal]:
    """Proposals shown with these items before a verdict, by the item's key; none unless the queue assists."""
    if queue.prelabel_mode != PrelabelMode.ASSIST:
        return {}
    open_to_it = [item for item in items if not in_control_arm(queue, item)]
    prelabels = {(row.query_id, row.document_id): row for row in _prelabels(queue, open_to_it)}
    hand_out(annotator, list(prelabels.values()), timezone.now())
    pairs = {item.pk: (item.query_id, item.document_id) for item in open_to_it}
    return {item: proposal_of(prelabels[pair]) for item, pair in pairs.items() if pair in prelabels}


def contradicted_by(queue: Queue, item: Item, verdict: str) -> Prelabel | None:
    """The pre-label revealed after a verdict that differs; after gold and repeats too, so as not to tell."""
    if queue.prelabel_mode != PrelabelMode.REVEAL or verdict == Verdict.CANNOT_JUDGE:
        return None
    if in_control_arm(queue, item):
        return None
    return next((row for row in _prelabels(queue, [item]) if row.verdict != verdict), None)


def revealed_to(queue: Queue, annotator: User, key: str) -> Revealed | None:
    """The pre-label revealed after the annotator's verdict of this key, as long as that verdict stands."""
    mine = own_answers(annotator).filter(queue=queue, key=key, prelabel_seen=PrelabelSeen.AFTER)
    answer = mine.select_related("document").first()
    if answer is None:
        return None
    pair = {"query": answer.query_id, "document": answer.document_id}
    rows = Prelabel.objects.filter(prelabeler=answer.prelabeler_id, **pair)
    prelabel = rows.select_related("prelabeler").first()
    if prelabel is None or answer.item_id is None:
        return None
    return Revealed(
        item=number_of(answer.item_id),
        version=answer.document_version,
        title=answer.document.title,
        verdict=answer.verdict,
        verdict_in_words=Verdict(answer.verdict).in_words,
        prelabel=proposal_of(prelabel),
        proposed=Verdict(prelabel.verdict).in_words,
    )


def facts_of_sight(seen_prelabeler: int | None, revealed: Prelabel | None) -> SightFacts:
    if seen_prelabeler:
        return {"prelabel_seen": PrelabelSeen.BEFORE, "prelabeler_id": seen_prelabeler}
    if revealed:
        return {"prelabel_seen": PrelabelSeen.AFTER, "prelabeler_id": revealed.prelabeler_id}
    return {}


def hand_out(annotator: User, prelabels: Sequence[Prelabel], now: datetime) -> None:
    """Write down that somebody has seen these; the first time counts."""
    sights = [
        PrelabelSight(
            annotator=annotator,
            query_id=row.query_id,
            document_id=row.document_id,
            prelabeler_id=row.prelabeler_id,
            verdict=row.verdict,
            seen_at=now,
        )
        for row in sorted(prelabels, key=lambda row: (row.query_id, row.document_id))
    ]
    if sights:
        PrelabelSight.objects.bulk_create(sights, ignore_conflicts=True)


def proposal_of(prelabel: Prelabel) -> Proposal:
    reasoning = " ".join(prelabel.reasoning.split())
    if len(reasoning) > LONGEST_REASONING:
        reasoning = reasoning[: LONGEST_REASONING - 2].rstrip() + " …"
    return {"verdict": prelabel.verdict, "reasoning": reasoning, "model": prelabel.prelabeler.model}


def in_control_arm(queue: Queue, item: Item) -> bool:
    """The item's pair stays blind in every mode."""
    return is_blind(queue.blind_seed, queue.blind_share, item.query_id, item.document_id)


def _prelabels(queue: Queue, items: Sequence[Item]) -> list[Prelabel]:
    """The queue's pre-labels of these pairs, of texts that have not changed since."""
    pairs = {(item.query_id, item.document_id) for item in items}
    if not pairs:
        return []
    rows = Prelabel.objects.current().filter(
        prelabeler=queue.prelabeler_id,
        query__in={query for query, _ in pairs},
        document__in={document for _, document in pairs},
    )
    with_model = rows.select_related("prelabeler")
    return [row for row in with_model if (row.query_id, row.document_id) in pairs]
