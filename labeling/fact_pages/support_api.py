"""Queues of facts over HTTP: open, claim, store a page, skip, undo, and how far it is."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import is_annotator
from labeling.fact_pages import support_serializers as shapes
from labeling.fact_pages.claims import claim_item, give_back, skip_item
from labeling.fact_pages.opening import open_fact_queue, options_from
from labeling.fact_pages.progress import fact_progress
from labeling.fact_pages.showing import ShownPage, page_for
from labeling.fact_pages.storing import store_page, undo_page
from labeling.fact_pages.support_views import fact_queue_for
from labeling.judging.serializers import ReleasedSerializer
from labeling.models import FactItem, Queue
from pooling.interface.api import answers, parsed, person, takes
from pooling.people.access import ADMIN, JUDGES, READERS, collection_for, fetch


class FactQueues(APIView):
    """Queues of facts."""

    @takes(shapes.FactQueueRequestSerializer, gives=shapes.FactQueueSerializer, status=201)
    def post(self, request: Request, slug: str) -> object:
        """Open a queue of facts over a pool."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(shapes.FactQueueRequestSerializer, request)
        pool = fetch(collection.pools.select_related("collection"), pk=body["pool"])
        return open_fact_queue(pool, options_from(body), name=body.get("name"), user=person(request))


class FactQueueProgress(APIView):
    """How far a queue of facts is."""

    @answers(shapes.FactProgressSerializer)
    def get(self, request: Request, queue_id: int) -> Response:
        """Documents, facts, agreement, what each person did, and facts that people read differently."""
        return Response(fact_progress(fact_queue_for(person(request), queue_id, READERS)))


class FactClaim(APIView):
    """Getting a document to judge fact by fact."""

    @answers(shapes.FactClaimSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Hold a document: the one you hold already, or the next; with its first page that is not judged."""
        queue = fact_queue_for(person(request), queue_id, JUDGES)
        return Response({"page": _next(request, queue)})


class FactPages(APIView):
    """Sending verdicts on facts."""

    @takes(shapes.FactPageSerializer, gives=shapes.FactOutcomeSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Store a page of verdicts, all or none, and get the next page. Facts not sent stay unjudged."""
        queue = fact_queue_for(person(request), queue_id, JUDGES, deleted_too=True)
        body = shapes.FactPageSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        page = body.page()
        if page.adjudicates and is_annotator(queue):
            raise PermissionDenied("Only admins settle pairs.")
        item = fetch(queue.fact_items.select_related("query", "document"), pk=body.validated_data["item"])
        outcome = store_page(queue, person(request), item, page)
        item.queue = queue
        return Response(
            {
                "status": outcome.status,
                "stored": outcome.stored,
                "left": outcome.left,
                "page": _next(request, queue, item if outcome.left else None),
            }
        )


class FactUndo(APIView):
    """Taking a page back."""

    @answers(shapes.FactClaimSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Take back your last page in the queue, and hold its document again; null where there is none."""
        queue = fact_queue_for(person(request), queue_id, JUDGES, deleted_too=True)
        item = undo_page(queue, person(request))
        return Response({"page": None if item is None else _next(request, queue, item)})


class FactSkip(APIView):
    """Leaving a document for later."""

    @takes(shapes.FactSkipSerializer, gives=shapes.FactClaimSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Give back the document that you hold, and get another; it comes again when nothing else is left."""
        queue = fact_queue_for(person(request), queue_id, JUDGES)
        item = fetch(queue.fact_items.all(), pk=parsed(shapes.FactSkipSerializer, request)["item"])
        skip_item(item, person(request))
        return Response({"page": _next(request, queue)})


class FactRelease(APIView):
    """Leaving a queue of facts."""

    @takes(shapes.FactReleaseSerializer, gives=ReleasedSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Give back the document that you hold, so that others get it at once."""
        queue = fact_queue_for(person(request), queue_id, JUDGES, deleted_too=True)
        lease = parsed(shapes.FactReleaseSerializer, request)["lease"]
        return Response({"released": give_back(queue, person(request), lease)})


def _next(request: Request, queue: Queue, item: FactItem | None = None) -> ShownPage | None:
    item = item or claim_item(queue, person(request))
    if item is None:
        return None
    page = page_for(queue, person(request), item)
    answer: ShownPage = shapes.ShownPageSerializer(page).data  # type: ignore[assignment]
    return answer
