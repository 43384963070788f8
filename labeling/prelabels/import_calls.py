"""Importing pre-labels: the page and the call, which ask for the same."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods
from rest_framework import serializers
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.prelabels.importing import THRESHOLDS, PrelabelsImported
from pooling.formats.judgments.prelabels import TITLES
from pooling.interface.api import parsed, person
from pooling.interface.forms import show_problem
from pooling.interface.pages import go_on
from pooling.interface.pages import person as signed_in
from pooling.interface.problems import refusals
from pooling.interface.serializers import optional_text
from pooling.interface.shapes import shape
from pooling.interface.uploads import refuse_uploads
from pooling.people.access import ADMIN
from pooling.storage.api import imports
from pooling.storage.imports import previewed, take_in

THRESHOLD = (
    "UMBRELA: the lowest grade, 1 to 3, that is relevant (empty: 2). Clicks: how many of 100 who look at a "
    "relevant document click on it (empty: 50)."
)
MOST = max(most for _, most in THRESHOLDS.values())


class PrelabelsFileForm(forms.Form):
    """A file of pre-labels."""

    file = forms.FileField(label="File of pre-labels", help_text="Also gzipped.")
    format = forms.ChoiceField(choices=list(TITLES.items()))
    model = forms.CharField(
        required=False, max_length=200, help_text="What to call the model. Empty: as the file does."
    )
    threshold = forms.IntegerField(required=False, min_value=1, max_value=MOST, help_text=THRESHOLD)


class PrelabelsUploadSerializer(serializers.Serializer[Any]):
    """A file of pre-labels."""

    file = serializers.FileField()
    format = serializers.ChoiceField(choices=list(TITLES), default="soundings")
    model = optional_text("What to call the model, if not as the file.", max_length=200)
    threshold = serializers.IntegerField(
        default=None, allow_null=True, min_value=1, max_value=MOST, help_text=THRESHOLD
    )


@login_required
@require_http_methods(["GET", "POST"])
def prelabels_import(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    form = PrelabelsFileForm(request.POST, request.FILES) if request.method == "POST" else PrelabelsFileForm()
    if form.is_bound:
        try:
            refuse_uploads(request)
            if form.is_valid():
                options = {**form.cleaned_data, "queue": queue.pk}
                file = options.pop("file")
                return go_on(
                    request, take_in(queue.collection, "prelabels", file, user=signed_in(request), **options)
                )
        except refusals() as error:
            show_problem(form, error)
    context = {"form": form, "queue": queue, "collection": queue.collection, "section": "prelabels"}
    return render(request, "labeling/prelabels_import.html", context)


class PrelabelImports(APIView):
    parser_classes = [MultiPartParser, FormParser]

    @imports(PrelabelsUploadSerializer, shape(PrelabelsImported, more=("detail", "url")))
    def post(self, request: Request, queue_id: int) -> object:
        """Import pre-labels of pairs of a queue: of another installation, of UMBRELA, or of clicks."""
        queue = queue_for(request.user, queue_id, ADMIN)
        options = {**parsed(PrelabelsUploadSerializer, request), "queue": queue.pk}
        file, user = options.pop("file"), person(request)
        if request.query_params.get("preview") == "true":
            return Response(previewed(queue.collection, "prelabels", file, user=user, **options))
        return take_in(queue.collection, "prelabels", file, user=user, **options)
