"""The list of queries with their facts."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
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
    confirmed = Q(facts__state=STATE.CONFIRMED)
    return (
        collection.queries.select_related("collection")
        .annotate(
            confirmed=Count("facts", filter=confirmed),
            vital=Count("facts", filter=confirmed & Q(facts__importance=Fact.Importance.VITAL)),
            proposed=Count("facts", filter=Q(facts__state=STATE.PROPOSED)),
            aside=Count("facts", filter=Q(facts__state__in=(STATE.REJECTED, STATE.MERGED))),
        )
        .order_by("external_id")
    )


def count_pairs(rows: list[Any]) -> None:
    """Fill in `pairs`: those of a confirmed fact and a document that people or files say something of."""
    queries = [row.pk for row in rows]
    confirmed = {"fact__query__in": queries, "fact__state": STATE.CONFIRMED}
    supports = Support.objects.filter(OF_THIS_MEANING, **confirmed)
    by_people = supports.order_by().values_list("fact__query", "fact", "document").distinct()
    counts = dict.fromkeys(queries, 0)
    for query, _, _ in by_people:
        counts[query] += 1
    also = supports.filter(fact=OuterRef("fact"), document=OuterRef("document"))
    brought = ImportedSupport.objects.filter(~Exists(also), **confirmed).order_by()
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
