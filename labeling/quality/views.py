from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from labeling.access import queue_for
from labeling.gold.reader import proposals
from labeling.gold.record import decisions_on
from labeling.gold.rule import ENOUGH_TO_READ
from labeling.models import Queue
from labeling.progress.counts import listed_queues
from labeling.quality.facts import AnnotatorQuality, DayFigures, PlaceFigures, QueueQuality
from labeling.quality.figures import KEPT_SECONDS, queue_quality
from pooling.heavy import alt, pd
from pooling.interface.charting import LIGHT, VARIANTS, finished, in_look, to_svg
from pooling.interface.pages import person
from pooling.models import Role
from pooling.people.access import READERS, collection_for
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table

# Days that a picture holds; of a longer queue, the last ones.
MOST_DAYS = 60


def picture_size(*, narrow: bool = False) -> tuple[int, int]:
    return (360, 260) if narrow else (540, 280)


def position_chart(rows: Sequence[PlaceFigures], *, narrow: bool) -> alt.LayerChart:
    """The share of relevant by place in a session, with 95 % intervals; rows as in `queue_quality`."""
    theme = LIGHT
    groups = [(f"{row['first']}–{row['last']}" if row["last"] else f"{row['first']} on", row) for row in rows]
    table = pd.DataFrame(
        [
            {"place": name, "share": row["share"], "low": row["low"], "high": row["high"]}
            for name, row in groups
            if row["verdicts"]
        ],
        columns=["place", "share", "low", "high"],
    ).astype({"share": float, "low": float, "high": float})
    order = [name for name, _ in groups]
    axis = alt.Axis(labelAngle=0, grid=False)
    across = alt.X(
        "place:N", title="Place in the session", sort=order, axis=axis, scale=alt.Scale(domain=order)
    )
    scale = alt.Scale(domainMin=0, nice=True)

    def at(column: str) -> alt.Y:
        return alt.Y(
            f"{column}:Q", title="Share of relevant", scale=scale, axis=alt.Axis(format=".0%", tickCount=5)
        )

    base = alt.Chart(table).encode(x=across)
    interval = base.mark_rule(strokeWidth=3, color=theme.runs[0], opacity=0.45)
    mark = base.mark_point(filled=True, size=70, color=theme.runs[0], opacity=1)
    layers = [interval.encode(y=at("low"), y2=alt.Y2("high:Q")), mark.encode(y=at("share"))]
    return finished(layers, picture_size(narrow=narrow), theme)


def pace_chart(rows: Sequence[DayFigures], *, narrow: bool) -> alt.LayerChart:
    """Verdicts by day; rows as in `queue_quality`."""
    theme = LIGHT
    days = list(rows)[-MOST_DAYS:]
    table = pd.DataFrame(
        {"day": [row["day"].isoformat() for row in days], "verdicts": [row["verdicts"] for row in days]}
    ).astype({"day": str, "verdicts": float})
    width = max(2, min(24, (picture_size(narrow=narrow)[0] - 110) // max(1, _span(days))))
    across = alt.X(
        "day:T",
        title="Day",
        axis=alt.Axis(format="%-d %b", grid=False, tickCount=4 if narrow else 6, labelOverlap=True),
        scale=alt.Scale(type="utc", padding=width),
    )
    height = alt.Y(
        "verdicts:Q",
        title="Verdicts that stand",
        scale=alt.Scale(domainMin=0, nice=True),
        axis=alt.Axis(format=",d", tickCount=5, tickMinStep=1),
    )
    bars = alt.Chart(table).mark_bar(color=theme.runs[0], width=width).encode(x=across, y=height)
    return finished([bars], picture_size(narrow=narrow), theme)


def _span(days: Sequence[DayFigures]) -> int:
    return (days[-1]["day"] - days[0]["day"]).days + 1 if days else 1


PICTURES = ("position", "pace")


def quality_svg(quality: QueueQuality, picture: str, variant: str) -> bytes:
    """One of PICTURES as SVG; `variant` is one of `pooling.interface.charting.VARIANTS`."""
    narrow = variant.endswith("narrow")
    if picture == "position":
        chart = position_chart(quality["by_position"], narrow=narrow)
    else:
        chart = pace_chart(quality["per_day"], narrow=narrow)
    return in_look(to_svg(chart), variant)


LAST_DAYS = 14


def _page(queue: Queue) -> str:
    return reverse("quality", args=[queue.pk])


QUALITY = Table(
    "quality",
    "queue",
    columns=(
        Column("name", "Queue", natural=True, link=_page, style="id"),
        Column("judged", "Judged", "settled", number=True),
        Column("pairs", "Pairs", "total", number=True),
    ),
    search=("name__icontains",),
    search_hint="Queue",
    empty=Empty(
        "No queue of pairs. Archived and deleted queues are not listed.", "Open a queue", "queue_new"
    ),
)


@login_required
@require_GET
def collection_quality(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The queues whose quality can be looked at; where there is one alone, its page."""
    collection = collection_for(request.user, slug)
    rows = listed_queues(collection, person(request)).filter(kind=Queue.Kind.PAIRS)
    table = QUALITY.shown(request, rows, collection)
    if table.count == 1 and not table.state.is_narrowed:
        return redirect("quality", table.rows[0].row.pk)
    context = {"table": table, "collection": collection, "section": "quality"}
    return answer(request, "labeling/collection_quality.html", context)


@login_required
@require_GET
def quality(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Agreement, annotators, places in a session, pace and hard queries."""
    queue = queue_for(request.user, queue_id, READERS)
    figures = queue_quality(queue)
    is_admin = queue.collection.role == Role.ADMIN  # type: ignore[attr-defined]
    context = {
        "implausible": proposals(queue) if is_admin else [],
        "decisions": decisions_on(queue) if is_admin else [],
        "queue": queue,
        "collection": queue.collection,
        "section": "quality",
        "quality": figures,
        "last_days": list(reversed(figures["per_day"][-LAST_DAYS:])),
        "rows": [_row(row) for row in figures["annotators"]],
        "has_repeats": any(row["again"] for row in figures["annotators"]),
        "age_seconds": int((timezone.now() - figures["computed_at"]).total_seconds()),
        "enough": ENOUGH_TO_READ,
        "picture_key": int(1000 * figures["computed_at"].timestamp()),
        "wide_size": picture_size(),
        "narrow_size": picture_size(narrow=True),
    }
    return render(request, "labeling/quality.html", context)


@login_required
@require_GET
def quality_picture(request: HttpRequest, queue_id: int, picture: str, variant: str) -> HttpResponse:
    queue = queue_for(request.user, queue_id, READERS)
    if picture not in PICTURES or variant not in VARIANTS:
        raise Http404("This queue has no such chart.")
    figures = queue_quality(queue)
    key = f"queue-picture-{queue.pk}-{figures['computed_at'].timestamp()}-{picture}-{variant}"
    content = cache.get_or_set(key, lambda: quality_svg(figures, picture, variant), KEPT_SECONDS)
    return HttpResponse(content, content_type="image/svg+xml")


def _row(row: AnnotatorQuality) -> dict[str, Any]:
    median = row["speed"].median_ms
    return {**row, "median_seconds": None if median is None else median / 1000}
