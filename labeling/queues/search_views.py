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
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.items.numbers import number_of
from labeling.models import Queue
from labeling.queues.added_documents import (
    HitFacts,
    add_document,
    queries_of,
    query_named,
    search_for,
    search_of,
)
from labeling.queues.finds import SearchFinds, search_finds
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.pages import problems_as_messages
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.models import Role
from pooling.people.access import JUDGES, collection_for


class SearchWordsSerializer(serializers.Serializer[Any]):
    query = serializers.CharField()
    words = serializers.CharField(help_text="Finds texts with all words, or with any if none has all.")


class SearchResultSerializer(serializers.Serializer[Any]):
    """What was found; while texts are being indexed, how far that is."""

    search = serializers.IntegerField(allow_null=True, help_text="Send it when you add a document.")
    any_word = serializers.BooleanField()
    indexing = serializers.FloatField(
        allow_null=True, help_text="0 to 1 while texts are being indexed; try again later."
    )
    documents = shape(HitFacts, "Hit")(many=True)


class AdditionSerializer(serializers.Serializer[Any]):
    """A document to judge for a query, and the search that found it."""

    query = serializers.CharField()
    document = serializers.CharField()
    search = serializers.IntegerField(required=False, allow_null=True, default=None)


class AddedSerializer(serializers.Serializer[Any]):
    """The item that was added, and the queue it is in."""

    item = serializers.IntegerField()
    queue = serializers.IntegerField(allow_null=True, help_text="Annotators are not told.")


class Search(APIView):
    @answers(SearchResultSerializer, operation_id="queues_search", parameters=[SearchWordsSerializer])
    def get(self, request: Request, queue_id: int) -> Response:
        """Search the documents of the collection for a query."""
        queue = queue_for(request.user, queue_id, roles=JUDGES)
        parameters = parsed(SearchWordsSerializer, request)
        query = query_named(queue.collection, parameters["query"])
        result = search_for(query, parameters["words"], person(request))
        return Response(
            {
                "search": result.search.pk if result.search else None,
                "any_word": result.any_word,
                "indexing": result.job.progress if result.job else None,
                "documents": [hit.to_dict() for hit in result.hits],
            }
        )

    @takes(AdditionSerializer, gives=AddedSerializer, status=201, operation_id="queues_search_add")
    def post(self, request: Request, queue_id: int) -> Response:
        """Add a document to what is judged, in a separate queue."""
        queue = queue_for(request.user, queue_id, roles=JUDGES)
        values = parsed(AdditionSerializer, request)
        query = query_named(queue.collection, values["query"])
        search = search_of(person(request), values["search"])
        item = add_document(query, values["document"], user=person(request), like=queue, search=search)
        is_admin = queue.collection.role == Role.ADMIN  # type: ignore[attr-defined]
        made = {"item": number_of(item.pk), "queue": item.queue_id if is_admin else None}
        return Response(made, status=status.HTTP_201_CREATED)


class FindsBySearch(APIView):
    @answers(shape(SearchFinds, more=["sentence"]), operation_id="collections_search_finds")
    def get(self, request: Request, slug: str) -> object:
        """Relevant documents that search found and no run did."""
        return search_finds(collection_for(request.user, slug))


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
    with problems_as_messages(request):
        query = query_named(queue.collection, values["query"] or "")
        search = search_of(user, values["search"])
        add_document(query, request.POST.get("document", ""), user=user, like=queue, search=search)
        messages.success(request, _("Added. It will be judged like any other document."))
    kept = {name: value for name, value in values.items() if value}
    return redirect(f"{reverse('document_search', args=[queue.pk])}?{urlencode(kept)}#results")
