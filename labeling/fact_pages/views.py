from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.utils.text import Truncator
from django.views.decorators.http import require_GET, require_http_methods

from labeling.fact_pages.draft_requests import last_drafter
from labeling.fact_pages.files import FACT_FILES, FACT_TITLES
from labeling.fact_pages.forms import FactChangeForm, FactForm, FactsFileForm
from labeling.facts.editing import (
    FactDraft,
    add_fact,
    change_fact,
    decide_facts,
    fact_named,
    merge_facts,
    remark_on,
)
from labeling.facts.items import OF_THIS_MEANING
from labeling.facts.labels import fact_counts
from labeling.models import Fact, ImportedLabel, ImportedSupport, Judgment, Queue, Support, Verdict
from pooling.interface.downloads import offered
from pooling.interface.pages import parameter, person
from pooling.interface.problems import InputError
from pooling.models import Collection, Query
from pooling.people.access import ADMIN, READERS, collection_for, fetch
from pooling.storage.pages import import_page
from pooling.tables.answers import answer
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


def _address(query: Query) -> str:
    address = reverse("query_facts", args=[query.collection.slug])
    return f"{address}?{urlencode({'query': query.external_id})}"


QUERIES_WITH_FACTS = Table(
    "queries-with-facts",
    "query",
    columns=(
        Column("query", "Query", "external_id", natural=True, link=_address, style="id"),
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
    empty=Empty("No queries yet.", "Import queries", "queries", made="queries"),
)


MOST_DOCUMENTS = 30


@login_required
@require_GET
def facts(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, READERS)
    context = {
        "collection": collection,
        "section": "facts",
        "table": QUERIES_WITH_FACTS.shown(request, queries_with_facts(collection), collection),
        "counts": fact_counts(collection),
        "fact_queues": collection.queues.listed().filter(kind=Queue.Kind.FACTS),
        "files": FACT_TITLES,
    }
    return answer(request, "labeling/facts.html", context)


facts_import = import_page("facts", FactsFileForm, "labeling/facts_import.html", section="facts")


@login_required
@require_GET
def facts_download(request: HttpRequest, slug: str, format: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, READERS)
    try:
        return offered(FACT_FILES, format, collection.slug, collection)
    except InputError as error:
        messages.error(request, str(error))
        return redirect("facts", collection.slug)


@login_required
@require_http_methods(["GET", "POST"])
def query_facts(request: HttpRequest, slug: str) -> HttpResponse:
    """The facts of the query that `?query=` names: proposals, confirmed ones, and those that were put aside.

    POST writes one down, changes one, decides on some or merges one; htmx gets the lists alone.
    """
    collection = collection_for(request.user, slug, READERS if request.method == "GET" else ADMIN)
    query = fetch(Query.objects.filter(collection=collection), external_id=parameter(request, "query"))
    problem = ""
    if request.method == "POST":
        try:
            message = _done(request, collection, query)
        except InputError as error:
            problem = str(error)
        else:
            if not request.headers.get("HX-Request"):
                messages.success(request, message)
                return redirect(_address(query))
    context = _context(collection, query, _rows(request.POST), problem) | {"section": "facts"}
    if request.headers.get("HX-Request"):
        return render(request, "labeling/_query_facts.html", context)
    rest = {
        "drafter": last_drafter(collection),
        "documents": _relevant_documents(collection, query),
        "form": FactForm(),
    }
    return render(request, "labeling/query_facts.html", {**context, **rest})


@transaction.atomic
def _done(request: HttpRequest, collection: Collection, query: Query) -> str:
    user, action = person(request), request.POST.get("action", "")
    if action == "add":
        form = FactForm(request.POST)
        if not form.is_valid():
            raise InputError(_first_problem(form))
        fact = add_fact(query, FactDraft(**form.cleaned_data), user=user)
        return f"Fact {fact.external_id} added. {remark_on(fact.text)}".strip()
    names = request.POST.getlist("fact") or request.POST.getlist("facts")
    chosen = [fact_named(collection, query.external_id, name) for name in names]
    if not chosen:
        raise InputError("Choose a fact.")
    # The buttons of a row send its words along, those of all rows the words of each; who rejects needs none.
    rows = {} if action in (STATE.REJECTED, STATE.PROPOSED) else _rows(request.POST)
    states = (STATE.CONFIRMED, STATE.REJECTED, STATE.PROPOSED)
    if action not in (*states, "merge"):
        rows = rows or {names[0]: request.POST}
    changed = [_changed(rows[fact.external_id], fact, user) for fact in chosen if fact.external_id in rows]
    if action in states:
        done = decide_facts(chosen, action, user=user)
        return f"{done} {action}."
    if action == "merge":
        into = fact_named(collection, query.external_id, request.POST.get("into", ""))
        merge_facts(chosen[0], into, user=user)
        return f"Fact {chosen[0].external_id} merged into {into.external_id}."
    return changed[0]


def _rows(sent: QueryDict) -> dict[str, QueryDict]:
    """What was sent of each row by the id of its fact: of one, or of all with the same fields in each."""
    names = sent.getlist("fact") if "text" in sent else []
    rows = {name: QueryDict(mutable=True) for name in names}
    for field, values in sent.lists():
        if len(values) == len(names):
            for name, value in zip(names, values, strict=True):
                rows[name][field] = value
    return rows


def _changed(row: QueryDict, fact: Fact, user: User) -> str:
    form = FactChangeForm(row, fact=fact)
    if not form.is_valid():
        raise InputError(f"Fact {fact.external_id}, {_first_problem(form)}")
    if form.changes:
        change_fact(fact, user=user, same_meaning=form.cleaned_data["same_meaning"], **form.changes)
    return f"Fact {fact.external_id} changed. {remark_on(form.cleaned_data['text'])}".strip()


def _first_problem(form: FactForm) -> str:
    name, problems = next(iter(form.errors.items()))
    return f"{name}: {problems[0]}"


def _context(
    collection: Collection, query: Query, rows: dict[str, QueryDict], problem: str
) -> dict[str, object]:
    """The lists of facts; `rows` that were sent keep what was written, where refused as well."""
    state = Fact.State
    every = list(Fact.objects.filter(query=query).select_related("merged_into").order_by("position", "pk"))
    confirmed = [fact for fact in every if fact.state == state.CONFIRMED]
    # Each once, not once for each fact that could be merged with it.
    options = {fact.pk: _option(fact) for fact in confirmed}
    for fact in every:
        fact.remark = remark_on(fact.text)  # type: ignore[attr-defined]
        fact.is_sent = fact.external_id in rows  # type: ignore[attr-defined]
        written = rows.get(fact.external_id) if problem else None
        fact.form = FactChangeForm(written, fact=fact)  # type: ignore[attr-defined]
        others = (option for key, option in options.items() if key != fact.pk)
        fact.others = mark_safe("".join(others))  # type: ignore[attr-defined]  # noqa: S308  escaped one by one
    return {
        "collection": collection,
        "query": query,
        "problem": problem,
        "proposed": [fact for fact in every if fact.state == state.PROPOSED],
        "confirmed": confirmed,
        "aside": [fact for fact in every if fact.state in (state.REJECTED, state.MERGED)],
        "groups": sorted({fact.group for fact in every if fact.group}),
    }


def _option(fact: Fact) -> str:
    words = Truncator(fact.text).chars(60)
    return format_html('<option value="{0}">{0}: {1}</option>', fact.external_id, words)


def _relevant_documents(collection: Collection, query: Query) -> list[tuple[str, str]]:
    judged = Judgment.objects.counted().filter(query=query, verdict=Verdict.RELEVANT)
    brought = ImportedLabel.objects.filter(query=query, relevance__gt=0)
    keys = {key for rows in (judged, brought) for key in rows.values_list("document", flat=True)}
    rows = collection.documents.filter(pk__in=keys).order_by("external_id")
    return list(rows.values_list("external_id", "title")[:MOST_DOCUMENTS])
