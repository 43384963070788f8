"""Queues of facts over HTTP: open, claim, store a page, skip, undo, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import is_annotator
from labeling.fact_pages import progress
from labeling.fact_pages.claims import claim_item, give_back, skip_item
from labeling.fact_pages.opening import FactQueueOptions, open_fact_queue, options_from
from labeling.fact_pages.progress import fact_progress
from labeling.fact_pages.showing import ShownPage, page_for
from labeling.fact_pages.storing import LONGEST_TIME_MS, FactPage, FactVerdict, store_page, undo_page
from labeling.fact_pages.support_views import fact_queue_for
from labeling.judging.serializers import ItemNumberField, ReleasedSerializer
from labeling.models import FactItem, Queue, SupportVerdict
from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.option_fields import serializer_fields
from pooling.interface.shapes import shape
from pooling.people.access import ADMIN, JUDGES, READERS, collection_for, fetch


@serializer_fields(FactQueueOptions)
class FactQueueRequestSerializer(serializers.Serializer[Any]):
    """How to open a queue of facts; without a name it is called after its pool."""

    pool = serializers.IntegerField(min_value=1, help_text="The pool's id.")
    name = serializers.CharField(max_length=200, required=False, allow_blank=True, allow_null=True)


class FactQueueSerializer(serializers.ModelSerializer[Queue]):
    """A queue of facts as it was opened."""

    pool = serializers.CharField(source="pool.name")
    documents = serializers.IntegerField(source="fact_items.count")

    class Meta:
        model = Queue
        fields = [
            "id",
            "name",
            "pool",
            "kind",
            "judgments_per_item",
            "covered_by",
            "seed",
            "state",
            "documents",
        ]


ShownPageSerializer = shape(ShownPage)


class FactClaimSerializer(serializers.Serializer[Any]):
    """What to judge next; null where there is nothing for you now."""

    page = ShownPageSerializer(allow_null=True)


class FactVerdictSerializer(serializers.Serializer[Any]):
    """What you say of a fact, as its version was on screen."""

    fact = serializers.CharField(max_length=100)
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    verdict = serializers.ChoiceField(choices=SupportVerdict.choices)
    evidence = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=2**31 - 1),
        min_length=2,
        max_length=2,
        required=False,
        allow_null=True,
        help_text="[start, end] in characters of the text.",
    )


class FactPageSerializer(serializers.Serializer[Any]):
    """A page of verdicts. Sending it again with the same `key` changes nothing."""

    item = ItemNumberField()
    key = serializers.UUIDField()
    document_version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    verdicts = FactVerdictSerializer(many=True)
    active_ms = serializers.IntegerField(
        min_value=0, max_value=LONGEST_TIME_MS, required=False, allow_null=True
    )
    adjudicates = serializers.BooleanField(
        required=False, default=False, help_text="An admin's word that settles these pairs."
    )


def _page(body: Mapping[str, Any]) -> FactPage:
    return FactPage(
        body["key"],
        body["document_version"],
        [
            FactVerdict(one["fact"], one["version"], one["verdict"], _span(one.get("evidence")))
            for one in body["verdicts"]
        ],
        body.get("active_ms"),
        body["adjudicates"],
    )


def _span(evidence: list[int] | None) -> tuple[int, int] | None:
    return None if evidence is None else (evidence[0], evidence[1])


class FactOutcomeSerializer(serializers.Serializer[Any]):
    """What became of a page, and the page to judge next."""

    status = serializers.ChoiceField(choices=["stored", "duplicate"])
    stored = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Facts of this document that you have yet to judge.")
    page = ShownPageSerializer(allow_null=True)


class FactSkipSerializer(serializers.Serializer[Any]):
    """The document to leave for later."""

    item = ItemNumberField()


class FactReleaseSerializer(serializers.Serializer[Any]):
    """Which hold to end: the time until which the page says that it lasts; without one, whatever is held."""

    lease = serializers.DateTimeField(required=False, allow_null=True, default=None)


shape(progress.AgreementFigures, "FactAgreement")


class FactQueues(APIView):
    @takes(FactQueueRequestSerializer, gives=FactQueueSerializer, status=201)
    def post(self, request: Request, slug: str) -> object:
        """Open a queue of facts over a pool."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(FactQueueRequestSerializer, request)
        pool = fetch(collection.pools.select_related("collection"), pk=body["pool"])
        return open_fact_queue(pool, options_from(body), name=body.get("name"), user=person(request))


class FactQueueProgress(APIView):
    """How far a queue of facts is."""

    @answers(shape(progress.FactProgress))
    def get(self, request: Request, queue_id: int) -> Response:
        """Documents, facts, agreement, what each person did, and facts that people read differently."""
        return Response(fact_progress(fact_queue_for(person(request), queue_id, READERS)))


class FactClaim(APIView):
    @answers(FactClaimSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Hold a document: the one you hold already, or the next; with its first page that is not judged."""
        queue = fact_queue_for(person(request), queue_id, JUDGES)
        return Response({"page": _next(request, queue)})


class FactPages(APIView):
    @takes(FactPageSerializer, gives=FactOutcomeSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Store a page of verdicts, all or none, and get the next page. Facts not sent stay unjudged."""
        queue = fact_queue_for(person(request), queue_id, JUDGES, deleted_too=True)
        body = parsed(FactPageSerializer, request)
        page = _page(body)
        if page.adjudicates and is_annotator(queue):
            raise PermissionDenied("Only admins settle pairs.")
        item = fetch(queue.fact_items.select_related("query", "document"), pk=body["item"])
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
    @answers(FactClaimSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Take back your last page in the queue, and hold its document again; null where there is none."""
        queue = fact_queue_for(person(request), queue_id, JUDGES, deleted_too=True)
        item = undo_page(queue, person(request))
        return Response({"page": None if item is None else _next(request, queue, item)})


class FactSkip(APIView):
    @takes(FactSkipSerializer, gives=FactClaimSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Give back the document that you hold, and get another; it comes again when nothing else is left."""
        queue = fact_queue_for(person(request), queue_id, JUDGES)
        item = fetch(queue.fact_items.all(), pk=parsed(FactSkipSerializer, request)["item"])
        skip_item(item, person(request))
        return Response({"page": _next(request, queue)})


class FactRelease(APIView):
    @takes(FactReleaseSerializer, gives=ReleasedSerializer)
    def post(self, request: Request, queue_id: int) -> Response:
        """Give back the document that you hold, so that others get it at once."""
        queue = fact_queue_for(person(request), queue_id, JUDGES, deleted_too=True)
        lease = parsed(FactReleaseSerializer, request)["lease"]
        return Response({"released": give_back(queue, person(request), lease)})


def _next(request: Request, queue: Queue, item: FactItem | None = None) -> ShownPage | None:
    item = item or claim_item(queue, person(request))
    if item is None:
        return None
    page = page_for(queue, person(request), item)
    answer: ShownPage = ShownPageSerializer(page).data  # type: ignore[assignment]
    return answer
