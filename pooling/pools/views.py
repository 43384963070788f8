"""Pages of pools: the list, the form that builds one, and one pool with its pairs and its download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Case, Count, Exists, OuterRef, QuerySet, Subquery, When
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from pooling.diagnosis import rows as pictures
from pooling.diagnosis.stored import PoolDiagnostics
from pooling.interface.downloads import streamed
from pooling.interface.forms import Figure, choose_from_address, fill_from_address, show_problem
from pooling.interface.pages import answered, go_on, parameter, person
from pooling.interface.problems import refusals
from pooling.merging.choice import Choice
from pooling.models import Pool, PoolEntry, Query, Role
from pooling.options.option import option_rows, options_of
from pooling.people.access import ADMIN, READERS, collection_for, pool_for
from pooling.pools.building import build_or_start
from pooling.pools.exports import POOL_FILES
from pooling.pools.figures import pool_figures
from pooling.pools.forms import ExtensionForm, PoolForm
from pooling.pools.lists import POOLED_PAIRS, POOLED_QUERIES, POOLS
from pooling.pools.versions import extend_or_start, page_options
from pooling.tables.answers import answer


@login_required
@require_GET
def pools(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The pools of a collection, newest first."""
    collection = collection_for(request.user, slug)
    rows = Pool.objects.listed().filter(collection=collection).defer("diagnostics")
    table = POOLS.shown(request, rows.select_related("collection", "built_by"), collection)
    context = {"table": table, "collection": collection, "section": "pools"}
    return answer(request, "pooling/pools.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a new pool; a large one is built by the background worker."""
    collection = collection_for(request.user, slug, ADMIN)
    if request.headers.get("HX-Request"):
        return answered(request, PoolForm(collection, request.GET), _figures)
    form = PoolForm(collection, request.POST or None)
    choose_from_address(request, form, "runs")
    fill_from_address(request, form, options_of(Choice))
    if request.method == "POST" and form.is_valid():
        try:
            name, runs = form.cleaned_data["name"], list(form.cleaned_data["runs"])
            built = build_or_start(collection, form.choice(), name=name, runs=runs, user=person(request))
            return go_on(request, built)
        except refusals() as error:
            show_problem(form, error)
    has_runs = form.fields["runs"].queryset.exists()  # type: ignore[attr-defined]
    context = {"form": form, "has_runs": has_runs, "collection": collection, "section": "pools"}
    return render(request, "pooling/pool_new.html", context)


def _figures(form: PoolForm) -> list[Figure]:
    return pool_figures(form.collection, list(form.cleaned_data["runs"]), form.choice())


@login_required
@require_http_methods(["GET", "POST"])
def extend(request: HttpRequest, slug: str, pool_id: int) -> HttpResponse:
    """A form for the next version of a pool: more runs, or a greater depth."""
    pool = _pool(request, slug, pool_id, ADMIN)
    form = ExtensionForm(pool, request.POST or None)
    for name in {"depth"} & request.GET.keys():
        form.initial[name] = request.GET[name]
    if request.method == "POST" and form.is_valid():
        try:
            name, runs = form.cleaned_data["name"], list(form.cleaned_data["runs"])
            made = extend_or_start(pool, form.extension(), name=name, runs=runs, user=person(request))
            return go_on(request, made)
        except refusals() as error:
            show_problem(form, error)
    has_runs = form.fields["runs"].queryset.exists()  # type: ignore[attr-defined]
    context = {"form": form, "pool": pool, "has_runs": has_runs, "collection": pool.collection}
    return render(request, "pooling/pool_extend.html", {**context, "section": "pools"})


def _pool(request: HttpRequest, slug: str, pool_id: int, roles: tuple[Role, ...] = READERS) -> Pool:
    pool = pool_for(request.user, pool_id, roles)
    if pool.collection.slug != slug:
        raise Http404
    return pool


@login_required
@require_GET
def pool(request: HttpRequest, slug: str, pool_id: int) -> HttpResponse:
    """One pool: its facts, sizes, overlap and lone finds; what labels say is fetched by the page."""
    pool = _pool(request, slug, pool_id)
    entries = PoolEntry.objects.filter(pool=pool, document=OuterRef("pk"))
    without_text = pool.collection.documents.filter(Exists(entries), text__isnull=True)
    context = {"pool": pool, "without_text": without_text.count(), "collection": pool.collection}
    context |= {"later": Pool.objects.filter(extends=pool).first(), "new": pool.diagnostics.get("new")}
    if pool.is_picked:
        return render(request, "pooling/pool_picked.html", {**context, "section": "pools"})
    diagnostics: PoolDiagnostics = pool.diagnostics
    sizes = diagnostics["size_by_depth"]
    context |= {"growth": pictures.growth(sizes), "curve": pictures.curve(sizes)}
    context["heat_map"] = pictures.heat_map(diagnostics["runs"], diagnostics["overlap"])
    context |= {"sizes": pictures.distribution(diagnostics["sizes"]), "by_run": pictures.by_run(diagnostics)}
    context["left_out"] = {run: n for run, n in diagnostics["left_out_queries"].items() if n}
    context["settings"] = list(option_rows(page_options(pool), pool))
    return render(request, "pooling/pool.html", {**context, "section": "pools"})


@login_required
@require_GET
def pairs(request: HttpRequest, slug: str, pool_id: int) -> HttpResponseBase:
    """The queries of a pool with their pairs, or with `?query=ID` its documents and who found them."""
    pool = _pool(request, slug, pool_id)
    context = {"pool": pool, "collection": pool.collection, "section": "pools"}
    if "query" in request.GET:
        query = get_object_or_404(Query, collection=pool.collection, external_id=parameter(request, "query"))
        table = replace(POOLED_PAIRS, prepare=_with_finders(pool)).shown(
            request, _entries(pool, query), pool.collection
        )
        return answer(request, "pooling/pool_query.html", {**context, "query": query, "table": table})
    pooled = PoolEntry.objects.filter(pool=pool, query=OuterRef("pk"))
    count = pooled.order_by().values("query").annotate(count=Count("pk")).values("count")
    rows = Query.objects.filter(Exists(pooled)).annotate(pooled=Subquery(count))
    table = POOLED_QUERIES.shown(request, rows)
    return answer(request, "pooling/pool_pairs.html", {**context, "table": table})


def _with_finders(pool: Pool) -> Callable[[list[PoolEntry]], None]:
    """A function that adds to each pair which runs found it, at which rank."""
    names = pool.diagnostics.get("runs", [])

    def prepare(entries: list[PoolEntry]) -> None:
        for entry in entries:
            entry.finders = [f"{names[index]} ({rank})" for index, rank in entry.found_by]  # type: ignore[attr-defined]

    return prepare


def _entries(pool: Pool, query: Query) -> QuerySet[PoolEntry]:
    entries = pool.entries.filter(query=query).select_related("document", "query")
    has_text = Case(When(document__text__isnull=True, then=False), default=True)
    return entries.defer("document__text", "document__metadata").annotate(has_text=has_text)


@login_required
@require_GET
def download(request: HttpRequest, slug: str, pool_id: int) -> HttpResponseBase:
    """The pool as the table that the command `pool` prints, or in the `format` that the address asks for."""
    pool = _pool(request, slug, pool_id)
    file = POOL_FILES.get(request.GET.get("format", "tsv"))
    if file is None:
        raise Http404(f"There is no format for pools of this name; choose one of {', '.join(POOL_FILES)}.")
    try:
        pieces = file.make(pool)
    except refusals() as error:
        messages.error(request, str(error))
        return redirect(pool)
    return streamed(pieces, f"pool-{pool.pk}{file.suffix}", file.media_type)
