from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from labeling.adaptive import options as adaptive_options
from labeling.adaptive.options import AdaptiveOptions, checked_adaptive
from labeling.gold.options import GoldOptions, checked_options, site_options
from labeling.models import Highlight, Queue
from pooling.interface.forms import numbered_name
from pooling.interface.problems import InputError, refuse_all
from pooling.models import Pool
from pooling.options import LARGEST_SEED, chosen, problems_of, setting
from pooling.storage.storing import checked_name

MOST_JUDGMENTS_PER_ITEM = 20


@dataclass(frozen=True)
class LaterOptions:
    """An admin's choices for an open queue: fields of `Queue`, and of the form and call that change it."""

    tells_agreement: bool = setting(
        False,
        "Annotators see their agreement",
        "How often their verdicts agree with the final labels, as of the day before.",
        bool,
        about="Annotators see how often they agree with the final labels.",
    )


LATER = tuple(one.name for one in fields(LaterOptions))


@dataclass(frozen=True)
class QueueOptions:
    """Options of `open_queue`. gold: None is the usual way. adaptive: labels move the rest's order."""

    judgments_per_item: int = setting(
        1,
        "Judgments per pair",
        "How many people judge each pair. An odd number avoids ties.",
        int,
        minimum=1,
        maximum=MOST_JUDGMENTS_PER_ITEM,
    )
    most_judgments_per_item: int | None = setting(
        None,
        "At most, where judgments tie",
        "One more person judges the pair while as many say relevant as not. With 2 and at most 3, a "
        "third person judges it where two differ.",
        int,
        about="Most judgments of a pair: one more person is asked while as many say relevant as not.",
        empty="a tie goes to adjudication at once",
        minimum=2,
        maximum=MOST_JUDGMENTS_PER_ITEM,
    )
    seed: int | None = setting(
        None,
        "Seed",
        "Shuffles the order; the same seed, the same order.",
        int,
        empty="drawn and stored",
        minimum=-LARGEST_SEED,
        maximum=LARGEST_SEED,
    )
    highlight: str = setting(
        Highlight.TERMS.value,
        "Highlight",
        "What stands out in a document. It saves time and can bias; what was shown is stored.",
        choices=dict(Highlight.choices),
    )
    public_name: str = setting(
        "",
        "Name for annotators",
        "What annotators read in place of the name, so that it tells them nothing of samples and runs.",
        empty="the name, or “Queue” and a number where nobody chose one",
    )
    gold: GoldOptions | None = None
    adaptive: AdaptiveOptions | None = None

    def checked(self, pool: Pool) -> QueueOptions:
        """Itself, complete; `InputError` for what a queue over `pool` cannot have."""
        checked_judgments(self.judgments_per_item, self.most_judgments_per_item)
        if self.public_name:
            checked_public_name(self.public_name)
        refuse_all(problems_of(self))
        if self.adaptive:
            checked_adaptive(pool, self.adaptive)
        return replace(self, gold=checked_options(self.gold or site_options()))


def options_from(values: Mapping[str, Any]) -> QueueOptions:
    """From what a form, a call or a command brought; empty values take their defaults."""
    return QueueOptions(
        **chosen(QueueOptions, values),
        gold=site_options(**chosen(GoldOptions, values)),
        adaptive=adaptive_options.options_from(values),
    )


def checked_public_name(name: str) -> str:
    """The name as it is stored; `InputError` for one that no queue can have."""
    try:
        return checked_name(name, "queue")
    except InputError as error:
        raise InputError(str(error), field="public_name") from None


def checked_judgments(judgments_per_item: int, most: int | None = None) -> None:
    """`InputError` for a number of judgments that no item needs, or a most that ends no tie."""
    if not 1 <= judgments_per_item <= MOST_JUDGMENTS_PER_ITEM:
        problem = f"A pair needs 1 to {MOST_JUDGMENTS_PER_ITEM} judgments."
        raise InputError(problem, field="judgments_per_item")
    if most is None:
        return
    problem = ""
    if not judgments_per_item < most <= MOST_JUDGMENTS_PER_ITEM:
        problem = (
            f"The most judgments of a pair must be more than the {judgments_per_item} that each needs, and "
            f"at most {MOST_JUDGMENTS_PER_ITEM}. Leave it empty if ties need no further judgment."
        )
    elif judgments_per_item % 2:
        problem = (
            f"{judgments_per_item} judgments never tie, so no further one would be needed. Use an even "
            "number of judgments per pair, such as 2 and at most 3."
        )
    if problem:
        raise InputError(problem, field="most_judgments_per_item")


def public_name(pool: Pool, name: str | None) -> str:
    """The name chosen for a queue, or the first free “Queue 1”, “Queue 2”, … where the pool's would tell."""
    if name and name != pool.name and not pool.is_picked:
        return name
    rows = Queue.everything.filter(collection=pool.collection_id).values_list("name", "public_name")
    return numbered_name("Queue", {taken for row in rows for taken in row})
