from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import answers, parsed, person, takes
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN, collection_for, fetch, require_role
from pooling.people.api import OneCollection
from pooling.people.membership import change_collection
from pooling.people.serializers import CollectionChangeSerializer
from pooling.tables.calls import lists
from pooling.tables.rows import Rows
from pooling.tidying.doing import archive, delete, rename, restorable_until, restore
from pooling.tidying.kept import Kept
from pooling.tidying.kinds import KINDS, collection_of, dependants_of, kind_of
from pooling.tidying.page import archived_in, deleted_in

# What addresses call the key of a thing.
KEYS = (
    *("run_id", "pool_id", "queue_id", "release_id", "report_id", "replay_id", "canary_id", "import_id"),
    "engine_id",
)


class TidyChangeSerializer(serializers.Serializer[dict[str, Any]]):
    """What is changed about a thing; what is not named stays."""

    name = serializers.CharField(max_length=200, required=False)
    archived = serializers.BooleanField(
        required=False, help_text="Archived things are in no list or form, but have their address."
    )


class RestoreSerializer(serializers.Serializer[dict[str, Any]]):
    """How a thing is restored."""

    name = serializers.CharField(
        max_length=200, required=False, help_text="Another name, where its own was given away."
    )


class DependantSerializer(serializers.Serializer[dict[str, Any]]):
    """What depends on a thing."""

    words = serializers.CharField(help_text="Such as “2 pools”.")
    consequence = serializers.CharField(help_text="What becomes of them when it is deleted.")
    blocks = serializers.BooleanField(help_text="Whether they have to be deleted first.")
    names = serializers.ListField(child=serializers.CharField())


class TidiedSerializer(serializers.Serializer[dict[str, Any]]):
    """A thing with what depends on it."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    name = serializers.CharField()
    archived = serializers.BooleanField()
    deleted = serializers.BooleanField()
    restorable_until = serializers.DateTimeField(allow_null=True, help_text="When a deleted thing is erased.")
    dependants = DependantSerializer(many=True)


class ChangedCollectionSerializer(TidiedSerializer):
    """A collection that was changed."""

    question = serializers.CharField()
    guidelines = serializers.CharField()
    language = serializers.CharField()
    synonyms = serializers.CharField()
    image_hosts = serializers.CharField()


class TidiedThingSerializer(serializers.Serializer[Any]):
    """Something that was archived or deleted; `kind` and `id` are those of its own calls."""

    kind = serializers.CharField(source="kind.name")
    id = serializers.IntegerField(source="thing.pk")
    name = serializers.CharField()
    at = serializers.DateTimeField()
    by = serializers.CharField(help_text="Empty for a command.")
    restorable_until = serializers.DateTimeField(source="until", allow_null=True)


def thing_for(request: Request, kind: str, *, deleted: bool = False, **address: Any) -> Kept:
    rows = KINDS[kind].model.everything.filter(deleted_at__isnull=not deleted)
    where = {_lookup(kind, name): value for name, value in address.items()}
    thing = fetch(rows.order_by("-deleted_at"), **where)
    require_role(request.user, collection_of(thing), ADMIN, deleted_too=kind == "collection")
    return thing


def _lookup(kind: str, name: str) -> str:
    if name == "slug" and kind != "collection":
        return "collection__slug"
    return "pk" if name in KEYS else name


def described(thing: Kept, **more: object) -> Response:
    kind = kind_of(thing)
    return Response(
        {
            **more,
            "id": thing.pk,
            "kind": kind.name,
            "name": kind.name_of(thing),
            "archived": thing.archived_at is not None,
            "deleted": thing.deleted_at is not None,
            "restorable_until": restorable_until(thing) if thing.deleted_at else None,
            "dependants": [
                {
                    "words": one.words,
                    "consequence": one.consequence,
                    "blocks": one.blocks,
                    "names": [str(row) for row in one.things],
                }
                for one in dependants_of(thing)
            ],
        }
    )


class Tidied(APIView):
    kind: ClassVar[str] = ""

    @takes(TidyChangeSerializer, gives=TidiedSerializer)
    def patch(self, request: Request, **address: Any) -> Response:
        """Rename it, archive it or list it again; for admins."""
        thing = thing_for(request, self.kind, **address)
        changes = parsed(TidyChangeSerializer, request)
        if "name" in changes:
            rename(thing, changes["name"], by=person(request))
        if "archived" in changes:
            archive(thing, changes["archived"], by=person(request))
        return described(thing)

    @answers(TidiedSerializer)
    def delete(self, request: Request, **address: Any) -> Response:
        """Delete it, to be restored within thirty days; 409 names what has to go first."""
        thing = thing_for(request, self.kind, **address)
        delete(thing, by=person(request))
        return described(thing)


class Restored(APIView):
    kind: ClassVar[str] = ""

    @takes(RestoreSerializer, gives=TidiedSerializer)
    def post(self, request: Request, **address: Any) -> Response:
        """Restore what was deleted within the last thirty days; 409 where its name was given to another."""
        thing = thing_for(request, self.kind, deleted=True, **address)
        restore(thing, by=person(request), **parsed(RestoreSerializer, request))
        return described(thing)


class TidiedCollection(Tidied, OneCollection):
    kind = "collection"

    @takes(CollectionChangeSerializer, gives=ChangedCollectionSerializer)
    def patch(self, request: Request, slug: str) -> Response:  # type: ignore[override]
        """Change name, question, guidelines, language, synonyms, image hosts, or whether it is archived; for
        admins."""
        collection = collection_for(request.user, slug, ADMIN)
        changes = parsed(CollectionChangeSerializer, request)
        is_archived = changes.pop("archived", None)
        if "name" in changes:
            rename(collection, changes.pop("name"), by=person(request))
        if changes:
            change_collection(collection, by=person(request), **changes)
        if is_archived is not None:
            archive(collection, is_archived, by=person(request))
        names = ("question", "guidelines", "language", "synonyms", "image_hosts")
        texts = {name: getattr(collection, name) for name in names}
        return described(collection, **texts)


class TidiedThings(APIView):
    @lists(
        TidiedThingSerializer,
        operation_id="collections_tidied_list",
        parameters=[OpenApiParameter("state", str, enum=["archived", "deleted"], default="archived")],
    )
    def get(self, request: Request, slug: str) -> Rows:
        """List the archived things, or with `state=deleted` what can be restored, newest first: at most a
        hundred of a kind."""
        collection = collection_for(request.user, slug, ADMIN)
        by_state = {"archived": archived_in, "deleted": deleted_in}
        state = request.query_params.get("state", "archived")
        if state not in by_state:
            raise InputError("Choose archived or deleted.", field="state")
        return by_state[state](collection).rows
