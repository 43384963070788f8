from __future__ import annotations

from dataclasses import dataclass, field

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q, TextField, Value
from django.db.models.functions import Cast, Coalesce, Left, NullIf
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from labeling.access import queue_for
from labeling.models import Judgment, Queue
from pooling.people.access import READERS
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty
from pooling.tables.table import Table

PAIRS_ON_A_PAGE = 25
BEGINNING_OF_A_TEXT = 120


@dataclass
class Disagreement:
    """A pair with the verdicts on it, in the order in which they were given, once they were fetched."""

    queue: Queue
    pair: tuple[int, int]
    query_id: str
    query: str
    document_id: str
    document: str
    judgments: list[Judgment] = field(default_factory=list)


def disagreeing_pairs(queue: Queue, annotator: str = "") -> list[Disagreement]:
    """Pairs called relevant by one person and not by another, or those `annotator` judged. One query."""
    opinions = Judgment.objects.opinions().filter(event__queue=queue)
    pairs = opinions.values("query", "document").annotate(kinds=Count("verdict", distinct=True))
    if annotator:
        pairs = pairs.annotate(own=Count("pk", filter=Q(annotator__username=annotator))).filter(own__gt=0)
    title = Cast("document__title", TextField())
    text = Left("document__text", BEGINNING_OF_A_TEXT)
    rows = pairs.filter(kinds__gt=1).order_by("query", "document")
    return [
        Disagreement(queue, (query, document), *texts)
        for query, document, *texts in rows.values_list(
            "query",
            "document",
            "query__external_id",
            "query__text",
            "document__external_id",
            Coalesce(NullIf(title, Value("", TextField())), text, output_field=TextField()),
        )
    ]


def fetch_verdicts(pairs: list[Disagreement]) -> None:
    """Give pairs of one queue their verdicts, in one query for all."""
    rows = Judgment.objects.opinions().filter(event__queue__in={one.queue for one in pairs})
    by_pair = rows.order_by("event").on_pairs(one.pair for one in pairs)
    for one in pairs:
        one.judgments = by_pair[one.pair]


def _verdicts(pair: Disagreement) -> str:
    return ", ".join(
        f"{one.annotator.get_username()}: {one.get_verdict_display().lower()}" for one in pair.judgments
    )


DISAGREEMENTS = Table(
    "disagreements",
    "pair",
    columns=(
        Column("query_id", "Query", natural=True, template="labeling/_differ_query.html"),
        Column("document_id", "Document", natural=True, template="labeling/_differ_document.html"),
        Column("verdicts", "Verdicts", _verdicts, sort=False, template="labeling/_differ_verdicts.html"),
        Column("query", "Query text", hidden=True),
        Column("document", "Document text", hidden=True),
        Column("label", "Label", "pair", sort=False, fixed=True, template="labeling/_differ_label.html"),
    ),
    search=("query_id", "query", "document_id", "document"),
    search_hint="Query or document",
    prepare=fetch_verdicts,
    per_page=PAIRS_ON_A_PAGE,
    empty=Empty("On no pair."),
)


@login_required
@require_safe
def disagreements(request: HttpRequest, queue_id: int) -> HttpResponseBase:
    queue = queue_for(request.user, queue_id, READERS)
    annotator = request.GET.get("annotator", "")[:150]
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "quality",
        "annotator": annotator,
        "table": DISAGREEMENTS.shown(request, disagreeing_pairs(queue, annotator), queue.collection),
    }
    return answer(request, "labeling/disagreements.html", context)
