"""The page that searches a collection's documents for a query, and adds what looks relevant."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from labeling.access import queue_for
from labeling.models import Queue
from labeling.queues.added_documents import add_document, queries_of, query_named, search_for, search_of
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.people.access import JUDGES


class SearchForm(forms.Form):
    """What is looked for; `search` is a search that was made before."""

    query = forms.CharField(max_length=500, required=False)
    words = forms.CharField(max_length=300, required=False)
    search = forms.IntegerField(required=False, min_value=1, max_value=2**62)


@login_required
@require_http_methods(["GET", "POST"])
def search(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Search the documents for a query of the collection; a POST adds one of them."""
    queue = queue_for(request.user, queue_id, roles=JUDGES)
    form = SearchForm(request.POST if request.method == "POST" else request.GET)
    form.is_valid()
    values = {name: form.cleaned_data.get(name) for name in ("query", "words", "search")}
    if request.method == "POST":
        return _add(request, queue, values)
    context: dict[str, Any] = {"queue": queue, "collection": queue.collection, "section": "queues", **values}
    try:
        if values["query"]:
            query = context["match"] = query_named(queue.collection, values["query"])
            if values["words"]:
                context["result"] = search_for(
                    query, values["words"], person(request), again=values["search"]
                )
    except InputError as error:
        context["problem"] = str(error)
    context["queries"] = queries_of(queue)
    return render(request, "labeling/search.html", context)


def _add(request: HttpRequest, queue: Queue, values: dict[str, Any]) -> HttpResponse:
    user = person(request)
    try:
        query = query_named(queue.collection, values["query"] or "")
        search = search_of(user, values["search"])
        add_document(query, request.POST.get("document", ""), user=user, like=queue, search=search)
        messages.success(request, _("Added. It will be judged like any other document."))
    except InputError as error:
        messages.error(request, str(error))
    kept = {name: value for name, value in values.items() if value}
    return redirect(f"{reverse('document_search', args=[queue.pk])}?{urlencode(kept)}#results")
