"""The pages of engines, which are for admins: the list, the form with a try, one engine, and asking it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pooling.engine_models import Engine
from pooling.engines.description import checked, preset_named, setting_rows
from pooling.engines.forms import AskingForm, EngineForm
from pooling.engines.lists import ENGINES, where_of
from pooling.engines.presets import PRESETS
from pooling.engines.running import start_asking, try_engine
from pooling.engines.stored import change_engine, create_engine, engine_for
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, person
from pooling.interface.problems import refusals
from pooling.models import Collection, Run
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer

FIRST_RUNS = 10
MOST_QUERIES = 200


@login_required
@require_safe
def engines(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The engines of a collection."""
    collection = collection_for(request.user, slug, ADMIN)
    rows = Engine.objects.listed().filter(collection=collection).select_related("collection")
    context = {
        "table": ENGINES.shown(request, rows, collection),
        "collection": collection,
        "section": "engines",
    }
    return answer(request, "pooling/engines.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def engine_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A form for a new engine, which can be tried before it is stored; `?preset=` begins with a request."""
    collection = collection_for(request.user, slug, ADMIN)
    begins_with = None
    if (preset := request.GET.get("preset", "")) in PRESETS:
        begins_with = preset_named(preset)
    form = EngineForm(request.POST or None, collection=collection, begins_with=begins_with)
    return _form(request, collection, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def engine_edit(request: HttpRequest, slug: str, engine_id: int) -> HttpResponse:
    """Other settings, or another key."""
    engine = engine_for(request.user, slug, engine_id)
    form = EngineForm(request.POST or None, collection=engine.collection, engine=engine)
    return _form(request, engine.collection, form)


def _form(request: HttpRequest, collection: Collection, form: EngineForm) -> HttpResponse:
    context = {
        "collection": collection,
        "section": "engines",
        "form": form,
        "engine": form.engine,
        "presets": PRESETS.values(),
        "preset": request.GET.get("preset", ""),
        "queries": (
            collection.queries.listed()
            .order_by("pk")
            .only("external_id", "text", "collection")[:MOST_QUERIES]
        ),
    }
    if "try" in request.POST:
        context |= _tried(request, collection, form)
        partial = bool(request.headers.get("HX-Request"))
        return render(
            request, "pooling/_engine_tried.html" if partial else "pooling/engine_form.html", context
        )
    if request.method == "POST" and form.is_valid():
        try:
            settings, key, user = form.settings(), form.new_key(), person(request)
            if form.engine is None:
                name = form.cleaned_data["name"]
                engine = create_engine(collection, name, settings, key=key or "", user=user)
            else:
                engine = change_engine(form.engine, settings, key=key, user=user)
            messages.success(request, f"Saved “{engine.name}”.")
            return redirect(engine)
        except refusals() as error:
            show_problem(form, error)
    return render(request, "pooling/engine_form.html", context)


def _tried(request: HttpRequest, collection: Collection, form: EngineForm) -> dict[str, object]:
    """The engine's answer to one query, or why there is none; nothing is stored."""
    form.full_clean()
    # A name may still be missing.
    wrong = next((name for name in form.errors if name != "name"), None)
    try:
        if wrong is not None:
            return {"problem": f"{form[wrong].label}: {form.errors[wrong][0]}"}
        settings = checked(form.settings())
        return {"tried": try_engine(collection, settings, form.key_to_try(), request.POST.get("query", ""))}
    except refusals() as error:
        field = next((name for name in getattr(error, "fields", {}) if name in form.fields), None)
        return {"problem": str(error) if field is None else f"{form[field].label}: {error}"}


@login_required
@require_safe
def engine(request: HttpRequest, slug: str, engine_id: int) -> HttpResponse:
    """One engine: how it is asked, and the runs of its answers."""
    engine = engine_for(request.user, slug, engine_id)
    runs = Run.objects.filter(collection=engine.collection, preflight__engine__id=engine.pk)
    context = {
        "collection": engine.collection,
        "section": "engines",
        "engine": engine,
        "where": where_of(engine),
        "settings": setting_rows(engine),
        "form": AskingForm(engine=engine),
        "runs": runs.order_by("-pk")[:FIRST_RUNS],
    }
    return render(request, "pooling/engine.html", context)


@login_required
@require_POST
def engine_ask(request: HttpRequest, slug: str, engine_id: int) -> HttpResponse:
    """Ask an engine for all queries, in the background; the run can extend a pool."""
    engine = engine_for(request.user, slug, engine_id)
    form = AskingForm(request.POST, engine=engine)
    if not form.is_valid():
        messages.error(request, " ".join(str(errors[0]) for errors in form.errors.values()))
        return redirect(engine)
    values = form.cleaned_data
    try:
        job = start_asking(
            engine, person(request), name=values["name"] or None, depth=values["depth"], pool=values["pool"]
        )
    except refusals() as error:
        messages.error(request, str(error))
        return redirect(engine)
    return go_on(request, job)
