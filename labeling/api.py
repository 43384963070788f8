"""The HTTP interface of stage 2: judging a queue, and labels in and out.

Each call asks for permission where it fetches, and calls the function that the pages and commands call.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling import serializers
from labeling.access import queue_for
from labeling.adaptive import options as live_options
from labeling.gold.options import taken_from
from labeling.judging.blind_counts import blind_progress, own_figures
from labeling.judging.offers import offers_of
from labeling.judging.verdicts import LONGEST_KEY
from labeling.models import Queue
from labeling.progress.counts import queue_progress
from labeling.progress.serializers import ProgressSerializer
from labeling.qrels.releases import (
    FORMATS,
    export_name,
    export_release,
    newest_release,
    release_named,
    release_qrels,
)
from labeling.queues.changes import change_queue
from labeling.queues.opening import (
    Outcome,
    claim,
    record_judgment,
    release,
    renew,
    skip,
    undo,
)
from labeling.queues.opening_jobs import open_or_start
from labeling.views import attachment
from pooling.api import PROBLEM, made, making, parsed, person
from pooling.interface.problems import InputError, told_back
from pooling.models import Job, Role
from pooling.people.access import ADMIN, JUDGES, MEMBERS, collection_for, pool_for
from pooling.serializers import JobStartedSerializer
from pooling.storage.imports import take_in

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

NO_VERDICT = "This is no verdict. Each one is an object with “item”, “key” and “verdict”."


class PoolQueue(APIView):
    """The way from a pool to its queue."""

    @extend_schema(
        request=serializers.QueueRequestSerializer,
        responses={**making(serializers.QueueSerializer), 404: PROBLEM},
    )
    def post(self, request: Request, pool_id: int) -> Response:
        """Open a queue over a pool; that of a large pool is opened by a job."""
        pool = pool_for(request.user, pool_id, ADMIN)
        body = parsed(serializers.QueueRequestSerializer, request)
        gold, live = taken_from(body), live_options.taken_from(body)
        opened = open_or_start(pool, user=person(request), gold=gold, live=live, **body)
        return made(opened if isinstance(opened, Job) else _described(opened))


class OneQueue(APIView):
    """A queue's state, redundancy and prices."""

    @extend_schema(
        request=serializers.QueueChangeSerializer,
        responses={
            200: serializers.QueueSerializer,
            202: JobStartedSerializer,
            400: PROBLEM,
            403: PROBLEM,
            404: PROBLEM,
            409: PROBLEM,
        },
    )
    def patch(self, request: Request, queue_id: int) -> Response:
        """Open, pause or close a queue, change its prices, or how many judgments a pair needs.

        The last is done by a job where the queue is large: then the answer is 202 with its number.
        """
        queue = queue_for(request.user, queue_id, ADMIN)
        changes = parsed(serializers.QueueChangeSerializer, request)
        job = change_queue(queue, changes, by=person(request))
        return made(job) if job else Response(_described(queue))


def _described(queue: Queue) -> dict[str, Any]:
    queue.item_count = queue.items.filter(repeats=None, order_key__gte=0).count()  # type: ignore[attr-defined]
    return dict(serializers.QueueSerializer(queue).data)


class Claims(APIView):
    """Getting items to judge."""

    @extend_schema(
        request=serializers.ClaimRequestSerializer,
        responses={200: serializers.ClaimSerializer, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Hold up to `count` items: those you still hold and new ones. A claim is repeatable."""
        queue = queue_for(request.user, queue_id, JUDGES)
        body = parsed(serializers.ClaimRequestSerializer, request)
        return Response(_claimed(queue, person(request), body["count"]))


def _claimed(queue: Queue, annotator: User, count: int) -> dict[str, Any]:
    claimed = claim(queue, annotator, count)
    empty = asdict(claimed.empty) if claimed.empty else None
    return {"items": offers_of(queue, annotator, claimed.leases), "empty": empty}


class Judgments(APIView):
    """Sending verdicts."""

    @extend_schema(
        parameters=[serializers.AlsoClaimSerializer],
        request=serializers.SubmissionSerializer(many=True),
        responses={200: serializers.OutcomesSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Store up to 500 verdicts, each by itself: one that is refused leaves the others alone."""
        queue = queue_for(request.user, queue_id, JUDGES)
        also = serializers.AlsoClaimSerializer(data=request.query_params)
        also.is_valid(raise_exception=True)
        bodies = request.data
        if not isinstance(bodies, list):
            raise InputError("Send a list of verdicts.")
        if len(bodies) > serializers.MOST_SUBMISSIONS:
            raise InputError(f"Send at most {serializers.MOST_SUBMISSIONS} verdicts at a time.")
        answer: dict[str, Any] = {
            "results": [_told(queue, _recorded(queue, request, body)) for body in bodies]
        }
        if "claim" in also.validated_data:
            answer |= _claimed_if_possible(queue, person(request), also.validated_data["claim"])
        return Response(answer)


def _is_annotator(queue: Queue) -> bool:
    return bool(queue.collection.role == Role.ANNOTATOR)  # type: ignore[attr-defined]


def _told(queue: Queue, outcome: Outcome) -> dict[str, Any]:
    """An outcome as it goes out: of pre-labels not even the word, unless one is revealed.

    An annotator is not told that a verdict was beyond the need: a hidden check has none.
    """
    told = asdict(outcome.without_extra() if _is_annotator(queue) else outcome)
    if outcome.prelabel is None:
        del told["prelabel"]
    return told


def _claimed_if_possible(queue: Queue, annotator: User, count: int) -> dict[str, Any]:
    try:
        return _claimed(queue, annotator, count)
    except Exception:
        # What became of the verdicts must reach whoever sent them, whatever is wrong with the rest.
        logger.exception("verdicts were stored, but the claim that came with them failed")
        return {"items": None, "empty": None}


def _recorded(queue: Queue, request: Request, body: Any) -> Outcome:
    if not isinstance(body, dict):
        return Outcome(None, "rejected", NO_VERDICT)
    serializer = serializers.SubmissionSerializer(data=body)
    if serializer.is_valid():
        return record_judgment(queue, person(request), serializer.submission())
    name, problems = next(iter(serializer.errors.items()))
    key = body.get("key")
    known = key if isinstance(key, str) and told_back(key, LONGEST_KEY) == key else None
    return Outcome(known, "rejected", told_back(f"{name}: {problems[0]}"))


class Skips(APIView):
    """Passing over an item."""

    @extend_schema(
        request=serializers.SkipSerializer,
        responses={200: serializers.DetailSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Give an item's slot back; it comes again only when nothing else is left for you."""
        queue = queue_for(request.user, queue_id, JUDGES)
        body = parsed(serializers.SkipSerializer, request)
        skip(queue, person(request), body["item"], lease=body["lease"])
        return Response({"detail": "Skipped."})


class Undos(APIView):
    """Taking a verdict back."""

    @extend_schema(
        request=serializers.UndoSerializer,
        responses={200: serializers.UndoneSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Take back one of your last 20 verdicts and hold its item again."""
        queue = queue_for(request.user, queue_id, JUDGES)
        lease = undo(queue, person(request), parsed(serializers.UndoSerializer, request)["key"])
        detail = "Undone." if lease else "Undone; the item is not yours to judge again now."
        offers = offers_of(queue, person(request), [lease] if lease else [])
        return Response({"item": offers[0] if offers else None, "detail": detail})


class Renewals(APIView):
    """Keeping leases."""

    @extend_schema(
        request=serializers.LeasesSerializer,
        responses={200: serializers.RenewedSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Extend leases; the answer names those that you still hold."""
        queue = queue_for(request.user, queue_id, JUDGES)
        leases = renew(queue, person(request), parsed(serializers.LeasesSerializer, request)["leases"])
        return Response(serializers.RenewedSerializer({"leases": leases}).data)


class Returns(APIView):
    """Giving leases back."""

    @extend_schema(
        request=serializers.LeasesSerializer,
        responses={200: serializers.ReleasedSerializer, 400: PROBLEM, 403: PROBLEM, 404: PROBLEM},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Return leases, so that others can judge their items."""
        queue = queue_for(request.user, queue_id, JUDGES)
        tokens = parsed(serializers.LeasesSerializer, request)["leases"]
        return Response({"released": release(queue, person(request), tokens)})


class Progress(APIView):
    """How far a queue has come."""

    @extend_schema(responses={200: ProgressSerializer, 404: PROBLEM})
    def get(self, request: Request, queue_id: int) -> Response:
        """Counts by state, pace, cost and end date; to an annotator, of their own work alone."""
        queue = queue_for(request.user, queue_id, MEMBERS)
        user = person(request)
        if _is_annotator(queue):
            return Response(blind_progress(queue, user))
        return Response({**queue_progress(queue), "own": own_figures(queue, user)})


class Releases(APIView):
    """The qrels releases of a collection."""

    @extend_schema(responses={200: serializers.ReleaseSerializer(many=True), 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List the releases, newest first."""
        collection = collection_for(request.user, slug)
        return Response(serializers.ReleaseSerializer(collection.releases.all(), many=True).data)

    @extend_schema(
        request=serializers.ReleaseRequestSerializer,
        responses={201: serializers.ReleaseSerializer, 400: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Freeze the labels under a name."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.ReleaseRequestSerializer, request)
        release = release_qrels(collection, user=person(request), **body)
        return Response(serializers.ReleaseSerializer(release).data, status=status.HTTP_201_CREATED)


class OneKind(BaseContentNegotiation):
    """Answers as the view does: here `format` names a file format, not a way of rendering."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The parser of the request's own content type."""
        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        """The first one, for errors."""
        return renderers[0], renderers[0].media_type


class QrelsDownload(APIView):
    """Labels out."""

    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="collections_qrels_download",
        parameters=[
            OpenApiParameter("release", str, description="Name of a release; without it, the newest."),
            OpenApiParameter("format", str, enum=list(FORMATS), default="trec"),
        ],
        responses={(200, "text/plain"): OpenApiTypes.BINARY, 400: PROBLEM, 404: PROBLEM},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Download a release as a file, or its sidecar."""
        collection = collection_for(request.user, slug)
        name = request.query_params.get("release")
        release = release_named(collection, name) if name else newest_release(collection)
        format = request.query_params.get("format") or "trec"
        return attachment(export_release(release, format), export_name(release, format), format)


class Qrels(QrelsDownload):
    """Labels in, and out as well."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(exclude=True)
    def get(self, request: Request, slug: str) -> HttpResponse:
        """The same as without the slash at the end."""
        return super().get(request, slug)

    @extend_schema(
        request=serializers.QrelsUploadSerializer, responses=making(serializers.QrelsImportSerializer)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a file of labels."""
        collection = collection_for(request.user, slug, ADMIN)
        upload = parsed(serializers.QrelsUploadSerializer, request)["file"]
        return made(take_in(collection, "qrels", upload, user=person(request)))
