"""What messages about canaries say, to people and to programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.canaries.measuring import BELOW, DROP, SINCE_REFERENCE, ends_of, is_clear
from evaluation.models import Canary, CanaryValue
from evaluation.scoring.wording import decimal, interval, share_in_words


@dataclass(frozen=True)
class News:
    """What is told of one canary: a value with the reasons, or trouble; neither in a test."""

    canary: Canary
    value: CanaryValue | None = None
    reasons: tuple[str, ...] = ()
    trouble: str = ""


def payload(news: Sequence[News]) -> dict[str, Any]:
    """What a webhook gets: the first piece of news, and all of them under `alerts`; at least one.

    `text` and `title` say the same for people.
    """
    told = [_one(piece) for piece in news]
    if len(told) == 1:
        return {**told[0], "alerts": told}
    names = list(dict.fromkeys(piece.canary.name for piece in news))
    count = f"{len(names)} canaries" if len(names) > 1 else f"canary “{names[0]}”"
    runs = list(dict.fromkeys(piece.value.run.name for piece in news if piece.value))
    about = {0: "trouble", 1: "".join(runs)}.get(len(runs), f"{len(runs)} runs")
    text = "\n".join(f"{piece.canary.name}: {one['text']}" for piece, one in zip(news, told, strict=True))
    return {**told[0], "title": f"{about} on {count}", "text": text, "alerts": told}


def _one(piece: News) -> dict[str, Any]:
    canary, value = piece.canary, piece.value
    about = {
        "collection": canary.collection.slug,
        "canary": {
            "id": canary.pk,
            "name": canary.name,
            "release": canary.release.name,
            "tag": canary.tag or None,
            "measure": canary.measure,
            "threshold": canary.threshold,
            "confidence": canary.confidence,
            "url": f"{canary.site.rstrip('/')}{canary.get_absolute_url()}",
        },
    }
    if piece.trouble:
        return {"event": "trouble", "title": f"canary “{canary.name}”", "text": piece.trouble, **about}
    if value is None:
        text = f"This is a test of canary “{canary.name}” ({canary.measure}, threshold {canary.threshold:g})."
        return {"event": "test", "title": f"test of canary “{canary.name}”", "text": text, **about}
    return {
        "event": "alert",
        "title": f"{value.run.name} on canary “{canary.name}”",
        "text": " ".join(sentences(piece)),
        "reasons": list(piece.reasons),
        **about,
        "run": {
            "name": value.run.name,
            "family": value.family,
            "imported_at": value.run.imported_at.isoformat(),
        },
        "value": {name: getattr(value, name) for name in ("mean", "low", "high", "queries")},
        "clear": is_clear(canary.threshold, value.high),
        "change": change_of(value),
        "since_reference": change_since_reference(value),
    }


def change_of(value: CanaryValue) -> dict[str, Any] | None:
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


def change_since_reference(value: CanaryValue) -> dict[str, Any] | None:
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


def sentences(piece: News) -> list[str]:
    """Why a value is told, each reason in a sentence with its numbers."""
    canary, value = piece.canary, piece.value
    if value is None:
        return []
    shown = f"{decimal(value.mean)}{interval(ends_of(value))}"
    count = f"{value.queries:,} quer{'y' if value.queries == 1 else 'ies'}"
    said = []
    if BELOW in piece.reasons:
        clear = is_clear(canary.threshold, value.high)
        whether = "the whole interval is" if clear else "the interval is not wholly below, so it may be noise"
        said.append(
            f"{value.run.name}: {canary.measure} is {shown} over {count}, below the threshold of "
            f"{canary.threshold:g}; {whether}."
        )
    changes = {DROP: change_of(value), SINCE_REFERENCE: change_since_reference(value)}
    said += [
        _fall(canary, value, change)
        for reason, change in changes.items()
        if change and reason in piece.reasons
    ]
    return said


def _fall(canary: Canary, value: CanaryValue, change: dict[str, Any]) -> str:
    since, p = change["run"] or "an earlier run", change["p"]
    chance = "" if p is None else f", p = {p:.2g}"
    return (
        f"{value.run.name} fell beyond noise: {canary.measure} changed by {change['difference']:+.3f}"
        f"{interval(change)} since {since} ({share_in_words(canary.confidence)} interval of the paired "
        f"difference{chance})."
    )
