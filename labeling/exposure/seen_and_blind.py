"""What seeing pre-labels does to the people of a queue: the judgments that `labeling/exposure/anchoring.py`
compares.

Of each person and pair the first verdict is taken, undone or not: what somebody said after a conflict was
revealed, or after a second look, is no longer a first impression. The control arm is checked against what was
seen only as far as both were judged at the same time, from the first pre-label handed out to the last verdict
on one seen: before, when all was blind, other pairs came first, and people had less practice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from labeling.exposure.anchoring import FEWEST_IN_ARM, Anchoring, anchoring
from labeling.exposure.control_arm import is_blind
from labeling.models import JudgmentEvent, Prelabel, PrelabelSeen, PrelabelSight, Queue, Verdict
from labeling.models.words import THERE

Pair = tuple[int, int]


class First(NamedTuple):
    """Somebody's first verdict on a pair, what the model said, and when the person did."""

    pair: Pair
    verdict: str
    proposed: str
    at: datetime


@dataclass(frozen=True)
class SeenAndBlind:
    """`found` compares what was judged with the pre-label seen before with the control arm where that has
    enough judgments of the same time (`by_lot`), else with all that was judged blind. `control` and `blind`
    count those.
    Of `revealed` verdicts that a pre-label contradicted, `changed` were changed.
    """

    found: Anchoring
    by_lot: bool
    seen: int
    control: int
    blind: int
    revealed: int
    changed: int


def seen_and_blind(queue: Queue) -> SeenAndBlind | None:
    """The comparison for the queue's model and prompt; None where it has none. Three statements."""
    if queue.prelabeler_id is None:
        return None
    proposals = _proposals(queue)
    shown = _shown(queue)
    first: dict[tuple[int, int, int], tuple[str, str, int | None, datetime]] = {}
    last: dict[tuple[int, int, int], str] = {}
    for annotator, query, document, verdict, seen, prelabeler, at in _verdicts(queue):
        key = annotator, query, document
        first.setdefault(key, (verdict, seen, prelabeler, at))
        last[key] = verdict
    with_it, blind = list[First](), list[First]()
    handed_out = list[datetime]()
    revealed = changed = 0
    for key, (verdict, seen, prelabeler, at) in first.items():
        pair = key[1:]
        if seen == PrelabelSeen.BEFORE:
            if prelabeler == queue.prelabeler_id and key in shown:
                proposed, shown_at = shown[key]
                with_it.append(First(pair, verdict, proposed, at))
                handed_out.append(shown_at)
            continue
        if seen == PrelabelSeen.AFTER:
            revealed += 1
            changed += last[key] != verdict
        if pair in proposals:
            blind.append(First(pair, verdict, proposals[pair], at))
    control = _control_arm(queue, blind, min(handed_out, default=None), with_it)
    by_lot = len(control) >= FEWEST_IN_ARM
    seen_arm, blind_arm = (_columns(rows) for rows in (with_it, control if by_lot else blind))
    found = anchoring(*seen_arm[:2], *blind_arm[:2], seen_pair=seen_arm[2], blind_pair=blind_arm[2])
    return SeenAndBlind(found, by_lot, len(with_it), len(control), len(blind), revealed, changed)


def _control_arm(
    queue: Queue, blind: Sequence[First], since: datetime | None, with_it: Sequence[First]
) -> list[First]:
    """What was judged blind by lot while others were judged with the pre-label."""
    if since is None:
        return []
    until = max(row.at for row in with_it)
    return [
        row
        for row in blind
        if since <= row.at <= until and is_blind(queue.blind_seed, queue.blind_share, *row.pair)
    ]


def _columns(rows: Sequence[First]) -> tuple[list[bool], list[bool], list[int]]:
    """Whether the people, and whether the model, said relevant; and the number of the pair."""
    numbers: dict[Pair, int] = {}
    return (
        [row.verdict == Verdict.RELEVANT for row in rows],
        [row.proposed == Verdict.RELEVANT for row in rows],
        [numbers.setdefault(row.pair, len(numbers)) for row in rows],
    )


def _verdicts(queue: Queue) -> Sequence[tuple[int, int, int, str, str, int | None, datetime]]:
    """What people said in the queue, in the order in which they said it; neither gold nor second times."""
    events = queue.events.filter(
        kind=JudgmentEvent.Kind.VERDICT,
        verdict__in=(Verdict.RELEVANT, Verdict.NOT_RELEVANT),
        gold=None,
        repeats=None,
        is_adjudication=False,
        **THERE,
    )
    keys = ("annotator_id", "query_id", "document_id")
    facts = ("verdict", "prelabel_seen", "prelabeler_id", "created_at")
    return list(events.order_by("pk").values_list(*keys, *facts))


def _proposals(queue: Queue) -> dict[Pair, str]:
    rows = Prelabel.objects.filter(prelabeler=queue.prelabeler_id).current().in_queue(queue)
    return {
        (query, document): said
        for query, document, said in rows.values_list(*("query_id", "document_id", "verdict"))
    }


def _shown(queue: Queue) -> dict[tuple[int, int, int], tuple[str, datetime]]:
    """What was shown to whom of the queue's model and prompt, as it was then, and when."""
    rows = PrelabelSight.objects.filter(prelabeler=queue.prelabeler_id)
    fields = ("annotator_id", "query_id", "document_id", "verdict", "seen_at")
    return {
        (annotator, query, document): (said, at)
        for annotator, query, document, said, at in rows.values_list(*fields)
    }
