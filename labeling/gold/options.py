"""How gold questions and repeats come among the items of a queue: the site's settings, or a queue's own."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from labeling.gold.questions import follow_gold_in
from labeling.models import Queue
from pooling.interface.problems import InputError
from pooling.texts.importing import lock

if TYPE_CHECKING:
    from collections.abc import Mapping

# Every second item gold is a test, not work.
LARGEST_SHARE = 0.5
MOST_PRACTICE = 50
# A repeat is paid and brings no label.
LARGEST_REPEAT_SHARE = 0.2


@dataclass(frozen=True)
class GoldOptions:
    """The share of gold questions among somebody's first 25 items and after; practice; who pauses people; and
    the share of their own earlier items among those after the first 25.
    """

    gold_first_share: float
    gold_share: float
    practice_questions: int
    gold_pause: str = Queue.GoldPause.AUTOMATIC
    repeat_share: float = 0.0


def site_options(**given: Any) -> GoldOptions:
    """The site's settings, with what is given and not empty in their place."""
    values = {
        "gold_first_share": settings.GOLD_FIRST_SHARE,
        "gold_share": settings.GOLD_SHARE,
        "practice_questions": settings.PRACTICE_QUESTIONS,
        "gold_pause": settings.GOLD_PAUSE,
        "repeat_share": 0.0,
    }
    return GoldOptions(
        **{**values, **{name: value for name, value in given.items() if value not in (None, "")}}
    )


def taken_from(values: dict[str, Any]) -> GoldOptions:
    """Take the options out of `values`, as a form or a call brought them, and complete them."""
    return site_options(**{field.name: values.pop(field.name, None) for field in fields(GoldOptions)})


def checked_options(options: GoldOptions) -> GoldOptions:
    """Return `options`; `InputError` for a share, a number or a word that will not do."""
    for name in ("gold_first_share", "gold_share"):
        if not 0 <= getattr(options, name) <= LARGEST_SHARE:
            problem = f"The share of gold questions is 0 to {LARGEST_SHARE}, not {getattr(options, name)}."
            raise InputError(problem, fields={name: problem})
    if not 0 <= options.repeat_share <= LARGEST_REPEAT_SHARE:
        problem = f"The share of repeats is 0 to {LARGEST_REPEAT_SHARE}, not {options.repeat_share}."
        raise InputError(problem, fields={"repeat_share": problem})
    if not 0 <= options.practice_questions <= MOST_PRACTICE:
        problem = f"A practice round has 0 to {MOST_PRACTICE} questions."
        raise InputError(problem, fields={"practice_questions": problem})
    if options.gold_pause not in Queue.GoldPause.values:
        problem = f"A pause is {' or '.join(Queue.GoldPause.values)}, not “{options.gold_pause}”."
        raise InputError(problem, fields={"gold_pause": problem})
    return options


def change_options(queue: Queue, changes: Mapping[str, Any]) -> None:
    """Change some of a queue's options; what people have in hand stays as it is."""
    names = [field.name for field in fields(GoldOptions)]
    options = {name: changes.get(name, getattr(queue, name)) for name in names}
    checked_options(GoldOptions(**options))
    with transaction.atomic():
        lock(queue.collection)
        for name, value in options.items():
            setattr(queue, name, value)
        queue.save(update_fields=names)
        follow_gold_in(queue)
