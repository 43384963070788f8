from __future__ import annotations

import re
from typing import Any, ClassVar

from django import forms

from evaluation.canaries.watching import LONGEST_SECRET, SHORTEST_SECRET, Alerts, CanaryDefinition
from evaluation.models import Canary, Webhook
from evaluation.report_store.choices import tagged_queries
from labeling.models import QrelsRelease
from pooling.interface.forms import FIRST, EditForm, GroupedForm
from pooling.models import Collection, Run

COMPARED, MESSAGES = "Compared with", "Messages"
EVENTS = {
    Webhook.Event.QUEUE_FINISHED: "No pair of a queue is left to judge",
    Webhook.Event.RELEASE_MADE: "A qrels release is made",
    Webhook.Event.REPORT_MADE: "A report is made",
    Webhook.Event.CANARY_FELL: "A canary falls",
}


class AlertsForm(EditForm, GroupedForm, forms.Form):
    GROUPS = {
        FIRST: ("threshold",),
        COMPARED: ("reference", "pinned"),
        MESSAGES: ("webhook_url", "secret", "mail_to", "only_clear"),
    }
    OPEN: ClassVar[tuple[str, ...]] = (COMPARED, MESSAGES)

    threshold = forms.FloatField(
        min_value=0, max_value=1, help_text="Value that the measure should reach, for instance 0.7."
    )
    only_clear = forms.BooleanField(
        required=False, label="Send a message only if the whole interval is below the threshold"
    )
    webhook_url = forms.CharField(
        required=False,
        max_length=1000,
        label="Webhook",
        help_text="URL that receives a POST with JSON. It must be public unless the server allows others.",
        widget=forms.URLInput(attrs={"placeholder": "https://hooks.example.org/soundings"}),
    )
    secret = forms.CharField(
        required=False,
        min_length=SHORTEST_SECRET,
        max_length=LONGEST_SECRET,
        strip=False,
        label="Secret of the webhook",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=f"{SHORTEST_SECRET} characters or more. It signs every message and is not shown again.",
    )
    reference = forms.ChoiceField(
        choices=Canary.Reference.choices,
        required=False,
        initial=Canary.Reference.BEST,
        label="Compared with",
        help_text="A drop in many small steps shows only against a run from before them.",
    )
    pinned = forms.ModelChoiceField(
        Run.objects.none(),
        required=False,
        to_field_name="name",
        empty_label="–",
        label="The run for good",
        help_text="If “one run for good” is chosen: all later runs of its family are compared with it.",
    )
    mail_to = forms.CharField(
        required=False,
        max_length=4000,
        label="Mail to",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Email addresses, separated by spaces or line breaks.",
    )

    def __init__(self, data: Any = None, *, collection: Collection, canary: Canary | None = None) -> None:
        super().__init__(data, label_suffix="")
        runs = collection.runs.defer("preflight").order_by("-pk")
        self.fields["pinned"].queryset = runs  # type: ignore[attr-defined]
        if canary is None:
            return
        self.initial = {
            "threshold": canary.threshold,
            "only_clear": canary.only_clear,
            "webhook_url": canary.webhook_url,
            "mail_to": "\n".join(canary.mail_to),
            "reference": canary.reference,
            "pinned": canary.pinned.name if canary.pinned else None,
        }
        self.carry()
        if canary.sealed_secret:
            self.fields["secret"].help_text = "A secret is saved and not shown again. Leave empty to keep it."

    def alerts(self) -> Alerts:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        return Alerts(
            threshold=values["threshold"],
            only_clear=values["only_clear"],
            webhook_url=values["webhook_url"],
            secret=values["secret"] or None,
            mail_to=[word for word in re.split(r"[\s,;]+", values["mail_to"]) if word],
            reference=values["reference"] or self.initial.get("reference", Canary.Reference.BEST),
            pinned=values["pinned"].name if values["pinned"] else "",
        )


class CanaryForm(AlertsForm):
    GROUPS = {
        FIRST: ("name", "release", "measure", "threshold"),
        MESSAGES: AlertsForm.GROUPS[MESSAGES],
        "Queries and intervals": ("tag", "confidence"),
        COMPARED: AlertsForm.GROUPS[COMPARED],
    }
    OPEN: ClassVar[tuple[str, ...]] = ()

    name = forms.CharField(max_length=200)
    release = forms.ModelChoiceField(
        QrelsRelease.objects.none(), empty_label=None, label="Qrels release", help_text="The labels."
    )
    tag = forms.ChoiceField(
        required=False,
        label="Queries",
        help_text="Queries with one tag make the fastest canary. The set of queries is frozen.",
    )
    measure = forms.CharField(
        max_length=60, initial="recall@10", help_text="A measure at its K, for instance recall@10 or ndcg@5."
    )
    confidence = forms.FloatField(
        min_value=0.5,
        max_value=0.999,
        initial=0.95,
        help_text="Level of the intervals. A higher level marks fewer drops by chance.",
    )

    def __init__(self, data: Any = None, *, collection: Collection) -> None:
        super().__init__(data, collection=collection)
        releases = collection.releases.listed().defer("sidecar")
        self.fields["release"].queryset = releases  # type: ignore[attr-defined]
        tags = [(tag, f"{tag} ({len(query_ids)})") for tag, query_ids in tagged_queries(collection).items()]
        self.fields["tag"].choices = [("", "all queries of the release"), *tags]  # type: ignore[attr-defined]

    def definition(self) -> CanaryDefinition:
        """Call it after `is_valid`."""
        values = self.cleaned_data
        return CanaryDefinition(
            name=values["name"],
            measure=values["measure"],
            tag=values["tag"],
            release=values["release"].name,
            confidence=values["confidence"],
        )


class WebhookForm(EditForm, forms.Form):
    url = forms.CharField(
        max_length=1000,
        label="Address",
        help_text="It receives a POST with JSON, and must be public unless the server allows others.",
        widget=forms.URLInput(attrs={"placeholder": "https://hooks.example.org/soundings"}),
    )
    events = forms.MultipleChoiceField(
        choices=[(event.value, f"{words} ({event.value})") for event, words in EVENTS.items()],
        initial=[event.value for event in EVENTS],
        label="Send a message when",
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        self.carry()
