"""What seeing pre-labels does to the people of a queue: the judgments that `labeling/anchoring.py` compares.

Of each person and pair the first verdict is taken, undone or not: what somebody said after a conflict was
revealed, or after a second look, is no longer a first impression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labeling.control_arm import is_blind
from labeling.models import JudgmentEvent, Prelabel, PrelabelSeen, PrelabelSight, Queue, Verdict

if TYPE_CHECKING:
    from labeling.anchoring import Anchoring

Pair = tuple[int, int]
# A person's verdict on a pair, and the model's.
Verdicts = list[tuple[str, str]]


@dataclass(frozen=True)
class SeenAndBlind:
    """`found` compares what was judged with the pre-label seen before with the control arm where that has
    enough judgments (`by_lot`), else with all that was judged blind. `control` and `blind` count those.
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
    from labeling.anchoring import FEWEST_IN_ARM, anchoring

    if queue.prelabeler_id is None:
        return None
    proposals = _proposals(queue)
    shown = _shown(queue)
    first: dict[tuple[int, int, int], tuple[str, str, int | None]] = {}
    last: dict[tuple[int, int, int], str] = {}
    for annotator, query, document, verdict, seen, prelabeler in _verdicts(queue):
        key = annotator, query, document
        first.setdefault(key, (verdict, seen, prelabeler))
        last[key] = verdict
    arms: dict[str, Verdicts] = {"seen": [], "control": [], "others": []}
    revealed = changed = 0
    for key, (verdict, seen, prelabeler) in first.items():
        pair = key[1:]
        if seen == PrelabelSeen.BEFORE:
            if prelabeler == queue.prelabeler_id and key in shown:
                arms["seen"].append((verdict, shown[key]))
            continue
        if seen == PrelabelSeen.AFTER:
            revealed += 1
            changed += last[key] != verdict
        if pair in proposals:
            arm = "control" if is_blind(queue.blind_seed, queue.blind_share, *pair) else "others"
            arms[arm].append((verdict, proposals[pair]))
    control, blind = arms["control"], arms["control"] + arms["others"]
    by_lot = len(control) >= FEWEST_IN_ARM
    seen_relevant, seen_said = _relevant(arms["seen"])
    found = anchoring(seen_relevant, seen_said, *_relevant(control if by_lot else blind))
    return SeenAndBlind(found, by_lot, len(arms["seen"]), len(control), len(blind), revealed, changed)


def _relevant(verdicts: Verdicts) -> tuple[Sequence[bool], Sequence[bool]]:
    """Whether the people, and whether the model, said relevant."""
    people = [said == Verdict.RELEVANT for said, _ in verdicts]
    return people, [proposed == Verdict.RELEVANT for _, proposed in verdicts]


def _verdicts(queue: Queue) -> Sequence[tuple[int, int, int, str, str, int | None]]:
    """What people said in the queue, in the order in which they said it; neither gold nor second times."""
    events = queue.events.filter(
        kind=JudgmentEvent.Kind.VERDICT,
        verdict__in=(Verdict.RELEVANT, Verdict.NOT_RELEVANT),
        gold=None,
        repeats=None,
        is_adjudication=False,
    )
    fields = ("annotator_id", "query_id", "document_id", "verdict", "prelabel_seen", "prelabeler_id")
    return list(events.order_by("pk").values_list(*fields))


def _proposals(queue: Queue) -> dict[Pair, str]:
    rows = Prelabel.objects.filter(prelabeler=queue.prelabeler_id).current().in_queue(queue)
    return {
        (query, document): said
        for query, document, said in rows.values_list(*("query_id", "document_id", "verdict"))
    }


def _shown(queue: Queue) -> dict[tuple[int, int, int], str]:
    """What was shown to whom of the queue's model and prompt, as it was then."""
    rows = PrelabelSight.objects.filter(prelabeler=queue.prelabeler_id)
    fields = ("annotator_id", "query_id", "document_id", "verdict")
    return {
        (annotator, query, document): said for annotator, query, document, said in rows.values_list(*fields)
    }
