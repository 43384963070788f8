"""Costs of the judgments of a queue, so far and to finish: every verdict is paid, gold questions too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from labeling.judging.progress_figures import JudgmentCosts
from labeling.models import Queue
from pooling.interface.problems import refuse_all
from pooling.options import problems_of, setting
from pooling.people.activity_log import record_action

HIGHEST_PRICE = 10_000
HIGHEST_OVERHEAD = 10


@dataclass(frozen=True)
class OwnPrices:
    """A queue's prices in place of the site's; None and an empty currency are the site's."""

    price_per_judgment: float | None = setting(
        None,
        "Price per judgment",
        kind=float,
        flag="--price",
        metavar="P",
        empty="as the site's settings say",
        minimum=0,
        maximum=HIGHEST_PRICE,
        refusal=f"A price is 0 to {HIGHEST_PRICE:,}.",
    )
    currency: str = ""
    overhead: float | None = setting(
        None,
        "Overhead",
        "A share that is added, such as fees: 0.2 adds a fifth.",
        float,
        empty="none",
        minimum=0,
        maximum=HIGHEST_OVERHEAD,
        refusal=f"The overhead is a share, 0 to {HIGHEST_OVERHEAD}: 0.2 adds a fifth.",
    )


PRICES = tuple(one.name for one in fields(OwnPrices))


class Prices(NamedTuple):
    """Price of a judgment, its currency, and the share that is added. A price of 0 is none."""

    price: float
    currency: str
    overhead: float


def prices_of(queue: Queue) -> Prices:
    """A queue's own prices, or the site's where it has none."""
    price, overhead = queue.price_per_judgment, queue.overhead
    return Prices(
        float(settings.PRICE_PER_JUDGMENT if price is None else price),
        queue.currency or settings.CURRENCY,
        overhead or 0.0,
    )


def cost_of(
    queue: Queue, left: float, gold: int, *, paid: int, paid_gold: int, paid_repeats: int
) -> JudgmentCosts:
    """Costs of `paid` judgments and `paid_repeats`, and of `left` more; amounts are null without a price.

    Paid is every verdict that stands and was given in the queue: extra ones, gold and practice questions and
    what is in quarantine as well; adjudications are an admin's own work. To finish, `left` holds what ties
    are expected to ask for, and gold questions and repeats are added with the queue's shares for later items,
    but no more gold questions than can still be asked: `gold`.
    """
    prices = prices_of(queue)
    paid += paid_repeats
    again = queue.repeat_share
    to_pay = min(left / (1 - queue.gold_share - again), (left + gold) / (1 - again))
    each = prices.price * (1 + prices.overhead)
    return {
        "price_per_judgment": prices.price,
        "currency": prices.currency,
        "overhead": prices.overhead,
        "paid_judgments": paid,
        "paid_gold": paid_gold,
        "paid_repeats": paid_repeats,
        "judgments_to_pay": round(to_pay),
        "spent": each * paid if prices.price else None,
        "to_finish": each * to_pay if prices.price else None,
    }


def change_prices(queue: Queue, changes: Mapping[str, Any], *, by: User | None = None) -> None:
    """Change price, currency or overhead of a queue; None or "" means the site's. `InputError` for others."""
    given = {name: changes[name] for name in PRICES if name in changes}
    refuse_all(problems_of(OwnPrices(**given)))
    before = {name: getattr(queue, name) for name in PRICES}
    after = {**before, **given}
    after["currency"] = (after["currency"] or "").strip()
    if after["price_per_judgment"] is not None:
        after["price_per_judgment"] = Decimal(str(after["price_per_judgment"])).quantize(Decimal("0.0001"))
    if after == before:
        return
    changed = [name for name in PRICES if after[name] != before[name]]
    for name in changed:
        setattr(queue, name, after[name])
    with transaction.atomic():
        queue.save(update_fields=changed)
        facts = {name: None if value is None else str(value) for name, value in after.items()}
        record_action(queue.collection, by, "queue prices changed", queue.name, **facts)
