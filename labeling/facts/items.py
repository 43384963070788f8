"""Which facts a person is to judge in a document, and how far the items of queues of facts are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from labeling.models import Fact, FactItem, Support, SupportVerdict

#: Supports of what the fact says now: those of an older meaning are asked again.
OF_THIS_MEANING = Q(fact_version__gte=F("fact__meaning"))


def confirmed_facts(query: int) -> list[Fact]:
    """The facts of a query that count, in the order in which they are shown: by group, then place."""
    facts = list(Fact.objects.filter(query=query, state=Fact.State.CONFIRMED).order_by("position", "pk"))
    first: dict[str, int] = {}
    for place, fact in enumerate(facts):
        first.setdefault(fact.group, place)
    return sorted(facts, key=lambda fact: first[fact.group])


def covered_facts(query: int, by: int) -> set[int]:
    """The facts of a query that at least this many documents support, by anybody's word."""
    supported = Support.objects.filter(
        OF_THIS_MEANING, fact__query=query, verdict=SupportVerdict.SUPPORTS
    ).order_by()
    rows = supported.values_list("fact").annotate(many=Count("document", distinct=True))
    return {fact for fact, many in rows if many >= by}


def facts_of_item(item: FactItem, annotator: User | None = None) -> list[Fact]:
    facts = confirmed_facts(item.query_id)
    covered = item.queue.covered_by
    if covered is None:
        return facts
    left_out = covered_facts(item.query_id, covered)
    kept = own_supports(item, annotator).keys() if annotator else set()
    return [fact for fact in facts if fact.pk not in left_out or fact.pk in kept]


def own_supports(item: FactItem, annotator: User) -> dict[int, Support]:
    mine = Support.objects.filter(
        OF_THIS_MEANING, fact__query=item.query_id, document=item.document_id, annotator=annotator
    )
    return {one.fact_id: one for one in mine.select_related("event")}


def open_items(annotator: User) -> QuerySet[FactItem]:
    """The open documents of every queue with facts that the person has not judged, in order."""
    mine = (
        Support.objects.filter(
            OF_THIS_MEANING,
            fact__query=OuterRef("query"),
            fact__state=Fact.State.CONFIRMED,
            document=OuterRef("document"),
            annotator=annotator,
        )
        .order_by()
        .values("document")
        .annotate(many=Count("pk"))
        .values("many")
    )
    judged = Coalesce(Subquery(mine, output_field=IntegerField()), Value(0))
    there = Q(query__deleted_at=None, document__deleted_at=None)
    items = FactItem.objects.filter(there, is_open=True).annotate(judged=judged)
    return items.filter(judged__lt=F("asked")).order_by("order_key")


def recount(items: QuerySet[FactItem]) -> None:
    """Count `asked`, `done` and whether it is open for locked or new items, and store what changed."""
    rows = list(items.select_related("queue"))
    by_query: dict[tuple[int, int | None], list[FactItem]] = defaultdict(list)
    for item in rows:
        by_query[item.query_id, item.queue.covered_by].append(item)
    for (query, covered_by), some in by_query.items():
        facts = {fact.pk for fact in confirmed_facts(query)}
        if covered_by is not None:
            facts -= covered_facts(query, covered_by)
        _store(some, facts, _judged(query, facts))


def follow_facts(queries: Iterable[int]) -> None:
    """Count the items of some queries again: their facts have changed. The transaction is the caller's."""
    items = FactItem.objects.filter(query__in=list(queries)).order_by("pk")
    keys = list(items.select_for_update(no_key=True).values_list("pk", flat=True))
    recount(FactItem.objects.filter(pk__in=keys))


def _judged(query: int, facts: set[int]) -> dict[int, dict[int, set[int]]]:
    """By document and annotator, which of these facts they have judged."""
    supports: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    rows = Support.objects.filter(OF_THIS_MEANING, fact__query=query)
    for document, annotator, fact in rows.values_list("document", "annotator", "fact"):
        if fact in facts:
            supports[document][annotator].add(fact)
    return supports


def _store(items: Sequence[FactItem], facts: set[int], judged: dict[int, dict[int, set[int]]]) -> None:
    changed: dict[tuple[int, int, bool], list[int]] = defaultdict(list)
    for item in items:
        whole = [one for one in judged[item.document_id].values() if len(one) == len(facts)]
        counted = (len(facts), len(whole) if facts else 0)
        is_open = counted[0] > 0 and counted[1] < item.queue.judgments_per_item
        if (item.asked, item.done, item.is_open) != (*counted, is_open):
            changed[*counted, is_open].append(item.pk)
    for (asked, done, is_open), keys in changed.items():
        FactItem.objects.filter(pk__in=keys).update(asked=asked, done=done, is_open=is_open)
