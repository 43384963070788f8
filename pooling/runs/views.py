from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from pooling.engine_models import Engine
from pooling.formats.registry import name_of
from pooling.interface.forms import FIRST, GroupedForm
from pooling.models import Run
from pooling.people.access import collection_for, run_for
from pooling.runs.ir_metadata import facts_of
from pooling.runs.lists import RUNS
from pooling.storage.pages import import_page
from pooling.tables.answers import answer


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> Any:
        single = super().clean
        return [
            single(file, initial) for file in (data if isinstance(data, list | tuple) and data else [data])
        ]


class RunsForm(GroupedForm, forms.Form):
    GROUPS = {FIRST: ("file",), "Name and chunks": ("name", "collapse_chunks")}

    file = ManyFilesField(
        label="Run files",
        help_text="TREC, CSV, TSV, JSON lines, ranx JSON or Parquet; also gzipped. Several at once are fine.",
    )
    name = forms.CharField(required=False, max_length=200, help_text="Empty: the file's name.")
    collapse_chunks = forms.CharField(
        required=False,
        max_length=20,
        label="Separator of chunk ids",
        help_text="If the runs contain chunks such as page-7#3, write what precedes the chunk number, "
        "here #. Each document then gets the rank of its best chunk.",
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned, names = super().clean(), dict[str, str]()
        files = self.cleaned_data.get("file", [])
        if self.cleaned_data.get("name") and len(files) > 1:
            self.add_error("name", "A name works for one file only. Leave it empty to import several.")
        for file in files:
            if other := names.get(name_of(file.name)):
                problem = f"{other} and {file.name} would both be the run “{name_of(file.name)}”. Rename one."
                self.add_error("file", problem)
                break
            names[name_of(file.name)] = file.name
        return cleaned


@login_required
@require_GET
def runs(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug)
    rows = Run.objects.listed().filter(collection=collection).defer("preflight")
    table = RUNS.shown(request, rows.select_related("collection", "imported_by"), collection)
    context = {"table": table, "collection": collection, "section": "runs"}
    return answer(request, "pooling/runs.html", context)


@login_required
@require_GET
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    run = run_for(request.user, run_id)
    if run.collection.slug != slug:
        raise Http404
    pools = run.pools.defer("diagnostics")
    engine_id = run.preflight.get("engine", {}).get("id")
    engine = Engine.objects.filter(collection=run.collection, pk=engine_id).first() if engine_id else None
    metadata = facts_of(run.preflight.get("ir_metadata", {}))
    context = {"run": run, "pools": pools, "metadata": metadata, "engine": engine}
    context |= {"collection": run.collection, "section": "runs"}
    return render(request, "pooling/run.html", context)


import_ = import_page("run", RunsForm, "pooling/run_import.html", section="runs")
