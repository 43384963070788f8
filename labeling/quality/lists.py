"""The list of queues whose quality can be looked at."""

from __future__ import annotations

from django.urls import reverse

from labeling.models import Queue
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table


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
