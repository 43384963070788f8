"""The list of queries with their facts."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.http import urlencode

from labeling.facts.items import OF_THIS_MEANING
from labeling.models import Fact, ImportedSupport, Support
from pooling.models import Collection, Query
from pooling.tables.columns import Choice, Column, Empty, Filter
from pooling.tables.table import Table

STATE = Fact.State


def queries_with_facts(collection: Collection) -> QuerySet[Query]:
    """The queries of a collection with `confirmed`, `vital`, `proposed` and `aside`, numbers of facts."""
    return (
        collection.queries.select_related("collection")
        .annotate(
            confirmed=_number(state=STATE.CONFIRMED),
            vital=_number(state=STATE.CONFIRMED, importance=Fact.Importance.VITAL),
            proposed=_number(state=STATE.PROPOSED),
            aside=_number(state__in=(STATE.REJECTED, STATE.MERGED)),
        )
        .order_by("external_id")
    )


def _number(**which: Any) -> Coalesce:
    """How many such facts a query has; for the rows of one page alone unless a sort or filter needs it."""
    facts = Fact.objects.filter(query=OuterRef("pk"), **which).order_by().values("query")
    return Coalesce(Subquery(facts.annotate(many=Count("pk")).values("many")), 0)


def count_pairs(rows: list[Any]) -> None:
    """Fill in `pairs`: those of a confirmed fact and a document that people or files say something of."""
    queries = [row.pk for row in rows]
    confirmed = {"fact__query__in": queries, "fact__state": STATE.CONFIRMED}
    supports = Support.objects.filter(OF_THIS_MEANING, **confirmed)
    both = ImportedSupport.objects.filter(fact=OuterRef("fact"), document=OuterRef("document"))
    by_people = supports.filter(~Exists(both)).order_by().values_list("fact__query", "fact")
    counts = dict.fromkeys(queries, 0)
    for query, _, many in by_people.annotate(many=Count("document", distinct=True)):
        counts[query] += many
    brought = ImportedSupport.objects.filter(**confirmed).order_by()
    for query, many in brought.values_list("fact__query").annotate(many=Count("pk")):
        counts[query] += many
    for row in rows:
        row.pairs = counts[row.pk]


def _page(query: Query) -> str:
    address = reverse("query_facts", args=[query.collection.slug])
    return f"{address}?{urlencode({'query': query.external_id})}"


QUERIES_WITH_FACTS = Table(
    "queries-with-facts",
    "query",
    columns=(
        Column("query", "Query", "external_id", natural=True, link=_page, style="id"),
        Column("text", "Text", template="labeling/_fact_query_text.html"),
        Column("confirmed", "Confirmed", number=True),
        Column("vital", "Vital", number=True),
        Column("proposed", "Proposed", number=True),
        Column("aside", "Rejected or merged", number=True, hidden=True),
        Column("pairs", "Judged pairs", number=True, sort=False),
    ),
    search=("external_id__icontains", "text__icontains"),
    search_hint="Id or words of the query",
    filters=(
        Filter(
            "facts",
            "Facts",
            (
                Choice("all", "All queries"),
                Choice("some", "With facts", Q(confirmed__gt=0) | Q(proposed__gt=0)),
                Choice("proposed", "With proposals", Q(proposed__gt=0)),
                Choice("none", "Without facts", Q(confirmed=0, proposed=0)),
            ),
            default="all",
        ),
    ),
    prepare=count_pairs,
    sort="query",
    anchor="queries",
    empty=Empty("No queries yet.", "Import queries", "queries"),
)
