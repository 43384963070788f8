"""Order keys of an adaptive queue's items by batches, as `labeling/adaptive/reordering.py` decides."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from labeling.adaptive.query_state import UNPLACED, QueryState, key_of
from labeling.items.ordering import STRETCH_KEYS, Candidate, display_order
from labeling.models import Item, QueryPlan, Selection

MOVES = 1000
#: A place in a batch behind all that were planned for it.
LATE = STRETCH_KEYS - 1
MOVE = """
UPDATE labeling_item SET order_key = moved.column2, second_key = moved.column3
FROM (VALUES {rows}) AS moved WHERE labeling_item.id = moved.column1
"""


def fixed_batches(plan: QueryPlan) -> dict[int, int]:
    """The documents of batches that do not change any more, with the batch of each."""
    handed = {document: batch for document, batch, _ in plan.drawn}
    return dict(plan.reached) | handed


def place_items(selection: Selection, plan: QueryPlan, state: QueryState) -> None:
    """Store the keys of what lies ahead, and hold back what does not any more."""
    keys: dict[int, tuple[int, int]] = {}
    for batch, (handed, _, _) in enumerate(plan.ahead, start=plan.begun + 1):
        keys |= _order_keys(selection, plan, state, batch=batch, handed=handed)
    fixed = fixed_batches(plan)
    moved = []
    for document, row in state.items.items():
        if document in keys:
            wanted = keys[document]
        elif document in fixed:
            if row.order_key > 0 or row.state != Item.State.OPEN:
                continue
            # Settled elsewhere when it was reached, and open again: it comes with the others of its batch.
            place = key_of(max(fixed[document], 1), plan.place, selection.query_count, LATE)
            wanted = (place, place)
        else:
            wanted = (UNPLACED, UNPLACED)
        second = wanted[1] if selection.queue.bounds[1] > 1 else None
        is_ours = row.pk in state.movable or row.state != Item.State.OPEN
        if is_ours and (row.order_key, row.second_key) != (wanted[0], second):
            moved.append((row.pk, wanted[0], second))
    store_keys(moved)


def store_keys(moved: Sequence[tuple[int, int, int | None]]) -> None:
    """Write the two order keys of items, named by their own keys; their rows are locked."""
    rows = [
        f"({item}, {first}, CAST({'NULL' if second is None else second} AS bigint))"
        for item, first, second in moved
    ]
    with connection.cursor() as cursor:
        for start in range(0, len(rows), MOVES):
            cursor.execute(MOVE.format(rows=", ".join(rows[start : start + MOVES])))


def _order_keys(
    selection: Selection, plan: QueryPlan, state: QueryState, *, batch: int, handed: list[int]
) -> dict[int, tuple[int, int]]:
    """The two order keys of each document of a batch."""
    names = {entry.document: entry.document_id for entry in state.entries}
    pairs = [
        Candidate(
            plan.query.external_id,
            names[document],
            state.positions[document],
            str(plan.alike.get(str(document), "")).encode(),
        )
        for document in handed
    ]
    count, seed = selection.query_count, selection.queue.seed
    first = {index: place for place, index in enumerate(display_order(pairs, seed))}
    other_place = (plan.place + count // 2) % count
    second = {index: place for place, index in enumerate(display_order(pairs, seed, opinion=2))}
    return {
        document: (
            key_of(batch, plan.place, count, first[index]),
            key_of(batch, other_place, count, second[index]),
        )
        for index, document in enumerate(handed)
    }
