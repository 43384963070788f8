"""Judgments of a queue for `labeling/exposure/anchoring.py`: with a pre-label seen, and blind.

Of each person and pair the first verdict is taken, undone or not: what somebody said after a conflict was
revealed, or after a second look, is no longer a first impression. The control arm is checked against what was
seen only as far as both were judged at the same time, from the first pre-label handed out to the last verdict
on one seen: before, when all was blind, other pairs came first, and people had less practice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from labeling.exposure.anchoring import FEWEST_IN_ARM, Anchoring, anchoring
from labeling.exposure.showing import is_blind
from labeling.models import JudgmentEvent, Prelabel, PrelabelSeen, PrelabelSight, Queue, Verdict
from labeling.models.words import THERE
from pooling.heavy import Booleans, Integers, pl
from pooling.storage.frames import rows_frame

PAIR = ("query", "document")
WHO = ("annotator", *PAIR)


@dataclass(frozen=True)
class SeenAndBlind:
    """`anchoring` compares what was judged with the pre-label seen before with the control arm where that has
    enough judgments of the same time (`by_lot`), else with all that was judged blind. `control` and `blind`
    count those.
    Of `revealed` verdicts that a pre-label contradicted, `changed` were changed."""

    anchoring: Anchoring
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
    proposals = Prelabel.objects.filter(prelabeler=queue.prelabeler_id).current().in_queue(queue)
    # As they were shown, and when.
    sights = PrelabelSight.objects.filter(prelabeler=queue.prelabeler_id)
    verdicts = _first_verdicts(queue)
    is_seen = pl.col("seen") == PrelabelSeen.BEFORE.value
    with_it = verdicts.filter(is_seen, prelabeler=queue.prelabeler_id).join(
        rows_frame(sights, *WHO, "seen_at", proposed="verdict"), on=WHO, maintain_order="left"
    )
    without = verdicts.filter(~is_seen)
    revealed = without.filter(seen=PrelabelSeen.AFTER.value)
    blind = without.join(rows_frame(proposals, *PAIR, proposed="verdict"), on=PAIR, maintain_order="left")
    control = _control_arm(queue, blind, with_it)
    by_lot = control.height >= FEWEST_IN_ARM
    seen_arm, blind_arm = (_columns(rows) for rows in (with_it, control if by_lot else blind))
    return SeenAndBlind(
        anchoring(*seen_arm[:2], *blind_arm[:2], seen_pair=seen_arm[2], blind_pair=blind_arm[2]),
        by_lot,
        seen=with_it.height,
        control=control.height,
        blind=blind.height,
        revealed=revealed.height,
        changed=revealed.filter(pl.col("verdict") != pl.col("last")).height,
    )


def _first_verdicts(queue: Queue) -> pl.DataFrame:
    """Everybody's first verdict on each pair of the queue, and the `last`; no gold, no second times."""
    events = queue.events.filter(
        kind=JudgmentEvent.Kind.VERDICT,
        verdict__in=(Verdict.RELEVANT, Verdict.NOT_RELEVANT),
        gold=None,
        repeats=None,
        is_adjudication=False,
        **THERE,
    )
    facts = {"seen": "prelabel_seen", "at": "created_at"}
    verdicts = rows_frame(events.order_by("pk"), *WHO, "verdict", "prelabeler", **facts)
    return verdicts.group_by(WHO, maintain_order=True).agg(pl.all().first(), last=pl.col("verdict").last())


def _control_arm(queue: Queue, blind: pl.DataFrame, with_it: pl.DataFrame) -> pl.DataFrame:
    """Verdicts given blind by lot while others were given with the pre-label."""
    since, until = with_it["seen_at"].min(), with_it["at"].max()
    if not isinstance(since, datetime) or not isinstance(until, datetime):
        return blind.clear()
    meanwhile = blind.filter(pl.col("at").is_between(since, until))
    by_lot = [
        is_blind(queue.blind_seed, queue.blind_share, *pair) for pair in meanwhile.select(PAIR).iter_rows()
    ]
    return meanwhile.filter(pl.Series(by_lot, dtype=pl.Boolean))


def _columns(rows: pl.DataFrame) -> tuple[Booleans, Booleans, Integers]:
    """The people's and the model's verdict, True for relevant; and the number of the pair."""
    places = rows.with_row_index().select(pl.col("index").first().over(PAIR).rank("dense") - 1)
    return (
        (rows["verdict"] == Verdict.RELEVANT.value).to_numpy(),
        (rows["proposed"] == Verdict.RELEVANT.value).to_numpy(),
        places["index"].cast(pl.Int64).to_numpy(),
    )
