"""Forms of stage 2: what arrives is parsed here; the rules are the domain functions' own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms

from labeling.adaptive.options import MOST_LOOKS
from labeling.consensus.rule_names import RULES_IN_WORDS
from labeling.gold.options import LARGEST_REPEAT_SHARE, LARGEST_SHARE, MOST_PRACTICE, site_options
from labeling.models import Queue, Selection
from labeling.queues.costs import HIGHEST_OVERHEAD, HIGHEST_PRICE
from labeling.queues.opening import MOST_JUDGMENTS_PER_ITEM
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
    repeat_share = forms.FloatField(
        required=False,
        min_value=0,
        max_value=LARGEST_REPEAT_SHARE,
        label="A person's own earlier pairs shown again among later items (share)",
        help_text="Tells whether they say the same twice; the second verdict never counts, but costs one.",
    )

    def clean_repeat_share(self) -> float:
        """None is no share."""
        return self.cleaned_data["repeat_share"] or 0.0


def _most_judgments() -> forms.IntegerField:
    return forms.IntegerField(
        required=False,
        min_value=2,
        max_value=MOST_JUDGMENTS_PER_ITEM,
        label="At most, where judgments tie",
        help_text="One more person is asked while as many say relevant as not: 2 and at most 3 is a third "
        "opinion where two differ. Empty: a tie goes to adjudication at once.",
    )


class LiveOptionsForm(forms.Form):
    """Whether labels move the order of what is left, and what ends it."""

    adaptive = forms.BooleanField(
        required=False,
        label="Adaptive: labels move the order of what is left",
        help_text="By the strategy of the pool, which must be one that learns. Unticked, the order is fixed "
        "and the pool's own choice is judged; leave budget and stopping as they are then.",
    )
    budget = forms.IntegerField(
        required=False,
        min_value=1,
        label="Budget: pairs in all",
        help_text="Empty: the pool's budget, or every pair.",
    )
    budget_rule = forms.ChoiceField(
        required=False,
        choices=Selection.Rule.choices,
        initial=Selection.Rule.EQUAL,
        label="The budget is spent on",
    )
    budget_floor = forms.IntegerField(
        required=False,
        min_value=0,
        label="Pairs that each query gets at least",
        help_text="Empty: none, or ten where the budget goes to what turns up.",
    )
    stop_missing = forms.FloatField(
        required=False,
        label="Stop when at most this share of what is relevant is missing",
        help_text="0.1 is a tenth, at 95 % confidence, by the audit of the pool. Empty: only budget and "
        "admins end a query.",
    )
    stop_looks = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MOST_LOOKS,
        label="How often the audit is looked at",
        help_text="Fixed beforehand, because each look may err. Empty: 4 times.",
    )
    stop_over = forms.ChoiceField(
        required=False,
        choices=Selection.Over.choices,
        initial=Selection.Over.QUERY,
        label="What is missing is counted for",
    )


class QueueForm(LiveOptionsForm, GoldOptionsForm):
    """What to judge, how often each pair, and how gold questions come."""

    field_order = [
        *("pool", "name", "judgments_per_item", "most_judgments_per_item", "seed", "adaptive"),
        *("prior", "budget", "budget_rule", "budget_floor", "stop_missing", "stop_looks", "stop_over"),
    ]

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
    most_judgments_per_item = _most_judgments()
    seed = forms.IntegerField(
        required=False,
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="Shuffles the order; the same seed, the same order. Empty: drawn and stored.",
    )
    prior = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        label="Adaptive: the order starts from the scores of",
        help_text="They count as half as many runs again, until labels tell what they are worth.",
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = [(one.pk, str(one)) for one in collection.prelabelers.asked()]
        if models:
            self.fields["prior"].choices = [("", "no model"), *models]  # type: ignore[attr-defined]
        else:
            del self.fields["prior"]
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
    most_judgments_per_item = _most_judgments()
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
