"""Forms of stage 2: what arrives is parsed here; the rules are the domain functions' own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms

from labeling.costs import HIGHEST_OVERHEAD, HIGHEST_PRICE
from labeling.gold_options import LARGEST_SHARE, MOST_PRACTICE, site_options
from labeling.models import Queue
from labeling.queues import MOST_JUDGMENTS_PER_ITEM
from labeling.rules import RULES_IN_WORDS
from pooling.models import Collection, Pool


class GoldOptionsForm(forms.Form):
    """How gold questions come among the items of a queue."""

    gold_first_share = forms.FloatField(
        min_value=0, max_value=LARGEST_SHARE, label="Gold questions among a person's first 25 items (share)"
    )
    gold_share = forms.FloatField(
        min_value=0, max_value=LARGEST_SHARE, label="Gold questions among later items (share)"
    )
    practice_questions = forms.IntegerField(
        min_value=0, max_value=MOST_PRACTICE, label="Practice questions before the first item"
    )
    gold_pause = forms.ChoiceField(
        choices=Queue.GoldPause.choices, label="Who pauses somebody whose answers are too often wrong"
    )


class QueueForm(GoldOptionsForm):
    """What to judge, how often each pair, and how gold questions come."""

    field_order = ["pool", "name", "judgments_per_item", "seed"]

    pool = forms.ModelChoiceField(Pool.objects.none(), empty_label=None)
    name = forms.CharField(
        max_length=200, required=False, help_text="Left empty, the queue is called as its pool."
    )
    judgments_per_item = forms.IntegerField(
        min_value=1,
        max_value=MOST_JUDGMENTS_PER_ITEM,
        initial=1,
        label="Judgments per pair",
        help_text="How many people judge each pair. An odd number leaves no ties.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="Shuffles the order; the same seed, the same order. Empty: drawn and stored.",
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pools = collection.pools.select_related("collection").defer("diagnostics")
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]
        for name, value in asdict(site_options()).items():
            self.fields[name].required = False
            self.fields[name].initial = value


class QueueStateForm(forms.Form):
    """Open, paused or closed."""

    state = forms.ChoiceField(choices=Queue.State.choices)


class ReleaseForm(forms.Form):
    """A name and a rule for a qrels release."""

    name = forms.CharField(max_length=200, help_text="For instance “2026-03” or “after the pilot”. It stays.")
    rule = forms.ChoiceField(
        choices=[(name, f"{name}: {line}") for name, line in RULES_IN_WORDS.items()],
        initial="majority",
        help_text="How several verdicts on a pair become one label.",
    )


class QrelsForm(forms.Form):
    """A file of labels."""

    file = forms.FileField(
        label="Qrels file",
        help_text="TREC qrels, BEIR TSV, CSV, TSV, JSON lines, ranx JSON or Parquet; also gzipped.",
    )


class QueueSettingsForm(forms.Form):
    """How many judgments a pair needs, and what one costs."""

    judgments_per_item = forms.IntegerField(
        min_value=1,
        max_value=MOST_JUDGMENTS_PER_ITEM,
        label="Judgments per pair",
        help_text="Raised, settled pairs open again for others; lowered, those that have enough are settled.",
    )
    price_per_judgment = forms.FloatField(
        min_value=0,
        max_value=HIGHEST_PRICE,
        required=False,
        label="Price per judgment",
        help_text="Empty: as the site's settings say.",
    )
    currency = forms.CharField(max_length=12, required=False, help_text="Empty: the site's.")
    overhead = forms.FloatField(
        min_value=0,
        max_value=HIGHEST_OVERHEAD,
        required=False,
        help_text="A share that is added, such as fees: 0.2 adds a fifth. Empty: the site's.",
    )
