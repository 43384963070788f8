"""The quality page of a queue, for admins and viewers, and its pictures."""

from __future__ import annotations

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
from labeling.gold.rule import ENOUGH_TO_READ
from labeling.models import Queue
from labeling.plausibility.reader import proposals
from labeling.plausibility.record import decisions_on
from labeling.progress.counts import listed_queues
from labeling.quality import charts as quality_charts
from labeling.quality.facts import AnnotatorQuality
from labeling.quality.figures import KEPT_SECONDS, queue_quality
from pooling.interface.charting import VARIANTS
from pooling.interface.pages import person
from pooling.models import Role
from pooling.people.access import READERS, collection_for
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table

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
    empty=Empty("Nothing is judged yet.", "Open a queue", "queue_new"),
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
        "wide_size": quality_charts.picture_size(),
        "narrow_size": quality_charts.picture_size(narrow=True),
    }
    return render(request, "labeling/quality.html", context)


@login_required
@require_GET
def quality_picture(request: HttpRequest, queue_id: int, picture: str, variant: str) -> HttpResponse:
    queue = queue_for(request.user, queue_id, READERS)
    if picture not in quality_charts.PICTURES or variant not in VARIANTS:
        raise Http404("This queue has no such chart.")
    figures = queue_quality(queue)
    key = f"queue-picture-{queue.pk}-{figures['computed_at'].timestamp()}-{picture}-{variant}"
    content = cache.get_or_set(
        key, lambda: quality_charts.quality_svg(figures, picture, variant), KEPT_SECONDS
    )
    return HttpResponse(content, content_type="image/svg+xml")


def _row(row: AnnotatorQuality) -> dict[str, Any]:
    median = row["speed"].median_ms
    return {**row, "median_seconds": None if median is None else median / 1000}
