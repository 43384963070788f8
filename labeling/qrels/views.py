from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.access import release_for
from labeling.adaptive.state import endings_sentence
from labeling.consensus.rules import RULES_IN_WORDS
from labeling.facts.releasing import FACT_FORMATS, has_facts
from labeling.gold.reader import proposals_in
from labeling.items.reading_speed import too_fast_in
from labeling.models import LabelFile, QrelsRelease
from labeling.qrels.downloads import export_options, release_content
from labeling.qrels.imported import label_files, withdraw_labels
from labeling.qrels.labels import current_labels, has_labels
from labeling.qrels.options import OPTIONS, ExportOptions
from labeling.qrels.registry import EXPORTS, Export
from labeling.qrels.releases import FORMATS, OWN_FORMATS, release_file_name, release_qrels
from pooling.formats.wording import counted
from pooling.interface.downloads import attachment
from pooling.interface.forms import show_problem
from pooling.interface.option_fields import form_field
from pooling.interface.pages import person
from pooling.interface.problems import InputError, refusals
from pooling.models import Collection
from pooling.people.access import ADMIN, READERS, collection_for
from pooling.storage.pages import import_page
from pooling.tables.answers import answer
from pooling.tables.columns import Column, Empty, own_page
from pooling.tables.table import Table

RELEASES = Table(
    "releases",
    "release",
    columns=(
        Column("name", "Release", natural=True, link=own_page, style="id"),
        Column("labels", "Labels", "pair_count", number=True),
        Column("relevant", "Relevant", "relevant_count", number=True),
        Column("queries", "Queries", "query_count", number=True),
        Column("rule", "Rule"),
        Column("created", "Created", "released_at", to_the_minute=True, style="quiet"),
        Column("by", "Created by", "released_by.username", hidden=True),
        Column("sha256", "SHA-256", sort=False, hidden=True, style="mono id"),
    ),
    sort="-created",
    search=("name__icontains", "rule__icontains"),
    search_hint="Name or rule",
    choose="releases",
    empty=Empty(
        "No releases yet. A release freezes the labels under a name, so that results can be reproduced.",
        "Make a release",
        "release_new",
    ),
)


class ReleaseForm(forms.Form):
    name = forms.CharField(
        max_length=200, help_text="For instance “2026-03” or “after the pilot”. You can rename it later."
    )
    rule = forms.ChoiceField(
        choices=[(name, f"{name}: {line}") for name, line in RULES_IN_WORDS.items()],
        initial="majority",
        help_text="How verdicts on a pair become one label.",
    )


class QrelsForm(forms.Form):
    file = forms.FileField(
        label="Qrels file",
        help_text="TREC qrels, BEIR TSV, CSV, TSV, JSON lines, ranx JSON or Parquet; also gzipped.",
    )
    complete = forms.BooleanField(
        required=False,
        label="Complete: unlisted documents are not relevant",
        help_text="Tick this only if the file names everything that is relevant to its queries. Reports then "
        "count every other document of these queries as not relevant, and say so.",
    )


def export_form(export: Export, collection: Collection, data: Mapping[str, str] | None = None) -> forms.Form:
    """The options of a format of another tool; `data`: the parameters of an address."""
    form = forms.Form(data, auto_id=f"{export.name}-%s")
    for name in export.options:
        option = OPTIONS[name]
        if name == "run":
            names = collection.runs.listed().values_list("name", flat=True)
            option = replace(option, choices={one: one for one in names})
        form.fields[name] = form_field(option, required=name in export.required)
    return form


@login_required
@require_GET
def releases(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, READERS)
    rows = collection.releases.listed().defer("sidecar").select_related("collection", "released_by")
    table = RELEASES.shown(request, rows, collection)
    context = {"table": table, "files": label_files(collection), "collection": collection}
    return answer(request, "labeling/releases.html", {**context, "section": "releases"})


@login_required
@require_http_methods(["GET", "POST"])
def release_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    form = ReleaseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(release_qrels(collection, user=person(request), **form.cleaned_data))
        except refusals() as error:
            show_problem(form, error)
    counts = current_labels(collection).counts
    context = {
        "form": form,
        "counts": counts,
        "too_fast": too_fast_in(collection),
        "implausible": proposals_in(collection),
        "collection": collection,
        "section": "releases",
    }
    return render(request, "labeling/release_new.html", context)


@login_required
@require_GET
def release(request: HttpRequest, slug: str, release_id: int) -> HttpResponse:
    """The release. A download that was refused comes back with its format as `refused` and its options."""
    refused = EXPORTS.get(request.GET.get("refused", ""))
    release = release_for(request.user, release_id)
    if release.collection.slug != slug:
        raise Http404
    context = {
        "release": release,
        "sidecar": release.sidecar,
        "selections": [
            (order, endings_sentence(order["finished"])) for order in release.sidecar.get("selections", ())
        ],
        "downloads": [
            (format.name, format.title)
            for format in OWN_FORMATS.values()
            if has_facts(release) or format.name not in FACT_FORMATS
        ],
        "exports": [
            (export, export_form(export, release.collection, request.GET if export is refused else None))
            for export in EXPORTS.values()
        ],
        "refused": refused,
        "collection": release.collection,
        "section": "releases",
    }
    return render(request, "labeling/release.html", context)


@login_required
@require_GET
def release_download(request: HttpRequest, slug: str, release_id: int, format: str) -> HttpResponseBase:
    """The release as a file of `format`, or its sidecar."""
    release = release_for(request.user, release_id)
    if release.collection.slug != slug or format not in FORMATS:
        raise Http404
    try:
        content = release_content(release, format, _options(request, release, format))
    except refusals() as error:
        messages.error(request, str(error))
        entered = urlencode({**request.GET.dict(), "refused": format})
        return redirect(f"{release.get_absolute_url()}?{entered}")
    return attachment(content, release_file_name(release, format), FORMATS[format].media_type)


def _options(request: HttpRequest, release: QrelsRelease, format: str) -> ExportOptions:
    """The options in the address; `InputError` for a value that its field refuses."""
    if format not in EXPORTS:
        return export_options(format, {})
    form = export_form(EXPORTS[format], release.collection, request.GET)
    for name, problems in form.errors.items():
        raise InputError(f"{form[name].label}: {problems[0]}", field=name)
    return export_options(format, form.cleaned_data)


qrels_import = import_page(
    "qrels", QrelsForm, "labeling/qrels_import.html", section="releases", asks=has_labels
)


@login_required
@require_POST
def qrels_withdraw(request: HttpRequest, slug: str, file_id: int) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    file = get_object_or_404(LabelFile, collection=collection, pk=file_id)
    try:
        taken = withdraw_labels(file, by=person(request))
        messages.success(request, f"Taken back: {counted(taken, 'label')} of {file.name}.")
    except refusals() as error:
        messages.error(request, str(error))
    return redirect("releases", slug)
