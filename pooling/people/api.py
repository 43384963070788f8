from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface.api import PROBLEM, answers, parsed, person, takes
from pooling.interface.problems import InputError
from pooling.models import Collection, Invitation, Membership
from pooling.people import serializers
from pooling.people.access import ADMIN, MEMBERS, collection_for, collections_of, fetch, require_creator
from pooling.people.invitations import (
    accept_offer,
    decline_offer,
    invite,
    offers_to,
    open_invitations,
    withdraw,
)
from pooling.people.membership import add_or_ask, change_role, create_collection, remove_member
from pooling.tables.calls import listed, lists
from pooling.tables.rows import Rows

LONGEST_ID = 18  # digits of a key in the database


class Collections(APIView):
    @lists(serializers.CollectionSerializer)
    def get(self, request: Request) -> Response:
        """List the collections you are a member of."""
        user = person(request)
        roles = dict(Membership.objects.filter(user=user).values_list("collection_id", "role"))

        def as_json(rows: Sequence[Collection]) -> Any:
            for row in rows:
                row.role = roles.get(row.pk, "admin")  # type: ignore[attr-defined]
            return serializers.CollectionSerializer(rows, many=True).data

        return listed(request, collections_of(user).filter(archived_at=None), as_json)

    @takes(
        serializers.CollectionSerializer,
        gives=serializers.CollectionSerializer,
        status=201,
        also={409: PROBLEM},
    )
    def post(self, request: Request) -> object:
        """Create a collection; you become its admin. Who may is a setting of the site."""
        require_creator(request.user)
        collection = create_collection(person(request), **parsed(serializers.CollectionSerializer, request))
        collection.role = "admin"  # type: ignore[attr-defined]
        return collection


class OneCollection(APIView):
    @answers(serializers.CollectionDetailSerializer)
    def get(self, request: Request, slug: str) -> object:
        """Read a collection with its counts."""
        collection = collection_for(request.user, slug, MEMBERS)
        kinds = ("queries", "documents", "runs", "pools")
        counts = {kind: getattr(collection, kind).count() for kind in kinds}
        collection.counts = counts  # type: ignore[attr-defined]
        return collection


class Members(APIView):
    @lists(serializers.MemberSerializer)
    def get(self, request: Request, slug: str) -> Rows:
        """List the members."""
        collection = collection_for(request.user, slug)
        return collection.memberships.select_related("user")

    @takes(
        serializers.MemberSerializer,
        gives=serializers.MemberSerializer,
        status=201,
        also={202: serializers.AskedMemberSerializer},
    )
    def post(self, request: Request, slug: str) -> object:
        """Add a member: at once (201) as somebody who runs the site, or whom you see among the members of a
        collection already. Anybody else is asked first (202), and a name that nobody has is answered alike.
        """
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.MemberSerializer, request)
        outcome = add_or_ask(collection, body["user"]["username"], body["role"], by=person(request))
        if isinstance(outcome, Invitation):
            invitation = serializers.AskedMemberSerializer(outcome)
            return Response(invitation.data, status=status.HTTP_202_ACCEPTED)
        return outcome


class OneMember(APIView):
    @takes(serializers.RoleSerializer, gives=serializers.MemberSerializer)
    def patch(self, request: Request, slug: str, username: str) -> object:
        """Give a member another role; a collection keeps at least one admin."""
        member = self.member(request, slug, username)
        role = parsed(serializers.RoleSerializer, request)["role"]
        return change_role(member, role, by=person(request))

    @answers()
    def delete(self, request: Request, slug: str, username: str) -> None:
        """Remove a member; what they judged stays."""
        remove_member(self.member(request, slug, username), by=person(request))

    def member(self, request: Request, slug: str, username: str) -> Membership:
        collection = collection_for(request.user, slug, ADMIN)
        return fetch(collection.memberships.select_related("user"), user__username=username)


class Invitations(APIView):
    @lists(serializers.InvitationSerializer, operation_id="collections_invitations_list")
    def get(self, request: Request, slug: str) -> Rows:
        """List the invitations that can still be used."""
        collection = collection_for(request.user, slug, ADMIN)
        return open_invitations(collection)

    @takes(serializers.InvitationSerializer, gives=serializers.InvitationSerializer, status=201)
    def post(self, request: Request, slug: str) -> object:
        """Make an invitation; its link is only in this response."""
        collection = collection_for(request.user, slug, ADMIN)
        body = parsed(serializers.InvitationSerializer, request)
        invitation, token = invite(collection, body.pop("role"), by=person(request), **body)
        invitation.token = token  # type: ignore[attr-defined]
        invitation.url = request.build_absolute_uri(  # type: ignore[attr-defined]
            reverse("invitation", args=[token])
        )
        return invitation


class OneInvitation(APIView):
    @answers()
    def delete(self, request: Request, slug: str, invitation_id: int) -> None:
        """Withdraw an invitation that nobody has used."""
        collection = collection_for(request.user, slug, ADMIN)
        withdraw(fetch(collection.invitations.all(), pk=invitation_id), by=person(request))


class Offers(APIView):
    @lists(serializers.OfferedMembershipSerializer)
    def get(self, request: Request) -> Rows:
        """List the memberships you are offered."""
        return offers_to(person(request))


class OneOffer(APIView):
    @answers(serializers.MemberSerializer)
    def post(self, request: Request, offer_id: int) -> object:
        """Accept: you are a member from now on."""
        return accept_offer(fetch(offers_to(person(request)), pk=offer_id), person(request))

    @answers()
    def delete(self, request: Request, offer_id: int) -> None:
        """Decline."""
        decline_offer(fetch(offers_to(person(request)), pk=offer_id))


class Activity(APIView):
    @lists(
        serializers.AdminActionSerializer,
        operation_id="collections_activity_list",
        parameters=[OpenApiParameter("before", int, description="Only entries with a smaller id.")],
    )
    def get(self, request: Request, slug: str) -> Rows:
        """List what admins did to the collection, newest first."""
        collection = collection_for(request.user, slug, ADMIN)
        rows = collection.admin_actions.select_related("actor", "about")
        before = request.query_params.get("before", "")
        if before:
            if not before.isascii() or not before.isdigit() or len(before) > LONGEST_ID:
                raise InputError("`before` is the id of an entry.", field="before")
            rows = rows.filter(pk__lt=int(before))
        return rows
