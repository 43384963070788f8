"""The counters of an item, computed and written here alone; needs the items' rows to be locked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from labeling.items.statements import store_slots
from labeling.models import ADJUDICATED, Item, Judgment, Lease, Verdict
from labeling.models.judgments import JudgmentQuerySet

# Pairs whose answer is known: their items have no slots, no matter who holds or judges them.
GOLD_STATES = (Item.State.GOLD, Item.State.ASIDE)
# These, what somebody judges a second time, and what was deleted: nothing that is said fills a slot.
SLOTLESS = (*GOLD_STATES, Item.State.REPEAT, Item.State.WITHDRAWN)
NO_ITEM = 0
# As many people who cannot judge a pair send it to adjudication; as in `labeling/consensus/rules.py`.
CANNOT_JUDGE_LIMIT = 2


class Slots(NamedTuple):
    needed: int
    done: int
    leased: int
    leased_until: datetime | None
    state: str


def need(bounds: tuple[int, int], relevant: int, not_relevant: int) -> int:
    """Number of judgments for an item with these bounds and votes: one more than a tie, at most.

    A tie of as many votes as the smaller side could make takes one more to decide. So two that differ need a
    third, and 2:1 needed three, whichever came last; two that agree again, because one was revised, undone or
    set aside, need two, and a third that was given meanwhile is beyond the need.

    >>> [need((2, 3), *votes) for votes in ((1, 0), (2, 0), (1, 1), (2, 1), (3, 0), (2, 2))]
    [2, 2, 3, 3, 2, 3]
    """
    at_least, at_most = bounds
    return max(at_least, min(at_most, 2 * min(relevant, not_relevant) + 1))


def doubted(bounds: tuple[int, int], expected: str, relevant: int, not_relevant: int) -> tuple[int, int]:
    """The bounds of an item, one higher where a vote contradicts what a confident pre-label lets expect.

    The pre-label itself is no vote: it only has the pair looked at once more.

    >>> [doubted((1, 1), "relevant", *votes) for votes in ((0, 0), (1, 0), (0, 1), (1, 1))]
    [(1, 1), (1, 1), (2, 2), (2, 2)]
    >>> doubted((2, 3), "not_relevant", 1, 0)
    (3, 3)
    """
    against = {Verdict.RELEVANT: not_relevant, Verdict.NOT_RELEVANT: relevant}
    if not expected or not against[Verdict(expected)]:
        return bounds
    at_least, at_most = bounds
    return at_least + 1, max(at_least + 1, at_most)


def settle(
    bounds: tuple[int, int], verdicts: Iterable[str], expiries: Sequence[datetime], expected: str = ""
) -> Slots:
    """Count the slots of an item from the verdicts on its pair and the expiries of its active leases.

    `bounds` are the fewest and the most judgments that it may need, `expected` is as in `doubted`. A lease
    keeps its slot even when a late verdict has come in meanwhile, so `done + leased` never exceeds the need
    through claims; a verdict beyond that waits and fills the slot once the lease is returned. An adjudication
    fills none, and settles the item.
    """
    votes = Counter(verdicts)
    relevant, not_relevant = votes[Verdict.RELEVANT], votes[Verdict.NOT_RELEVANT]
    needed = need(doubted(bounds, expected, relevant, not_relevant), relevant, not_relevant)
    done = min(relevant + not_relevant, max(0, needed - len(expiries)))
    if votes[ADJUDICATED]:
        state = Item.State.DONE
    elif done >= needed:
        state = Item.State.ADJUDICATION if relevant == not_relevant else Item.State.DONE
    elif votes[Verdict.CANNOT_JUDGE] >= CANNOT_JUDGE_LIMIT:
        state = Item.State.ADJUDICATION
    else:
        state = Item.State.OPEN
    return Slots(needed, done, len(expiries), min(expiries, default=None), state)


def slots_of(item: Item, verdicts: Iterable[str], expiries: Sequence[datetime]) -> Slots:
    """`settle` for an item; one that nobody's verdict settles keeps its state and has no slots."""
    if item.state in SLOTLESS:
        return Slots(item.needed_at_least, 0, 0, None, item.state)
    return settle((item.needed_at_least, item.needed_at_most), verdicts, expiries, item.expected)


def recount(items: Sequence[Item], now: datetime, *, always: bool = False) -> None:
    """Count leases and judgments of `items` again, drop expired leases, and store changes as `store` does."""
    leases = list(Lease.objects.filter(item__in=items))
    expired = [lease.pk for lease in leases if lease.expires_at <= now]
    if expired:
        Lease.objects.filter(pk__in=expired).delete()
    expiries = defaultdict(list)
    for lease in leases:
        if lease.expires_at > now:
            expiries[lease.item_id].append(lease.expires_at)
    judgments = Judgment.objects.filter(
        query__in={item.query_id for item in items}, document__in={item.document_id for item in items}
    )
    verdicts = verdicts_by_pair(judgments)
    counted = (
        (item, slots_of(item, verdicts[item.query_id, item.document_id], expiries[item.pk])) for item in items
    )
    store(counted, always=always)


def store(counted: Iterable[tuple[Item, Slots]], *, always: bool = False) -> None:
    """Write slots that differ, equal ones in one statement; `always`: one even if none, to take as long."""
    changed = defaultdict(list)
    for item, slots in counted:
        if slots != (item.needed, item.done, item.leased, item.leased_until, item.state):
            changed[slots].append(item.pk)
            item.needed, item.done, item.leased, item.leased_until, item.state = slots
    for slots, keys in changed.items():
        store_slots(keys, slots)
    if always and not changed:
        store_slots([NO_ITEM], Slots(0, 0, 0, None, Item.State.OPEN))


def verdicts_by_pair(judgments: JudgmentQuerySet) -> dict[tuple[int, int], list[str]]:
    """The counted judgments for `settle`, by the keys of query and document."""
    verdicts = defaultdict(list)
    rows = judgments.counted().values_list("query_id", "document_id", "verdict", "is_adjudication")
    for query, document, verdict, settles in rows.iterator():
        verdicts[query, document].append(ADJUDICATED if settles else verdict)
    return verdicts
