"""Single judgments out, for admins: the download of the collection's page, and the same over HTTP."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.datastructures import MultiValueDict
from django.views.decorators.http import require_GET
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from labeling.access import queue_in
from labeling.qrels.judgments import FORMATS, export_judgments, judgments_file_name
from pooling.formats.registry import formats
from pooling.interface.api import OneKind
from pooling.interface.downloads import streamed
from pooling.interface.problems import InputError, refusals
from pooling.interface.serializers import FILE
from pooling.models import Collection
from pooling.people.access import ADMIN, collection_for

JUDGMENT_FORMATS = [(name, formats()[name].title) for name in FORMATS]
YES = ("1", "true", "on")
NO = ("", "0", "false", "off")


@login_required
@require_GET
def judgments_download(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, ADMIN)
    try:
        return _download(collection, request.GET)
    except refusals() as error:
        messages.error(request, str(error))
        return redirect(collection)


class JudgmentsDownload(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="collections_judgments_download",
        parameters=[
            OpenApiParameter("format", str, enum=list(FORMATS), default="csv"),
            OpenApiParameter("queue", int, description="Only what was judged in this queue."),
            OpenApiParameter("anonymous", bool, default=False, description="Pseudonyms instead of names."),
        ],
        responses=FILE,
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """Download every judgment event: verdicts, also replaced and undone ones, undos and skips."""
        return _download(collection_for(request.user, slug, ADMIN), request.query_params)


def _download(collection: Collection, wanted: MultiValueDict[str, str]) -> StreamingHttpResponse:
    format, number = wanted.get("format") or "csv", wanted.get("queue")
    queue = queue_in(collection, number) if number else None
    content = export_judgments(collection, format, queue, anonymous=_is_anonymous(wanted.get("anonymous")))
    return streamed(content, judgments_file_name(collection, format, queue), formats()[format].media_type)


def _is_anonymous(value: str | None) -> bool:
    """`InputError` for a value that is neither yes nor no: a slip must not give names away."""
    value = (value or "").lower()
    if value not in (*YES, *NO):
        raise InputError(f"“anonymous” must be true or false, not “{value}”.", field="anonymous")
    return value in YES
