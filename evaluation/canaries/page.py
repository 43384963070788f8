from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import reverse

from evaluation.canaries.chart import canary_over_time
from evaluation.canaries.measuring import (
    BELOW,
    ValueOfRun,
    ends_of,
    fell_for_sure,
    has_dropped,
    is_below,
    is_clear,
    rests_on,
    value_of_run,
)
from evaluation.canaries.queries import State, state_of, states_of
from evaluation.canaries.regressions import marked_by_chance
from evaluation.canaries.unjudged import places_of, remedy
from evaluation.charts.over_time import over_time_size
from evaluation.comparisons.wording import span
from evaluation.measures import split_name, titled
from evaluation.models import Canary, CanaryValue
from evaluation.scoring.wording import decimal, decimal_against, interval, percent, share_in_words
from pooling.formats.cells import table_text
from pooling.formats.wording import counted, signed
from pooling.heavy import alt, pd
from pooling.interface.charting import VARIANTS, to_png
from pooling.interface.downloads import Download
from pooling.models import Collection
from pooling.storage.pictures import kept_svg

# Counts up when the picture changes, so that those of older versions are drawn again.
LOOK = 4
MOST_VALUES = 500


def values_of(canary: Canary) -> list[CanaryValue]:
    """The values of a canary, the oldest run first; of very many the newest."""
    rows = canary.values.select_related("run", "previous", "reference", "stretch")
    rows = rows.order_by("-stretch_id", "-run_id")
    return list(rows[:MOST_VALUES])[::-1]


def with_newest(collection: Collection) -> QuerySet[Canary]:
    """The canaries of a collection, each with the key of its newest value under `newest`."""
    newest = CanaryValue.objects.filter(canary=OuterRef("pk")).order_by("-stretch_id", "-run_id")
    rows = collection.canaries.listed().select_related("release", "collection").defer("release__sidecar")
    return rows.annotate(newest=Subquery(newest.values("pk")[:1]))


class HistoryEntry(ValueOfRun):
    """The value of one run, and its change since the run before of the same family."""

    family: str
    imported_at: Annotated[str, datetime]
    difference_low: float | None
    difference_high: float | None
    p: Annotated[float | None, "Of a fall, one-sided, corrected."]
    reference_low: float | None
    reference_high: float | None
    reference_p: float | None
    stretch: Annotated[int, "Counts up when other queries are measured."]


class TagChangeFacts(TypedDict):
    """How the queries with the tag differ by now from those measured."""

    tagged: Annotated[int, "Queries that have the tag now."]
    added: Annotated[int, "Of those, not measured."]
    removed: Annotated[int, "Measured, without the tag now."]


class LeastFallFacts(TypedDict):
    """The least fall of the mean that the queries show four times in five."""

    queries: int
    difference: Annotated[float | None, "Null: they can show none."]
    deviation: Annotated[float, "Of the differences of two versions by query."]
    pairs: Annotated[int, "Pairs of runs it comes from; 0: assumed."]
    fewest: Annotated[int, "At least this many queries must drop."]
    sentence: str


class CanaryDescription(TypedDict):
    """A canary as plain data; the receivers are for admins."""

    id: int
    name: str
    release: str
    tag: str
    measure: str
    threshold: float
    confidence: float
    only_clear: bool
    reference: str
    pinned: str
    trouble: str
    tag_change: TagChangeFacts | None
    least_fall: LeastFallFacts
    url: str
    webhook_url: NotRequired[str]
    mail_to: NotRequired[list[str]]


def list_rows(canaries: Iterable[Canary]) -> list[dict[str, Any]]:
    """A row for each of these canaries of `with_newest`, in as many queries however many they are."""
    canaries = list(canaries)
    states = states_of(canaries)
    newest = {canary: getattr(canary, "newest", None) for canary in canaries}
    values = CanaryValue.objects.select_related("run", "previous", "reference").in_bulk(
        [pk for pk in newest.values() if pk]
    )
    return [
        {
            "canary": canary,
            "newest": value_row(canary, values[pk]) if pk in values else None,
            "state": states[canary.pk],
            "places": places_of(canary.measure),
        }
        for canary, pk in newest.items()
    ]


def canary_context(canary: Canary) -> dict[str, Any]:
    values = values_of(canary)
    compared = sum(value.difference is not None for value in values)
    state = state_of(canary)
    families = list(dict.fromkeys(value.family for value in values))
    return {
        "canary": canary,
        "state": state,
        "count": len(state.stretch.queries or ()),
        "rows": [value_row(canary, value) for value in reversed(values)],
        "summary": newest_in_words(canary, values),
        "compared": compared,
        "by_chance": f"{marked_by_chance(compared, canary.confidence):.1f}",
        "level": share_in_words(canary.confidence),
        "families": families,
        "places": places_of(canary.measure),
        "picture": _picture(canary, values, len(families)),
    }


def _picture(canary: Canary, values: Sequence[CanaryValue], families: int) -> dict[str, Any]:
    key = canary_chart_key(canary, values)
    count = counted(len(values), "run")
    return {
        "addresses": {
            variant.replace("-", "_"): f"{reverse('canary_chart', args=[canary.pk, variant])}?v={key}"
            for variant in VARIANTS
        },
        "wide": over_time_size(families),
        "narrow": over_time_size(families, narrow=True),
        "alt": f"{canary.measure} of {count} over the time of their import, with the threshold of "
        f"{canary.threshold:g}; the table below has the figures.",
        "reading": f"Each mark is a run with its {share_in_words(canary.confidence)} interval over queries; "
        "a line joins the runs of one family. Dashed: the threshold. Ringed: fell beyond noise, whatever "
        "the unjudged documents are."
        + (" Dotted: from here on other queries are measured." if len(_starts(values)) else ""),
    }


def value_row(canary: Canary, value: CanaryValue) -> dict[str, Any]:
    return {
        **value_of_run(canary, value),
        "run": value.run,
        "family": value.family,
        "value": decimal(value.mean),
        "interval": interval(ends_of(value)).strip(),
        "change": _change(value.difference, value.difference_low, value.difference_high),
        "since_reference": _change(value.reference_difference, value.reference_low, value.reference_high),
        "stretch": value.stretch_id,
        "coverage": percent(value.judged),
    }


def _change(difference: float | None, low: float | None, high: float | None) -> str | None:
    return None if difference is None else f"{signed(difference)} {span(low, high)}".rstrip()


def newest_in_words(canary: Canary, values: Sequence[CanaryValue]) -> str:
    if not values:
        return "No run has been measured yet."
    newest = values[-1]
    figure = f"{decimal_against(newest.mean, canary.threshold)}{interval(ends_of(newest))}"
    if not is_below(canary.threshold, newest.mean):
        where = f"at or above the threshold of {canary.threshold:g}"
    elif is_clear(canary.threshold, newest.high):
        where = f"below the threshold of {canary.threshold:g}, with its whole interval"
    else:
        where = f"below the threshold of {canary.threshold:g}, though its interval is not wholly below"
    fell = ""
    if has_dropped(newest):
        fell = ", and fell beyond noise" if fell_for_sure(newest) else ", and fell by these labels"
    claims = [BELOW, *newest.reasons]
    perhaps = ", which may only be its unjudged documents" if set(claims) & set(newest.undecided) else ""
    value = f"{canary.measure} {figure} {rests_on(canary, newest)}"
    sentence = f"The newest run, {newest.run.name}, has {value}: {where}{fell}{perhaps}."
    return " ".join([sentence, *remedy(newest, claims)])


def canary_chart_key(canary: Canary, values: Sequence[CanaryValue]) -> str:
    """Differs between any two pictures: what makes an address safe to cache."""
    facts: list[object] = [LOOK, canary.measure, canary.threshold, [_fact(value) for value in values]]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _fact(value: CanaryValue) -> list[object]:
    facts: list[object] = [
        value.run.name,
        value.family,
        value.mean,
        value.low,
        value.high,
        fell_for_sure(value),
    ]
    return [*facts, value.stretch_id]


def _starts(values: Sequence[CanaryValue]) -> list[str]:
    stretches = {value.stretch_id: value.stretch for value in values}
    return [stretch.started_at.isoformat() for stretch in list(stretches.values())[1:]]


def _place(value: CanaryValue, first: int) -> str:
    """The time of its run; a run from before a later stretch is at the beginning of that."""
    if value.stretch_id == first:
        return value.run.imported_at.isoformat()
    return max(value.run.imported_at, value.stretch.started_at).isoformat()


def canary_svg(canary: Canary, variant: str) -> bytes:
    """The canary over time as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    values = values_of(canary)
    stem = f"canaries/{canary.pk}-{canary_chart_key(canary, values)}"
    return kept_svg(stem, variant, lambda is_narrow: _chart(canary, values, narrow=is_narrow))


def canary_png(canary: Canary) -> bytes:
    return to_png(_chart(canary, values_of(canary)))


def _chart(canary: Canary, values: Sequence[CanaryValue], *, narrow: bool = False) -> alt.LayerChart:
    frame = pd.DataFrame(
        [
            {
                "run": value.run.name,
                "family": value.family,
                "at": _place(value, values[0].stretch_id),
                "stretch": value.stretch_id,
                "mean": value.mean,
                "low": value.low,
                "high": value.high,
                "drop": fell_for_sure(value),
            }
            for value in values
        ],
        columns=["run", "family", "at", "stretch", "mean", "low", "high", "drop"],
    ).astype({"drop": bool})
    return canary_over_time(
        frame,
        threshold=canary.threshold,
        breaks=_starts(values),
        title=titled(*split_name(canary.measure)),
        narrow=narrow,
    )


def history_of(canary: Canary) -> list[HistoryEntry]:
    """The values as plain data, the oldest run first."""
    keys = canary.stretches.values_list("pk", flat=True)
    number = {key: place for place, key in enumerate(keys, start=1)}
    return [
        {
            **value_of_run(canary, value),
            "family": value.family,
            "imported_at": value.run.imported_at.isoformat(),
            "difference_low": value.difference_low,
            "difference_high": value.difference_high,
            "p": value.p,
            "reference_low": value.reference_low,
            "reference_high": value.reference_high,
            "reference_p": value.reference_p,
            "stretch": number[value.stretch_id],
        }
        for value in values_of(canary)
    ]


def describe_canaries(collection: Collection, *, for_admin: bool) -> list[CanaryDescription]:
    """The canaries of a collection as `describe_canary` has each."""
    rows = list(with_newest(collection).select_related("pinned"))
    states = states_of(rows)
    return [describe_canary(canary, states[canary.pk], for_admin=for_admin) for canary in rows]


def describe_canary(canary: Canary, state: State | None = None, *, for_admin: bool) -> CanaryDescription:
    """A canary as plain data; who hears of it is for admins, the secret for nobody."""
    state = state or state_of(canary)
    change, least_fall = state.tag_change, state.least_fall
    about: CanaryDescription = {
        "id": canary.pk,
        "name": canary.name,
        "release": canary.release.name,
        "tag": canary.tag,
        "measure": canary.measure,
        "threshold": canary.threshold,
        "confidence": canary.confidence,
        "only_clear": canary.only_clear,
        "reference": canary.reference,
        "pinned": canary.pinned.name if canary.pinned else "",
        "trouble": state.trouble,
        "tag_change": None
        if change is None
        else {"tagged": change.tagged, "added": change.added, "removed": change.removed},
        "least_fall": {
            "queries": least_fall.queries,
            "difference": least_fall.difference,
            "deviation": least_fall.deviation,
            "pairs": least_fall.pairs,
            "fewest": least_fall.fewest,
            "sentence": least_fall.sentence(),
        },
        "url": canary.get_absolute_url(),
    }
    if for_admin:
        about["webhook_url"], about["mail_to"] = canary.webhook_url, canary.mail_to
    return about


def canary_csv(canary: Canary) -> bytes:
    rows = history_of(canary)
    cells = ([" ".join(one) if isinstance(one, list) else one for one in row.values()] for row in rows)
    return table_text(list(rows[0]) if rows else ["run"], cells).encode()


def canary_json(canary: Canary) -> bytes:
    """The canary with its history, without who hears of it."""
    content = {**describe_canary(canary, for_admin=False), "values": history_of(canary)}
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()


FILES: dict[str, Download[[Canary]]] = {
    "csv": Download(".csv", "text/csv", canary_csv),
    "json": Download(".json", "application/json", canary_json),
    "svg": Download(".svg", "image/svg+xml", lambda canary: canary_svg(canary, "light")),
    "png": Download(".png", "image/png", canary_png),
}
