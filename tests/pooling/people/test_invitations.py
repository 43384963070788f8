"""Invitations, and the list of what admins did."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from pooling.interface.problems import InputError
from pooling.models import AdminAction, Invitation, Membership
from pooling.people.invitations import (
    NewInvitation,
    accept,
    invitation_of,
    invite,
    open_invitations,
    withdraw,
)
from pooling.people.membership import add_member, change_role, create_collection, remove_member
from tests.world import World


@pytest.fixture
def invited(world: World) -> NewInvitation:
    """An invitation that Ada made for an annotator."""
    return invite(world.collection, "annotator", by=world.ada)


def actions(world: World) -> list[tuple[str, str, str]]:
    rows = AdminAction.objects.filter(collection=world.collection).select_related("actor").order_by("pk")
    return [(str(row.actor), row.action, row.subject_name) for row in rows]


def test_whoever_has_the_link_becomes_a_member_once(world: World, invited: NewInvitation) -> None:
    member = accept(invited.token, world.dan)
    assert (member.user, member.role) == (world.dan, "annotator")
    with pytest.raises(InputError, match="has been used"):
        invitation_of(invited.token)
    assert open_invitations(world.collection) == []


def test_a_member_keeps_their_role_and_the_link_its_use(world: World, invited: NewInvitation) -> None:
    assert accept(invited.token, world.vera).role == "viewer"
    assert invitation_of(invited.token) == invited.invitation


def test_the_database_does_not_know_the_token(invited: NewInvitation) -> None:
    row = Invitation.objects.values().get()
    assert invited.token not in str(row)


@pytest.mark.parametrize("change", ["withdrawn", "expired", "unknown"])
def test_a_link_that_no_longer_works_says_why(world: World, invited: NewInvitation, change: str) -> None:
    sentence = {"withdrawn": "was withdrawn", "expired": "has expired", "unknown": "is not valid"}[change]
    token = invited.token
    if change == "withdrawn":
        withdraw(invited.invitation, by=world.ada)
    elif change == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        token = token[:-1]
    with pytest.raises(InputError, match=sentence):
        accept(token, world.dan)
    assert not Membership.objects.filter(user=world.dan).exists()


def test_what_was_used_cannot_be_withdrawn(world: World, invited: NewInvitation) -> None:
    accept(invited.token, world.dan)
    with pytest.raises(InputError, match="Remove the member"):
        withdraw(invited.invitation, by=world.ada)


@pytest.mark.parametrize(("role", "days"), [("owner", 14), ("annotator", 0), ("annotator", 91)])
def test_an_invitation_that_cannot_be_is_refused(world: World, role: str, days: int) -> None:
    with pytest.raises(InputError):
        invite(world.collection, role, by=world.ada, days=days)
    assert not Invitation.objects.exists()


def test_what_admins_do_to_members_is_written_down(world: World) -> None:
    member = add_member(world.collection, "dan", "viewer", by=world.ada)
    change_role(member, "annotator", by=world.ada)
    remove_member(member, by=world.ada)
    made = invite(world.collection, "viewer", by=world.ada, email="eve@example.org").invitation
    withdraw(made, by=world.ada)
    assert actions(world) == [
        ("ada", "member added", "dan"),
        ("ada", "role changed", "dan"),
        ("ada", "member removed", "dan"),
        ("ada", "invitation made", f"invitation {made.pk}"),
        ("ada", "invitation withdrawn", f"invitation {made.pk}"),
    ]


def test_what_was_refused_is_not_written_down(world: World) -> None:
    with pytest.raises(InputError):
        add_member(world.collection, "ben", "viewer", by=world.ada)
    assert actions(world) == []


def test_who_created_a_collection_is_known(world: World) -> None:
    made = create_collection(world.dan, slug="quay", name="Quay")
    assert made.admin_actions.get().actor == world.dan
