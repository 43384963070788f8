"""Costs of asking a model: prices of tokens, the most a request can cost, and a cap that holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

MILLION = Decimal(1_000_000)
# What a server puts around messages: roles, separators, a schema written out as text.
TOKENS_AROUND = 200


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens, in one currency."""

    input: Decimal
    output: Decimal

    def cost(self, input_tokens: int, output_tokens: int) -> Decimal:
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


def parse_prices(written: str) -> Prices:
    """Prices from `INPUT/OUTPUT`, such as `0.15/0.60`; ValueError says what is wrong."""
    try:
        given, answered = (Decimal(part.strip()) for part in written.split("/"))
    except (ValueError, InvalidOperation):
        raise ValueError(_how_to_write(written)) from None
    if not (given.is_finite() and answered.is_finite() and 0 <= given < 10**6 and 0 <= answered < 10**6):
        raise ValueError(_how_to_write(written))
    return Prices(given, answered)


def parse_budget(written: str | None) -> Decimal | None:
    """A cap on costs as `--budget` names it, or None for none; ValueError for no amount above 0."""
    if written is None:
        return None
    try:
        amount = Decimal(written)
    except InvalidOperation:
        amount = Decimal(0)
    if not (amount.is_finite() and 0 < amount < 10**9):
        raise ValueError(f"--budget: “{written}” is not an amount above 0.")
    return amount


def _how_to_write(written: str) -> str:
    return (
        f"“{written}” is not a price. Write the prices per million tokens read and written, such as "
        "0.15/0.60."
    )


def price_table(entries: Sequence[str]) -> dict[str, Prices]:
    """Model -> prices, from `MODEL=INPUT/OUTPUT` each; ValueError names the entry."""
    table = {}
    for entry in entries:
        model, equals, written = entry.rpartition("=")
        if not (equals and model.strip()):
            raise ValueError(f"“{entry}” has no model. Write MODEL=INPUT/OUTPUT, such as small=0.15/0.60.")
        table[model.strip()] = parse_prices(written)
    return table


def most_input_tokens(texts: Sequence[str]) -> int:
    """A bound on the tokens of texts, for every tokenizer of bytes: no token is less than a byte."""
    return sum(len(text.encode()) for text in texts) + TOKENS_AROUND


def most_cost(prices: Prices | None, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Decimal:
    """A bound on the cost of a request; 0 without prices."""
    if prices is None:
        return Decimal(0)
    return prices.cost(most_input_tokens([one["content"] for one in messages]), max_tokens)


def cost_of(prices: Prices | None, given: int | None, answered: int | None, at_most: Decimal) -> Decimal:
    """The cost of an answer; a server that does not tell its tokens is taken at the most."""
    if prices is None or given is None or answered is None:
        return at_most
    return prices.cost(given, answered)


class Budget:
    """A cap on a sum of costs. Each request sets aside the most that it can cost before it is sent."""

    def __init__(self, cap: Decimal | None, spent: Decimal = Decimal(0)) -> None:
        self.cap = cap
        self.spent = spent
        self.set_aside = Decimal(0)

    def reserve(self, amount: Decimal) -> bool:
        """Set an amount aside if everything spent and set aside stays within the cap; whether it did."""
        if self.cap is not None and self.spent + self.set_aside + amount > self.cap:
            return False
        self.set_aside += amount
        return True

    def settle(self, reserved: Decimal, cost: Decimal) -> None:
        self.set_aside -= reserved
        self.spent += cost
