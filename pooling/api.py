"""The HTTP interface of stage 1: permission is asked where something is fetched; the pages call the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from pooling import serializers
from pooling.interface.problems import InputError
from pooling.jobs.running import cancel_job, resume_job
from pooling.models import Invitation, Job, Membership, Pool, Run
from pooling.people.access import ADMIN, MEMBERS, collection_for, collections_of, fetch, job_for, pool_for
from pooling.people.invitations import (
    MOST_LISTED,
    accept_offer,
    decline_offer,
    invite,
    offers_to,
    open_invitations,
    withdraw,
)
from pooling.people.joining import add_or_ask
from pooling.people.membership import create_collection
from pooling.pools.building import build_or_start
from pooling.pools.versions import extend_or_start
from pooling.runs.stored import runs_named
from pooling.storage.imports import take_in
from pooling.storage.uploads import refuse_oversized

if TYPE_CHECKING:
    from django.contrib.auth.models import User

PROBLEM = serializers.ProblemSerializer

ACTIONS_AT_ONCE = 100
LONGEST_ID = 18  # digits of a key in the database


def person(request: Request) -> User:
    """Who is signed in; the interface lets nobody else through."""
    return cast("User", request.user)


def parsed(kind: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The body as `kind` reads it; a wrong one is answered with 400."""
    refuse_oversized(request._request)
    serializer = kind(data=request.data)
    serializer.is_valid(raise_exception=True)
    return cast("dict[str, Any]", serializer.validated_data)


def made(outcome: dict[str, Any] | Job) -> Response:
    """201 with what was made, or 202 with the job that makes it."""
    if isinstance(outcome, Job):
        return Response({"job": outcome.pk}, status=status.HTTP_202_ACCEPTED)
    return Response(outcome, status=status.HTTP_201_CREATED)


def making(result: type[Serializer[Any]]) -> dict[int, Any]:
    """The answers of a call that makes something, for the schema."""
    return {201: result, 202: serializers.JobStartedSerializer, 400: PROBLEM, 409: PROBLEM}


class Collections(APIView):
    """The collections of whoever asks."""

    @extend_schema(responses=serializers.CollectionSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the collections you are a member of."""
        user = person(request)
        roles = dict(Membership.objects.filter(user=user).values_list("collection_id", "role"))
        rows = list(collections_of(user))
        for row in rows:
            row.role = roles.get(row.pk, "admin")  # type: ignore[attr-defined]
        return Response(serializers.CollectionSerializer(rows, many=True).data)

    @extend_schema(
        request=serializers.CollectionSerializer,
        responses={201: serializers.CollectionSerializer, 400: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request) -> Response:
        """Create a collection; you become its admin."""
        collection = create_collection(person(request), **parsed(serializers.CollectionSerializer, request))
        collection.role = "admin"  # type: ignore[attr-defined]
        return Response(serializers.CollectionSerializer(collection).data, status=status.HTTP_201_CREATED)


class OneCollection(APIView):
    """One collection."""

    @extend_schema(responses={200: serializers.CollectionDetailSerializer, 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """Read a collection with its counts."""
        collection = collection_for(request.user, slug, MEMBERS)
        kinds = ("queries", "documents", "runs", "pools")
        counts = {kind: getattr(collection, kind).count() for kind in kinds}
        collection.counts = counts  # type: ignore[attr-defined]
        return Response(serializers.CollectionDetailSerializer(collection).data)


class Members(APIView):
    """The members of a collection."""

    @extend_schema(responses={200: serializers.MemberSerializer(many=True), 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List the members."""
        collection = collection_for(request.user, slug)
        rows = collection.memberships.select_related("user")
        return Response(serializers.MemberSerializer(rows, many=True).data)

    @extend_schema(
        request=serializers.MemberSerializer,
        responses={
            201: serializers.MemberSerializer,
            202: serializers.AskedMemberSerializer,
            400: PROBLEM,
            409: PROBLEM,
        },
    )
    def post(self, request: Request, slug: str) -> Response:
        """Add a member: at once (201) as somebody who runs the site, or whom you see among the members of a
        collection already. Anybody else is asked first (202), and a name that nobody has is answered alike.
        """
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.MemberSerializer, request)
        outcome = add_or_ask(collection, body["user"]["username"], body["role"], by=person(request))
        if isinstance(outcome, Invitation):
            asked = serializers.AskedMemberSerializer(outcome)
            return Response(asked.data, status=status.HTTP_202_ACCEPTED)
        return Response(serializers.MemberSerializer(outcome).data, status=status.HTTP_201_CREATED)


class Invitations(APIView):
    """Links by which people become members."""

    @extend_schema(
        operation_id="collections_invitations_list",
        responses={200: serializers.InvitationSerializer(many=True), 404: PROBLEM},
    )
    def get(self, request: Request, slug: str) -> Response:
        """List the invitations that can still be used."""
        collection = collection_for(request.user, slug, ADMIN)
        return Response(serializers.InvitationSerializer(open_invitations(collection), many=True).data)

    @extend_schema(
        request=serializers.InvitationSerializer,
        responses={201: serializers.InvitationSerializer, 400: PROBLEM},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make an invitation; its link is told in this answer and never again."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.InvitationSerializer, request)
        invitation, token = invite(collection, body.pop("role"), by=person(request), **body)
        invitation.token = token  # type: ignore[attr-defined]
        invitation.url = request.build_absolute_uri(  # type: ignore[attr-defined]
            reverse("invitation", args=[token])
        )
        return Response(serializers.InvitationSerializer(invitation).data, status=status.HTTP_201_CREATED)


class OneInvitation(APIView):
    """An invitation that somebody made."""

    @extend_schema(responses={204: None, 400: PROBLEM, 404: PROBLEM})
    def delete(self, request: Request, slug: str, invitation_id: int) -> Response:
        """Withdraw an invitation that nobody has used."""
        collection = collection_for(request.user, slug, ADMIN)
        withdraw(fetch(collection.invitations.all(), pk=invitation_id), by=person(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Offers(APIView):
    """Collections that whoever asks is invited to by name."""

    @extend_schema(responses=serializers.OfferedMembershipSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the memberships you are offered."""
        offers = offers_to(person(request))[:MOST_LISTED]
        return Response(serializers.OfferedMembershipSerializer(offers, many=True).data)


class OneOffer(APIView):
    """One of these."""

    @extend_schema(request=None, responses={200: serializers.MemberSerializer, 404: PROBLEM})
    def post(self, request: Request, offer_id: int) -> Response:
        """Accept: you are a member from now on."""
        member = accept_offer(fetch(offers_to(person(request)), pk=offer_id), person(request))
        return Response(serializers.MemberSerializer(member).data)

    @extend_schema(responses={204: None, 404: PROBLEM})
    def delete(self, request: Request, offer_id: int) -> Response:
        """Decline."""
        decline_offer(fetch(offers_to(person(request)), pk=offer_id))
        return Response(status=status.HTTP_204_NO_CONTENT)


class Activity(APIView):
    """What admins did."""

    @extend_schema(
        operation_id="collections_activity_list",
        parameters=[OpenApiParameter("before", int, description="Only entries with a smaller id.")],
        responses={200: serializers.AdminActionSerializer(many=True), 400: PROBLEM, 404: PROBLEM},
    )
    def get(self, request: Request, slug: str) -> Response:
        """List what admins did to the collection, newest first, a hundred at a time."""
        collection = collection_for(request.user, slug, ADMIN)
        rows = collection.admin_actions.select_related("actor")
        before = request.query_params.get("before", "")
        if before:
            if not before.isascii() or not before.isdigit() or len(before) > LONGEST_ID:
                problem = "`before` is the id of an entry."
                raise InputError(problem, fields={"before": problem})
            rows = rows.filter(pk__lt=int(before))
        return Response(serializers.AdminActionSerializer(rows[:ACTIONS_AT_ONCE], many=True).data)


class Queries(APIView):
    """The queries of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(
        request=serializers.UploadSerializer, responses=making(serializers.ImportSummarySerializer)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a file of queries."""
        return _import(request, slug, "queries", serializers.UploadSerializer)


class Documents(APIView):
    """The documents of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(
        request=serializers.DocumentsUploadSerializer, responses=making(serializers.ImportSummarySerializer)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a corpus file, whole or only what some pool contains."""
        return _import(request, slug, "documents", serializers.DocumentsUploadSerializer)


class Runs(APIView):
    """The runs of a collection."""

    parser_classes = [MultiPartParser, FormParser]

    @extend_schema(responses={200: serializers.RunSerializer(many=True), 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List the runs."""
        collection = collection_for(request.user, slug)
        rows = Run.objects.filter(collection=collection).defer("preflight")
        return Response(serializers.RunSerializer(rows, many=True).data)

    @extend_schema(
        request=serializers.RunUploadSerializer, responses=making(serializers.ImportedRunSerializer)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a run file."""
        return _import(request, slug, "run", serializers.RunUploadSerializer)


def _import(request: Request, slug: str, kind: str, body: type[Serializer[Any]]) -> Response:
    collection = collection_for(request.user, slug, ADMIN)
    options = parsed(body, request)
    return made(take_in(collection, kind, options.pop("file"), user=person(request), **options))


class Pools(APIView):
    """The pools of a collection."""

    @extend_schema(responses={200: serializers.PoolSerializer(many=True), 404: PROBLEM})
    def get(self, request: Request, slug: str) -> Response:
        """List the pools."""
        collection = collection_for(request.user, slug)
        rows = Pool.objects.filter(collection=collection).defer("diagnostics")
        return Response(serializers.PoolSerializer(rows, many=True).data)

    @extend_schema(
        request=serializers.PoolRequestSerializer, responses=making(serializers.BuiltPoolSerializer)
    )
    def post(self, request: Request, slug: str) -> Response:
        """Build a pool from stored runs."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.PoolRequestSerializer, request)
        runs = runs_named(collection, body.pop("runs"))
        return made(build_or_start(collection, runs=runs, user=person(request), **body))


class PoolExtension(APIView):
    """The next version of a pool."""

    @extend_schema(request=serializers.ExtensionSerializer, responses=making(serializers.BuiltPoolSerializer))
    def post(self, request: Request, pool_id: int) -> Response:
        """Extend a pool by runs (by name) or depth: its pairs stay, and only what is new is to be judged.

        Budget and audit share are for the new pairs; what is left out is as in the pool.
        """
        pool = pool_for(request.user, pool_id, ADMIN)
        body = parsed(serializers.ExtensionSerializer, request)
        runs = runs_named(pool.collection, body.pop("runs"))
        return made(extend_or_start(pool, runs=runs, user=person(request), **body))


class OneJob(APIView):
    """One job."""

    @extend_schema(responses={200: serializers.JobSerializer, 404: PROBLEM})
    def get(self, request: Request, job_id: int) -> Response:
        """Read how far a job is; `result` is what the call would have answered, or, of a failed one whose
        server was stopped, what is stored of it.
        """
        return Response(serializers.JobSerializer(job_for(request.user, job_id)).data)


class JobCancel(APIView):
    """The end of one job."""

    @extend_schema(
        request=None, responses={200: serializers.JobSerializer, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM}
    )
    def post(self, request: Request, job_id: int) -> Response:
        """Ask for the end of a job: what waits is `cancelled` at once, what runs at its next step, and then
        nothing of it is stored. Work that is done before that stays, and the job is `done`. 409 for a
        finished job, and for work that is stored in steps and cannot be cancelled.
        """
        job = job_for(request.user, job_id, ADMIN)
        cancel_job(job, person(request))
        return Response(serializers.JobSerializer(job).data)


class JobResume(APIView):
    """Going on with one job."""

    @extend_schema(
        request=None,
        responses={202: serializers.JobStartedSerializer, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, job_id: int) -> Response:
        """Take up again a job whose server was stopped, behind what is stored of it; 409 where nothing is."""
        return made(resume_job(job_for(request.user, job_id, ADMIN), person(request)))
