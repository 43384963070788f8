from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from pooling.engine_models import Engine
from pooling.engines.description import checked, preset_named, setting_rows, settings_of
from pooling.engines.lists import ENGINES, where_of
from pooling.engines.options import DEEPEST, EngineSettings
from pooling.engines.presets import PRESETS
from pooling.engines.running import start_asking, try_engine
from pooling.engines.sql import database_names
from pooling.engines.stored import LONGEST_KEY, change_engine, checked_key, create_engine, engine_for, key_of
from pooling.interface.forms import FIRST, EditForm, GroupedForm, say_instead, show_problem
from pooling.interface.option_fields import form_fields
from pooling.interface.pages import go_on, person
from pooling.interface.problems import refusals
from pooling.models import Collection, Pool, Run
from pooling.options import chosen, options_of
from pooling.people.access import ADMIN, collection_for
from pooling.tables.answers import answer

SQL, PACE = "A database instead of an address", "Pace and schedule"


def _mono(rows: int) -> dict[str, object]:
    return {"widget": forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})}


@form_fields(
    EngineSettings,
    address=_mono(2),
    body=_mono(8),
    id_path={"widget": forms.TextInput(attrs={"class": "mono"})},
    score_path={"widget": forms.TextInput(attrs={"class": "mono"})},
    statement=_mono(6),
)
class EngineForm(EditForm, GroupedForm, forms.Form):
    GROUPS = {
        FIRST: ("name", "address", "body", "id_path", "score_path", "depth"),
        "Key": ("key", "key_header", "forget_key"),
        SQL: ("database", "statement"),
        PACE: ("concurrency", "per_second", "time_out", "every_hours"),
    }

    name = forms.CharField(max_length=200, help_text="Runs of its answers are called after it.")
    key = forms.CharField(
        required=False,
        max_length=LONGEST_KEY,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Saved encrypted, sent to this host only and never shown. With Authorization: Basic, write "
        "user:password.",
    )
    forget_key = forms.BooleanField(required=False, label="Remove the saved key")
    database = forms.ChoiceField(
        required=False, help_text="Those that the site's settings name (SOUNDINGS_SEARCH_DATABASES)."
    )

    def __init__(
        self,
        data: Any = None,
        *,
        collection: Collection,
        engine: Engine | None = None,
        begins_with: EngineSettings | None = None,
    ) -> None:
        self.collection, self.engine = collection, engine
        settings = settings_of(engine) if engine else begins_with
        initial = (
            {} if settings is None else {name: getattr(settings, name) for name in options_of(EngineSettings)}
        )
        super().__init__(data, label_suffix="", initial=initial)
        names = database_names()
        offered = [("", "–"), *((name, name) for name in names)]
        self.fields["database"].choices = offered  # type: ignore[attr-defined]
        if not names and not (engine and engine.statement):
            del self.fields["database"], self.fields["statement"]
        if engine is None or not engine.sealed_key:
            del self.fields["forget_key"]
        if engine is not None:
            del self.fields["name"]
            self.carry()
        if engine is not None and engine.sealed_key:
            self.fields["key"].help_text = (
                "A key is saved and not shown again. Leave empty to keep it; an address on another host "
                "drops it."
            )

    def settings(self) -> EngineSettings:
        """Not yet checked; call it after `is_valid`."""
        return EngineSettings(**chosen(EngineSettings, self.cleaned_data))

    def new_key(self) -> str | None:
        """The key to save: None keeps the saved one, "" removes it."""
        if self.cleaned_data.get("forget_key"):
            return ""
        return self.cleaned_data["key"] or (None if self.engine else "")

    def key_to_try(self) -> str:
        """The key for a try: the typed one, or the saved one where the host is the same."""
        if (key := self.new_key()) is not None:
            return checked_key(key)
        if self.engine is None or settings_of(self.engine).origin != self.settings().origin:
            return ""
        return key_of(self.engine)


class AskingForm(forms.Form):
    """A run to make of an engine's answers."""

    name = forms.CharField(
        required=False,
        max_length=200,
        label="Name of the run",
        help_text="Empty: the engine's name and the day.",
    )
    depth = forms.IntegerField(required=False, min_value=1, max_value=DEEPEST, label="Documents per query")
    pool = forms.ModelChoiceField(
        Pool.objects.none(),
        required=False,
        empty_label="no pool",
        label="Then extend",
        help_text="The pool's next version has what the engine returns today.",
    )

    def __init__(self, data: Any = None, *, engine: Engine) -> None:
        super().__init__(data, label_suffix="", initial={"depth": engine.depth})
        extended = Pool.objects.filter(extends__collection=engine.collection).values("extends")
        pools = Pool.objects.listed().filter(collection=engine.collection).defer("diagnostics")
        pools = pools.exclude(pk__in=extended).exclude(strategy__in=Pool.PICKED)
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]


FIRST_RUNS = 10
MOST_QUERIES = 200


@login_required
@require_safe
def engines(request: HttpRequest, slug: str) -> HttpResponseBase:
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
    elif preset:
        say_instead(request, "preset", preset)
    form = EngineForm(request.POST or None, collection=collection, begins_with=begins_with)
    return _form(request, collection, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def engine_edit(request: HttpRequest, slug: str, engine_id: int) -> HttpResponse:
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
