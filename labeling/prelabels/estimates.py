"""Cost and time of a pass of pre-labels before it begins; no model is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django.conf import settings
from django.db.models import Avg, Count, StdDev, Sum

from labeling.models import Item, Prelabel, Prelabeler, PrelabelFailure, PrelabelJob, Queue
from labeling.models.words import THERE
from labeling.prelabels.options import DEFAULTS, current_prompt, site_prices
from labeling.prelabels.passes import PassOptions
from labeling.prelabels.work import Question, chunks, pending_pairs
from pooling.formats.wording import counted

# Texts of this many pairs stand for all of them; an admin may have as many asked first.
SAMPLE = 20
# Bytes of a token, of tokenizers and languages as they are: many bytes make few tokens.
MANY_BYTES, FEW_BYTES = 6.0, 2.5
LEAST_OUTPUT = 20  # tokens of the shortest answer
Reason = PrelabelFailure.Reason
# Failures with an answer that took tokens.
ANSWERED = (Reason.REFUSED, Reason.TRUNCATED, Reason.MALFORMED)
# This many answers with their tokens tell more than texts do.
ENOUGH_ANSWERS = 5


@dataclass(frozen=True)
class Estimate:
    """Before anything is asked: pairs, tokens and cost as [low, high], and seconds."""

    pairs: int
    answered: int
    failed: int
    without_text: int
    known: int | None
    to_ask: int
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    # None without prices.
    cost: Annotated[tuple[Decimal, Decimal] | None, list[float]]
    currency: str
    # None until there are answers.
    seconds: float | None
    rests_on: Annotated[int, "Answers whose tokens are known; 0: the length of texts."]


def estimate(
    queue: Queue, prelabeler: Prelabeler, options: PassOptions, *, reads_all: bool = False
) -> Estimate:
    """Requests, cost and time of a pass with these options; their budget does not matter.

    `reads_all` goes through every text to count the answers that are `known` from equal texts, which takes a
    second for ten thousand documents; without it they are taken as to be asked, and `known` is None.
    """
    prices = options.prices or site_prices(prelabeler.model)
    job = PrelabelJob(
        queue=queue, prelabeler=prelabeler, pair_limit=options.limit, retries_failed=options.retries_failed
    )
    pairs = pending_pairs(job)
    sample: list[Question] = []
    from_equal_texts = without_text = 0
    for chunk in chunks(job, pairs if reads_all else pairs[:SAMPLE]):
        sample += chunk.questions[: max(SAMPLE - len(sample), 0)]
        for outcome in chunk.outcomes:
            from_equal_texts += len(outcome.pairs) * outcome.is_known
            without_text += len(outcome.pairs) * (not outcome.is_known)
        if reads_all:
            from_equal_texts += sum(len(question.pairs) - 1 for question in chunk.questions)
    to_ask = len(pairs) - from_equal_texts - without_text if reads_all else len(pairs)
    each, rests_on = _tokens_each(prelabeler, sample)
    tokens = [(math.floor(low * to_ask), math.ceil(high * to_ask)) for low, high in each]
    (least_in, most_in), (least_out, most_out) = tokens
    cost = (prices.cost(least_in, least_out), prices.cost(most_in, most_out)) if prices else None
    items = Item.objects.filter(queue=queue, repeats=None, **THERE).exclude(state=Item.State.ASIDE)
    return Estimate(
        pairs=items.count(),
        answered=Prelabel.objects.filter(prelabeler=prelabeler).current().in_queue(queue).count(),
        failed=PrelabelFailure.objects.filter(prelabeler=prelabeler).count(),
        without_text=without_text,
        known=from_equal_texts if reads_all else None,
        to_ask=to_ask,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cost=cost,
        currency=settings.LLM_CURRENCY,
        seconds=_seconds(prelabeler, to_ask, options.concurrency),
        rests_on=rests_on,
    )


def _tokens_each(prelabeler: Prelabeler, sample: list[Question]) -> tuple[list[tuple[float, float]], int]:
    """Tokens read and written for a pair, [low, high] each, and the number of answers that say so."""
    averages = Prelabel.objects.filter(prelabeler=prelabeler, input_tokens__gt=0).aggregate(
        count=Count("pk"),
        input=Avg("input_tokens"),
        output=Avg("output_tokens"),
        input_spread=StdDev("input_tokens"),
        output_spread=StdDev("output_tokens"),
    )
    if averages["count"] >= ENOUGH_ANSWERS:
        useless = PrelabelFailure.objects.filter(prelabeler=prelabeler, reason__in=ANSWERED).count()
        passes = PrelabelJob.objects.filter(prelabeler=prelabeler)
        taken = passes.aggregate(input=Sum("input_tokens"), output=Sum("output_tokens"))
        ranges = []
        for name in ("input", "output"):
            mean, spread = float(averages[name]), float(averages[f"{name}_spread"])
            lost = max(float(taken[name]) - mean * averages["count"], 0.0)
            ranges.append(
                _mean_of_both(averages["count"], mean=mean, spread=spread, useless=useless, lost=lost)
            )
        return ranges, averages["count"]
    most = {**DEFAULTS, **prelabeler.options}["max_tokens"]
    if not sample:
        return [(0.0, 0.0), (0.0, 0.0)], 0
    prompt = current_prompt(prelabeler)
    messages = [message for question in sample for message in prompt.messages(*question.texts)]
    size = sum(len(message["content"].encode()) for message in messages) / len(sample)
    return [(size / MANY_BYTES, size / FEW_BYTES), (LEAST_OUTPUT, most)], 0


def _mean_of_both(
    count: int, *, mean: float, spread: float, useless: int, lost: float
) -> tuple[float, float]:
    """[low, high] tokens of an answer where `useless` ones took `lost`: those that are cut off take most."""
    share = useless / (count + useless)
    apart = lost / useless - mean if useless else 0.0
    spread = math.sqrt((1 - share) * spread**2 + share * (1 - share) * apart**2)
    mean += share * apart
    # Two standard errors, and never less than a fiftieth: texts to come are others.
    half = max(2 * spread / math.sqrt(count + useless), mean / 50)
    return max(mean - half, 0.0), mean + half


def _seconds(prelabeler: Prelabeler, to_ask: int, concurrency: int) -> float | None:
    jobs = PrelabelJob.objects.filter(prelabeler=prelabeler)
    sums = jobs.aggregate(seconds=Sum("answer_seconds"), answers=Sum("answered_count"))
    if not sums["answers"]:
        return None
    return float(sums["seconds"] / sums["answers"] * to_ask / concurrency)


def estimate_in_words(guess: Estimate) -> str:
    equal = "" if guess.known is None else f", {guess.known:,} known from equal texts"
    lines = [
        f"Pairs: {guess.pairs:,}; {guess.answered:,} answered{equal}, {guess.failed:,} failed, "
        f"{guess.without_text:,} without a text, {guess.to_ask:,} to ask.",
        f"Tokens: {_range(guess.input_tokens)} to read, {_range(guess.output_tokens)} to write.",
    ]
    if guess.cost is None:
        lines.append("Cost: unknown; SOUNDINGS_LLM_PRICES has no prices for the model.")
    else:
        low, high = guess.cost
        lines.append(f"Cost: {low:,.4f} to {high:,.4f} {guess.currency}.")
    lines.append(
        "Time: "
        + ("unknown until there are answers." if guess.seconds is None else f"about {guess.seconds:,.0f} s.")
    )
    lines.append(
        f"It rests on the tokens of {counted(guess.rests_on, 'answer')}."
        if guess.rests_on
        else (
            f"Based on the length of up to {SAMPLE} texts; asking about {SAMPLE} pairs first makes it "
            "narrower."
        )
    )
    return "\n".join(lines)


def _range(tokens: tuple[int, int]) -> str:
    return f"{tokens[0]:,} to {tokens[1]:,}"
