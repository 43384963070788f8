"""The HTTP interface of messages from pairs."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.access import queue_for
from labeling.items.numbers import item_of
from labeling.models import PairMessage
from labeling.progress import message_serializers as shapes
from labeling.progress.sending import answer_message, message_for_admin, send_message
from pooling.interface.api import parsed, person, takes
from pooling.people.access import ADMIN, collection_for
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class QueueMessages(APIView):
    @lists(shapes.OwnMessageSerializer)
    def get(self, request: Request, queue_id: int) -> Rows:
        """List what you sent and what you were answered, newest first."""
        queue = queue_for(request.user, queue_id)
        own = PairMessage.objects.filter(queue=queue, author=person(request))
        return own.select_related("query", "document")

    @takes(
        shapes.NewMessageSerializer,
        gives=shapes.OwnMessageSerializer,
        also={201: shapes.OwnMessageSerializer},
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Tell the admins something about a pair; 200 where the key was sent before."""
        queue = queue_for(request.user, queue_id)
        body = parsed(shapes.NewMessageSerializer, request)
        sent = send_message(queue, person(request), item_of(body["item"]), body["text"], key=body["key"])
        return Response(shapes.OwnMessageSerializer(sent[0]).data, status=201 if sent[1] else 200)


class Messages(APIView):
    @lists(shapes.MessageSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List them, newest first, for admins."""
        collection = collection_for(request.user, slug, ADMIN)
        return collection.pair_messages.select_related("author", "query", "document")


class MessageAnswer(APIView):
    @takes(shapes.MessageAnswerSerializer, gives=shapes.MessageSerializer)
    def post(self, request: Request, message_id: int) -> object:
        """Answer; the author sees it on the page of their work. A second answer replaces the first."""
        message = message_for_admin(request.user, message_id)
        text = parsed(shapes.MessageAnswerSerializer, request)["answer"]
        answer_message(message, text, by=person(request))
        return message
