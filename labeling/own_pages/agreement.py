"""How often somebody agrees with the final labels of a queue, as far as the admin lets them know.

It tells nothing of any single answer, and nothing of gold questions and repeats, which are no part of it:
only answers of earlier days, on pairs that others have judged as well, at least ENOUGH of them, and rounded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime

from django.contrib.auth.models import User
from django.utils import timezone

from labeling.models import Judgment, Queue, Verdict

ENOUGH, ROUNDED_TO, NEWEST = 50, 5, 1_000
# SQLite and PostgreSQL both take so many documents in one statement.
BATCH = 500


def agreement_with_labels(queue: Queue, user: User, *, now: datetime | None = None) -> int | None:
    """In per cent, to the nearest 5, as of the day before; None where the queue does not tell, or too few
    of the pairs have a label that does not rest on this person alone."""
    if not queue.tells_agreement:
        return None
    now = now or timezone.now()
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    counted = Judgment.objects.counted().exclude(verdict=Verdict.CANNOT_JUDGE)
    own = counted.filter(
        annotator=user, event__queue=queue, is_adjudication=False, judged_at__lt=midnight
    ).order_by("-event")
    said = {(query, document): verdict for query, document, verdict in own.values_list(*PAIR)[:NEWEST]}
    compared = agreed = 0
    for pair, label in _labels(queue, user, said).items():
        compared += 1
        agreed += said[pair] == label
    if compared < ENOUGH:
        return None
    return round(100 * agreed / compared / ROUNDED_TO) * ROUNDED_TO


PAIR = ("query_id", "document_id", "verdict")


def _labels(queue: Queue, user: User, said: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """The majority of all verdicts on each pair, or what settled it; ties and what only `user` judged have
    none."""
    documents = sorted({document for _, document in said})
    votes: dict[tuple[int, int], Counter[str]] = defaultdict(Counter)
    settled: dict[tuple[int, int], str] = {}
    for start in range(0, len(documents), BATCH):
        others = Judgment.objects.counted().filter(
            collection=queue.collection_id, document__in=documents[start : start + BATCH]
        )
        rows = others.exclude(verdict=Verdict.CANNOT_JUDGE).exclude(annotator=user)
        for query, document, verdict, settles in rows.values_list(*PAIR, "is_adjudication"):
            if (query, document) in said:
                votes[query, document][verdict] += 1
                if settles:
                    settled[query, document] = verdict
    labels = {}
    for pair, others_said in votes.items():
        counts = others_said + Counter([said[pair]])
        (first, most), *rest = counts.most_common()
        if pair in settled:
            labels[pair] = settled[pair]
        elif not rest or most > rest[0][1]:
            labels[pair] = first
    return labels
