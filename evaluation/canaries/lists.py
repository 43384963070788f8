from __future__ import annotations

from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.urls import reverse

from evaluation.models import Canary, CanaryDelivery, Webhook
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table


def _queries(row: dict[str, Any]) -> str:
    return f"{row['canary'].tag or 'all'} of {row['canary'].release.name}"


def _run(row: dict[str, Any]) -> str:
    return row["newest"]["run"].name if row["newest"] else "no run measured yet"


def _value(row: dict[str, Any]) -> str | None:
    return row["newest"]["value"] if row["newest"] else None


def _state(row: dict[str, Any]) -> str:
    if row["newest"] is None:
        return "not measured"
    return "below" if row["newest"]["below"] else "met"


def _key(row: dict[str, Any]) -> int:
    canary: Canary = row["canary"]
    return canary.pk


CANARIES = Table(
    "canaries",
    "canary",
    nouns="canaries",
    columns=(
        Column("name", "Canary", "canary.name", natural=True, template="evaluation/_canary_name.html"),
        Column("run", "Newest run", _run, natural=True),
        Column("value", "Value", _value, number=True, template="evaluation/_canary_value.html"),
        Column("state", "Threshold met", _state, template="evaluation/_canary_state.html"),
        Column("threshold", "Threshold", "canary.threshold", number=True),
        Column("measure", "Measure", "canary.measure"),
        Column("queries", "Queries", _queries),
        Column("release", "Release", "canary.release.name", natural=True, hidden=True),
    ),
    sort="name",
    search=("name", "run", "queries", "measure"),
    search_hint="Name, run, tag or measure",
    filters=(
        Filter(
            "state",
            "State",
            (
                Choice("all", "All"),
                Choice("below", "Below", lambda row: _state(row) == "below"),
                Choice("met", "Met", lambda row: _state(row) == "met"),
            ),
            default="all",
        ),
    ),
    choose="canaries",
    key=_key,
    caption="Each canary and its newest run.",
)

_SENT, _FAILED = CanaryDelivery.State.SENT, CanaryDelivery.State.FAILED
_IN_WORDS = {_SENT: "delivered", _FAILED: "given up"}


def with_newest_message(hooks: QuerySet[Webhook]) -> QuerySet[Webhook]:
    """Webhooks with `newest_state` and `newest_at`, of the newest message to each."""
    newest = CanaryDelivery.objects.filter(webhook=OuterRef("pk")).order_by("-pk")
    return hooks.annotate(
        newest_state=Subquery(newest.values("state")[:1]), newest_at=Subquery(newest.values("created_at")[:1])
    )


def _hook_page(hook: Webhook) -> str:
    return reverse("webhook", args=[hook.pk])


def _newest(hook: Any) -> str:
    return "none yet" if hook.newest_state is None else _IN_WORDS.get(hook.newest_state, "not delivered yet")


WEBHOOKS = Table(
    "webhooks",
    "webhook",
    columns=(
        Column("url", "Address", link=_hook_page, style="id"),
        Column("events", "Events", lambda hook: ", ".join(hook.events), sort=False),
        Column("newest", "Newest message", _newest, sort="newest_state"),
        Column("at", "Sent", "newest_at", to_the_minute=True, style="quiet"),
        Column("added", "Added", "created_at", style="quiet"),
    ),
    sort="url",
    empty=Empty("No webhooks yet.", "Add a webhook", "webhook_new"),
)
DELIVERIES = Table(
    "deliveries",
    "message",
    columns=(
        Column("event", "About", lambda sent: sent.body["type"], sort="body__type"),
        Column("state", "State", template="evaluation/_delivery_state.html"),
        Column("tries", "Attempts", number=True),
        Column("detail", "Response"),
        Column("when", "Created", "created_at", to_the_minute=True, style="quiet"),
        Column("again", "Send again", sort=False, fixed=True, template="evaluation/_delivery_again.html"),
    ),
    sort="-when",
    filters=(
        Filter(
            "state",
            "State",
            (Choice("all", "All"), Choice("open", "Not delivered", ~Q(state=_SENT))),
            default="all",
        ),
    ),
    empty=Empty("No messages yet. Send a test to see whether the address answers."),
)
