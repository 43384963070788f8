from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.db import transaction

from labeling.gold.questions import follow_gold_in
from labeling.models import Queue
from pooling.interface.forms import EditForm
from pooling.interface.option_fields import form_fields
from pooling.interface.problems import refuse_all
from pooling.options import options_of, problems_of, setting
from pooling.texts.importing import lock

# Every second item gold is a test, not work.
LARGEST_SHARE = 0.5
MOST_PRACTICE = 50
# A repeat is paid and brings no label.
LARGEST_REPEAT_SHARE = 0.2


GOLD_REFUSAL = f"The share of gold questions is 0 to {LARGEST_SHARE}, not {{value}}."


@dataclass(frozen=True)
class GoldOptions:
    """The share of gold questions among somebody's first 25 pairs and after; practice; who pauses people; and
    the share of their own earlier items among those after the first 25."""

    gold_first_share: float = setting(
        0.2,
        "Gold questions among a person's first 25 pairs (share)",
        kind=float,
        about="Share of gold questions among a person's first 25 pairs.",
        minimum=0,
        maximum=LARGEST_SHARE,
        refusal=GOLD_REFUSAL,
    )
    gold_share: float = setting(
        0.05,
        "Gold questions among later pairs (share)",
        kind=float,
        about="Share of gold questions among later pairs.",
        minimum=0,
        maximum=LARGEST_SHARE,
        refusal=GOLD_REFUSAL,
    )
    practice_questions: int = setting(
        5,
        "Practice questions before the first pair",
        kind=int,
        about="Practice questions before the first pair.",
        flag="--practice",
        minimum=0,
        maximum=MOST_PRACTICE,
        refusal=f"A practice round has 0 to {MOST_PRACTICE} questions.",
    )
    gold_pause: str = setting(
        Queue.GoldPause.AUTOMATIC,
        "Who pauses somebody whose answers are too often wrong",
        about="Who pauses somebody who is too often wrong: automatic, or proposed to an admin.",
        choices=dict(Queue.GoldPause.choices),
        empty="as the site's settings say",
        metavar="HOW",
        refusal=f"A pause is {' or '.join(Queue.GoldPause.values)}, not “{{value}}”.",
    )
    repeat_share: float = setting(
        0.0,
        "A person's own earlier pairs shown again among later pairs (share)",
        "Shows whether people give the same verdict twice; the second one does not count but is paid.",
        float,
        about="Of pairs after the first 25: those that the person has judged before, shown again.",
        minimum=0,
        maximum=LARGEST_REPEAT_SHARE,
        refusal=f"The share of repeats is 0 to {LARGEST_REPEAT_SHARE}, not {{value}}.",
    )


@form_fields(GoldOptions, gold_pause={"required": True})
class GoldOptionsForm(forms.Form):
    def clean_repeat_share(self) -> float:
        """None is no share."""
        return self.cleaned_data["repeat_share"] or 0.0


class GoldSettingsForm(EditForm, GoldOptionsForm):
    """The same of a queue that is open."""

    def __init__(self, data: Any = None, *, queue: Queue) -> None:
        super().__init__(data, initial={name: getattr(queue, name) for name in self.base_fields})
        self.carry()


def site_options(**given: Any) -> GoldOptions:
    """What is given; of the rest, the site says who pauses people."""
    return GoldOptions(**{"gold_pause": settings.GOLD_PAUSE, **given})


def checked_options(options: GoldOptions) -> GoldOptions:
    """Return `options`; `InputError` for a share, a number or a word that will not do."""
    refuse_all(problems_of(options))
    return options


def change_options(queue: Queue, changes: Mapping[str, Any]) -> None:
    """Change some of a queue's options; what people have in hand stays as it is."""
    names = list(options_of(GoldOptions))
    options = {name: changes.get(name, getattr(queue, name)) for name in names}
    checked_options(GoldOptions(**options))
    with transaction.atomic():
        lock(queue.collection)
        for name, value in options.items():
            setattr(queue, name, value)
        queue.save(update_fields=names)
        follow_gold_in(queue)
