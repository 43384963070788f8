from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Case, Count, Exists, OuterRef, QuerySet, Subquery, When
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from pooling.heavy import Integers, np
from pooling.interface.downloads import streamed
from pooling.interface.forms import (
    FIRST,
    Figure,
    choose_runs_from_address,
    fill_from_address,
    numbered_name,
    show_problem,
)
from pooling.interface.option_fields import form_fields
from pooling.interface.pages import answered, go_on, parameter, person
from pooling.interface.problems import InputError, refusals
from pooling.merging.choice import USUAL_AUDIT_SHARE, USUAL_STRATEGY, Choice, offered_choice
from pooling.merging.preview import Tops
from pooling.merging.stored_diagnosis import PoolDiagnostics
from pooling.merging.summary import without_pair
from pooling.models import Collection, Pool, PoolEntry, Query, Role, Run
from pooling.options import chosen, option_rows, options_of
from pooling.people.access import ADMIN, READERS, collection_for, pool_for
from pooling.pools import diagnosis_rows as pictures
from pooling.pools.building import build_or_start, checked_choice
from pooling.pools.exports import POOL_FILES
from pooling.pools.lists import POOLED_PAIRS, POOLED_QUERIES, POOLS
from pooling.pools.versions import (
    Extension,
    check_extendable,
    extend_or_start,
    next_name,
    other_runs,
    page_options,
)
from pooling.ranking.frame import expected_draws, whole_sizes
from pooling.ranking.sample import audit_sizes, spread_budget
from pooling.runs.depths import HELP, RunChoices, RunDepthsForm
from pooling.runs.frames import planned_frame
from pooling.runs.numbered import numbered_tops
from pooling.strategies import RECOMMENDED
from pooling.tables.answers import answer

BUDGET = ("budget", "audit_share", "reach", "seed")


class StrategyChoices(forms.RadioSelect):
    """Radio buttons: recommended strategies as cards that say when to choose them, then the others."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        context = self.get_context(name, value, attrs)["widget"]
        options = {option["value"]: option for _, group, _ in context["optgroups"] for option in group}
        cards = [
            {"option": options[strategy], "why": why}
            for strategy, why in RECOMMENDED.items()
            if strategy in options
        ]
        others = [
            (heading, [option for option in group if option["value"] not in RECOMMENDED])
            for heading, group, _ in context["optgroups"]
        ]
        is_other = any(option["selected"] for _, group in others for option in group)
        rows = {"widget": context, "cards": cards, "others": others, "is_other": is_other}
        return render_to_string("pooling/_strategy_choices.html", rows)


@form_fields(
    Choice,
    strategy={"required": True, "widget": StrategyChoices, "initial": USUAL_STRATEGY},
    audit_share={"initial": f"{USUAL_AUDIT_SHARE:g}"},
)
class PoolForm(RunDepthsForm):
    GROUPS = {
        FIRST: ("runs", "depth", "strategy", "name"),
        "Budget and audit": BUDGET,
        "Order of each run": ("ties", "scores"),
    }

    name = forms.CharField(max_length=200)
    runs = forms.ModelMultipleChoiceField(Run.objects.none(), widget=RunChoices, help_text=HELP)

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collection = collection
        self.fields["runs"].initial = list(collection.runs.listed().values_list("pk", flat=True))
        self.fields["runs"].queryset = collection.runs.listed().defer("preflight")  # type: ignore[attr-defined]
        self.fields["name"].initial = numbered_name(
            "Pool", set(collection.pools.values_list("name", flat=True))
        )
        self.show_depths()

    def choice(self) -> Choice:
        """An empty field takes its default."""
        return offered_choice(chosen(Choice, self.cleaned_data))


@form_fields(Extension, depth={"required": True}, strategy={"required": True, "widget": StrategyChoices})
class ExtensionForm(RunDepthsForm):
    GROUPS = {FIRST: ("runs", "depth", "name"), "Strategy": ("strategy",), "Budget and audit": BUDGET}

    name = forms.CharField(max_length=200)
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(), required=False, widget=RunChoices, label="New runs", help_text=HELP
    )

    def __init__(self, pool: Pool, data: Any = None) -> None:
        kept = {
            name: getattr(pool, name) for name in options_of(Extension) if name not in ("budget", "depths")
        }
        super().__init__(data, initial={**kept, "name": next_name(pool)})
        others = other_runs(pool)
        self.fields["runs"].queryset = others  # type: ignore[attr-defined]
        self.fields["runs"].initial = list(others.values_list("pk", flat=True))
        if not self.fields["runs"].initial:
            self.fields["runs"].widget = forms.MultipleHiddenInput()
        self.show_depths()

    def extension(self) -> Extension:
        """An empty field is as in the pool."""
        return Extension(**chosen(Extension, self.cleaned_data))


def pool_figures(collection: Collection, runs: Sequence[Run], choice: Choice) -> list[Figure]:
    """Pairs down to the depth and to twice of it, and the chosen pairs; `InputError` as in `build_pool`."""
    choice = checked_choice(choice, runs)
    every = list(collection.runs.defer("preflight").order_by("pk"))
    place = {run.pk: index for index, run in enumerate(every)}
    own = {place[run.pk]: choice.depths[run.name] for run in runs if run.name in choice.depths}
    deeper = min(2 * choice.depth, max((run.depth for run in runs), default=0))
    numbered, _ = numbered_tops(collection, every, max(deeper, choice.deepest))
    tops = numbered.chosen([place[run.pk] for run in runs], max(deeper, choice.deepest))
    if not len(tops.pair):
        raise InputError("None of these runs has a query of the collection.", field="runs")
    sizes = tops.to_depths(choice.depth, own).query_sizes()
    pairs, queries = int(sizes.sum()), int((sizes > 0).sum())
    frames = sizes
    if choice.reach is not None:
        frame = planned_frame(collection, every, [place[run.pk] for run in runs], choice.reach)
        frames = np.where(sizes > 0, np.maximum(frame.sizes, sizes), 0)
    title = "Pairs in the pool" if choice.reach is None else "Pairs down to the depth"
    figures = [Figure(title, f"{pairs:,}", f"{pairs / queries:,.1f} per query")]
    if deeper > choice.depth:
        figures.append(Figure(f"At depth {deeper:,}", f"{_size(tops, deeper, own):,}", "pairs"))
    return [*figures, *_chosen(sizes, frames, choice)]


def _chosen(sizes: Integers, frames: Integers, choice: Choice) -> list[Figure]:
    """sizes, frames (Q,): the documents of each query's pool, and those that its audit draws from."""
    budget, share = choice.budget if isinstance(choice.budget, int) else None, choice.share
    chosen = whole_sizes(sizes, frames, share) if budget is None else spread_budget(frames, budget)
    note = ""
    # With every pair of the pool chosen, there is nothing to draw.
    if share and (choice.reach is not None or chosen.sum() < sizes.sum()):
        audits = audit_sizes(share, sizes if budget is None else chosen)
        draws, beyond = map(round, expected_draws(sizes, frames, chosen, audits))
        note = f"about {draws:,} of them drawn at random"
        note += f", {beyond:,} from beyond the depth" if beyond else ""
    figures = [Figure("Chosen", f"{chosen.sum():,}", note)]
    if without := int(((sizes > 0) & (chosen == 0)).sum()):
        figures.append(Figure("Queries without a pair", f"{without:,}", "no estimate is about them"))
    return figures


def _size(tops: Tops, depth: int, own: dict[int, int]) -> int:
    return int(tops.to_depths(depth, own).query_sizes().sum())


@login_required
@require_GET
def pools(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug)
    rows = Pool.objects.listed().filter(collection=collection).defer("diagnostics")
    table = POOLS.shown(request, rows.select_related("collection", "built_by"), collection)
    context = {"table": table, "collection": collection, "section": "pools"}
    return answer(request, "pooling/pools.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    if request.headers.get("HX-Request"):
        return answered(request, PoolForm(collection, request.GET), _figures)
    form = PoolForm(collection, request.POST or None)
    choose_runs_from_address(request, form)
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
    pool = _pool(request, slug, pool_id, ADMIN)
    form = ExtensionForm(pool, request.POST or None)
    fill_from_address(request, form, ["depth"])
    if request.method == "POST" and form.is_valid():
        try:
            name, runs = form.cleaned_data["name"], list(form.cleaned_data["runs"])
            made = extend_or_start(pool, form.extension(), name=name, runs=runs, user=person(request))
            return go_on(request, made)
        except refusals() as error:
            show_problem(form, error)
    has_runs = form.fields["runs"].queryset.exists()  # type: ignore[attr-defined]
    context = {"form": form, "pool": pool, "has_runs": has_runs, "collection": pool.collection}
    try:
        check_extendable(pool)
    except InputError as error:
        context["problem"] = str(error)
    return render(request, "pooling/pool_extend.html", {**context, "section": "pools"})


def _pool(request: HttpRequest, slug: str, pool_id: int, roles: tuple[Role, ...] = READERS) -> Pool:
    pool = pool_for(request.user, pool_id, roles)
    if pool.collection.slug != slug:
        raise Http404
    return pool


@login_required
@require_GET
def pool(request: HttpRequest, slug: str, pool_id: int) -> HttpResponse:
    pool = _pool(request, slug, pool_id)
    entries = PoolEntry.objects.filter(pool=pool, document=OuterRef("pk"))
    without_text = pool.collection.documents.filter(Exists(entries), text__isnull=True)
    context = {"pool": pool, "without_text": without_text.count(), "collection": pool.collection}
    context |= {"later": Pool.objects.filter(extends=pool).first(), "new": pool.diagnostics.get("new")}
    context["without_pair"] = without_pair(pool.chosen_count, pool.query_count)
    if pool.is_picked:
        return render(request, "pooling/pool_picked.html", {**context, "section": "pools"})
    diagnostics: PoolDiagnostics = pool.diagnostics
    sizes = diagnostics["size_by_depth"]
    context |= {"growth": pictures.growth(sizes), "curve": pictures.curve(sizes)}
    runs = diagnostics["runs"]
    context["heat_map"] = pictures.heat_map(runs, diagnostics["overlap"], diagnostics["unique_finds"])
    context |= {"sizes": pictures.distribution(diagnostics["sizes"]), "by_run": pictures.by_run(diagnostics)}
    context |= {"runs": runs[: pictures.MOST_RUNS], "call": reverse("api_pool_diagnostics", args=[pool.pk])}
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
