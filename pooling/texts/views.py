from __future__ import annotations

from collections import defaultdict
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods

from pooling.formats.wording import counted, plural
from pooling.interface.forms import say_instead
from pooling.logs.population import LOG_SHARE
from pooling.models import Collection, Query
from pooling.people.access import ADMIN, READERS, collection_for
from pooling.storage.pages import upload
from pooling.tables.answers import answer
from pooling.texts.lists import DOCUMENTS, QUERIES, chosen_pool, documents_of


class QueriesForm(forms.Form):
    file = forms.FileField(
        label="File of queries", help_text="BEIR queries.jsonl, JSON, CSV, TSV or Parquet; also gzipped."
    )


class DocumentsForm(forms.Form):
    file = forms.FileField(
        label="Corpus file", help_text="BEIR corpus.jsonl, JSON, CSV, TSV or Parquet; also gzipped. Any size."
    )
    only_pooled = forms.BooleanField(required=False, label="Only documents that some pool contains")


_KEYS = ("window", "draw", LOG_SHARE, "stratum", "N_h")


def draws_in_words(collection: Collection) -> list[str]:
    """A sentence or two for each draw, and one for the queries that were not drawn; none where no query was.
    One database query, two where one was."""
    queries = Query.objects.listed().filter(collection=collection)
    names = [f"metadata__sampling__{key}" for key in _KEYS]
    rows = queries.filter(metadata__has_key="sampling").order_by().values_list(*names)
    draws: dict[tuple[Any, ...], list[tuple[Any, Any, int]]] = defaultdict(list)
    for window, draw, share, stratum, size, count in rows.annotate(queries=Count("pk")):
        draws[window, draw, share].append((stratum, size, count))
    if not draws:
        return []
    words = [_in_words(window, share, strata) for (window, _, share), strata in draws.items()]
    left = queries.exclude(metadata__has_key="sampling").count()
    if left:
        words.append(f"{counted(left, 'query')} {plural(left, 'was', 'were')} not drawn.")
    return sorted(words[: len(draws)]) + words[len(draws) :]


def _in_words(window: object, share: object, strata: list[tuple[Any, Any, int]]) -> str:
    number = sum(count for *_, count in strata)
    parts = sorted(
        f"{stratum} {count:,}" + (f" of {size:,}" if isinstance(size, int) else "")
        for stratum, size, count in strata
    )
    log = f"the log of {window}" if window else "a log whose days nobody named"
    begin = f"{counted(number, 'query')} drawn from {log}: {', '.join(parts)}."
    if not isinstance(share, int | float) or not 0 < share < 1:
        return begin
    return f"{begin} {100 * (1 - share):.0f} % of its traffic could not be drawn: too few people asked it."


@login_required
@require_http_methods(["GET", "POST"])
def queries(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = QueriesForm(request.POST, request.FILES) if request.method == "POST" else QueriesForm()
    if response := upload(request, collection, "queries", form, section="queries"):
        return response
    table = QUERIES.shown(request, Query.objects.listed().filter(collection=collection), collection)
    context = {"table": table, "form": form, "collection": collection, "section": "queries"}
    context["draws"] = draws_in_words(collection)
    return answer(request, "pooling/queries.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def documents(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN if request.method == "POST" else READERS)
    form = DocumentsForm(request.POST, request.FILES) if request.method == "POST" else DocumentsForm()
    if response := upload(request, collection, "documents", form, section="documents"):
        return response
    pool = chosen_pool(request.GET, collection)
    if pool is None and (given := request.GET.get("pool", "")):
        say_instead(request, "pool", given)
    table = DOCUMENTS.shown(request, documents_of(collection, pool), collection)
    context = {"table": table, "form": form, "pool": pool, "collection": collection}
    return answer(request, "pooling/documents.html", {**context, "section": "documents"})
