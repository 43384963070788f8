"""The text of messages about canaries, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from evaluation.canaries.measuring import BELOW, DROP, SINCE_REFERENCE, ends_of, is_clear, rests_on
from evaluation.canaries.unjudged import remedy
from evaluation.comparisons.wording import span
from evaluation.models import Canary, CanaryValue
from evaluation.scoring.wording import decimal_against, interval, share_in_words
from pooling.formats.wording import counted, signed

# Of a claim that the labels still to come could take back.
PERHAPS = "That may only be its unjudged documents"


@dataclass(frozen=True)
class News:
    """News of one canary: a value with the reasons, or trouble; neither in a test."""

    canary: Canary
    value: CanaryValue | None = None
    reasons: tuple[str, ...] = ()
    trouble: str = ""


class CanaryFacts(TypedDict):
    id: int
    name: str
    release: str
    tag: str | None
    measure: str
    threshold: float
    confidence: float
    url: str


class RunFacts(TypedDict):
    name: str
    family: str
    imported_at: str


class ValueFacts(TypedDict):
    """Its value: the mean with its interval; judged: judged@K, the labelled share of its first K."""

    mean: float | None
    low: float | None
    high: float | None
    queries: int
    judged: float | None


class ChangeFacts(TypedDict):
    """The change since another run, with the interval of the paired difference; p: of a fall, one-sided."""

    run: str | None
    difference: float
    low: float | None
    high: float | None
    p: float | None


class Alert(TypedDict):
    """One piece of news; the last keys are there only for a run's value (`event` is `alert`).

    undecided: of below and the reasons, what the run's unjudged documents could take back. notes: sentences
    on ids that meet no label.
    """

    event: str
    title: str
    text: str
    reasons: NotRequired[list[str]]
    collection: str
    canary: CanaryFacts
    run: NotRequired[RunFacts]
    value: NotRequired[ValueFacts]
    clear: NotRequired[bool]
    undecided: NotRequired[list[str]]
    notes: NotRequired[list[str]]
    change: NotRequired[ChangeFacts | None]
    since_reference: NotRequired[ChangeFacts | None]


class Payload(Alert):
    alerts: list[Alert]


def payload(news: Sequence[News], *, site: str = "") -> Payload:
    """A webhook's message: the first piece of news, and all of them under `alerts`; at least one.

    `text` and `title` say the same for people. site: what links begin with, in place of the address that the
    canary was made at.
    """
    alerts = [_alert(piece, site or piece.canary.site.rstrip("/")) for piece in news]
    if len(alerts) == 1:
        return {**alerts[0], "alerts": alerts}
    names = list(dict.fromkeys(piece.canary.name for piece in news))
    count = f"{len(names)} canaries" if len(names) > 1 else f"canary “{names[0]}”"
    runs = list(dict.fromkeys(piece.value.run.name for piece in news if piece.value))
    about = {0: "trouble", 1: "".join(runs)}.get(len(runs), f"{len(runs)} runs")
    text = "\n".join(
        f"{piece.canary.name}: {alert['text']}" for piece, alert in zip(news, alerts, strict=True)
    )
    return {**alerts[0], "title": f"{about} on {count}", "text": text, "alerts": alerts}


def _alert(piece: News, site: str) -> Alert:
    canary, value = piece.canary, piece.value
    slug = canary.collection.slug
    about: CanaryFacts = {
        "id": canary.pk,
        "name": canary.name,
        "release": canary.release.name,
        "tag": canary.tag or None,
        "measure": canary.measure,
        "threshold": canary.threshold,
        "confidence": canary.confidence,
        "url": f"{site}{canary.get_absolute_url()}",
    }
    if piece.trouble:
        title = f"canary “{canary.name}”"
        return {
            "event": "trouble",
            "title": title,
            "text": piece.trouble,
            "collection": slug,
            "canary": about,
        }
    if value is None:
        text = f"This is a test of canary “{canary.name}” ({canary.measure}, threshold {canary.threshold:g})."
        title = f"test of canary “{canary.name}”"
        return {"event": "test", "title": title, "text": text, "collection": slug, "canary": about}
    return {
        "event": "alert",
        "title": f"{value.run.name} on canary “{canary.name}”",
        "text": " ".join(reasons_in_words(piece)),
        "reasons": list(piece.reasons),
        "collection": slug,
        "canary": about,
        "run": {
            "name": value.run.name,
            "family": value.family,
            "imported_at": value.run.imported_at.isoformat(),
        },
        "value": {**ends_of(value), "queries": value.queries, "judged": value.judged},
        "clear": is_clear(canary.threshold, value.high),
        "undecided": value.undecided,
        "notes": value.notes,
        "change": change_of(value),
        "since_reference": change_since_reference(value),
    }


def change_of(value: CanaryValue) -> ChangeFacts | None:
    """The change since the run before; None where there is none."""
    if value.difference is None:
        return None
    return {
        "run": value.previous.name if value.previous else None,
        "difference": value.difference,
        "low": value.difference_low,
        "high": value.difference_high,
        "p": value.p,
    }


def change_since_reference(value: CanaryValue) -> ChangeFacts | None:
    """The change since the best or the pinned run; None where that is the run before, or there is none."""
    if value.reference_difference is None:
        return None
    return {
        "run": value.reference.name if value.reference else None,
        "difference": value.reference_difference,
        "low": value.reference_low,
        "high": value.reference_high,
        "p": value.reference_p,
    }


def reasons_in_words(piece: News) -> list[str]:
    """Why a message is sent, each reason in a sentence; and what to do if unjudged documents matter."""
    canary, value = piece.canary, piece.value
    if value is None:
        return []
    figure = f"{decimal_against(value.mean, canary.threshold)}{interval(ends_of(value))}"
    count = counted(value.queries, "query")
    reasons = []
    if BELOW in piece.reasons:
        clear = is_clear(canary.threshold, value.high)
        whether = "the whole interval is" if clear else "the interval is not wholly below, so it may be noise"
        perhaps = f". {PERHAPS}" if BELOW in value.undecided else ""
        reasons.append(
            f"{value.run.name}: {canary.measure} is {figure} over {count} {rests_on(canary, value)}, "
            f"below the threshold of {canary.threshold:g}; {whether}{perhaps}."
        )
    changes = {DROP: change_of(value), SINCE_REFERENCE: change_since_reference(value)}
    reasons += [
        _fall(canary, value, change, is_open=reason in value.undecided)
        for reason, change in changes.items()
        if change and reason in piece.reasons
    ]
    return [*reasons, *remedy(value, piece.reasons)]


def _fall(canary: Canary, value: CanaryValue, change: ChangeFacts, *, is_open: bool) -> str:
    since, p = change["run"] or "an earlier run", change["p"]
    chance = "" if p is None else f", p = {p:.2g}"
    changed = f"{signed(change['difference'])} {span(change['low'], change['high'])}".rstrip()
    how, perhaps = ("by these labels", f". {PERHAPS}") if is_open else ("beyond noise", "")
    return (
        f"{value.run.name} fell {how}: {canary.measure} changed by {changed} since {since} "
        f"({share_in_words(canary.confidence)} interval of the paired difference{chance}), "
        f"{rests_on(canary, value)}{perhaps}."
    )
