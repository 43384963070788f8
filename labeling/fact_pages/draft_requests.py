"""Asking a model for facts from a page or over HTTP: the form and the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.fact_pages.draft_jobs import DraftedFacts, request_drafts
from labeling.fact_pages.drafting import DRAFTS, DraftOptions
from labeling.models import Prelabeler
from labeling.prelabels.api import OPTIONAL, ModelRequestSerializer
from labeling.prelabels.costs import Prices
from labeling.prelabels.forms import ModelForm
from labeling.prelabels.options import allowed_url
from pooling.interface.api import Made, parsed, person, takes
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on, parameter
from pooling.interface.pages import person as visitor
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for


class DraftForm(ModelForm):
    def drafts(self, queries: Sequence[str] | None) -> DraftOptions:
        return options_from(self.cleaned_data, queries)


class DraftRequestSerializer(ModelRequestSerializer):
    """Which model is to draft facts, and how much it may cost. Prices are for a million tokens."""

    queries = serializers.ListField(
        child=serializers.CharField(max_length=500), help_text="Ids; null: all.", **OPTIONAL
    )


class FactDrafts(APIView):
    @takes(DraftRequestSerializer, makes=shape(DraftedFacts))
    def post(self, request: Request, slug: str) -> Made:
        """Ask a model for the facts that answers need, as proposals: 202 with a job to poll."""
        collection = collection_for(request.user, slug, ADMIN)
        values = parsed(DraftRequestSerializer, request)
        return request_drafts(collection, options_from(values, values["queries"]), person(request))


@login_required
@require_http_methods(["GET", "POST"])
def facts_draft(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask a model for facts: of the query that `?query=` names, or of all."""
    collection = collection_for(request.user, slug, ADMIN)
    query = request.POST.get("query", "") if request.method == "POST" else parameter(request, "query")
    form = DraftForm(request.POST or None, initial=last_drafter(collection))
    if request.method == "POST" and form.is_valid():
        try:
            options = form.drafts([query] if query else None)
            return go_on(request, request_drafts(collection, options, visitor(request)))
        except InputError as error:
            show_problem(form, error)
    context = {"form": form, "collection": collection, "section": "facts", "query": query}
    return render(request, "labeling/facts_draft.html", context)


def last_drafter(collection: Collection) -> dict[str, str]:
    last = Prelabeler.objects.filter(collection=collection, prompt=DRAFTS).order_by("-pk").first()
    return {} if last is None else {"model": last.model, "base_url": last.base_url}


def options_from(values: Mapping[str, Any], queries: Sequence[str] | None) -> DraftOptions:
    """The options that a form or a call names; `InputError` for a server that the site may not use."""
    given = values["input_price"]
    prices = None if given is None else Prices(given, values["output_price"])
    return DraftOptions(values["model"], allowed_url(values["base_url"]), queries, values["budget"], prices)
