"""Who becomes a member: added at once, or asked first, and that nobody learns who has an account."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from pooling.interface.problems import InputError
from pooling.models import Collection, Invitation, Membership
from pooling.people.invitations import (
    accept,
    invitation_of,
    invite,
    offer,
    offers_to,
    open_invitations,
)
from pooling.people.membership import add_member, add_or_ask, change_role, create_collection, remove_member
from tests.world import World, signed_in

MEMBERS = "/api/collections/harbour/members/"


def add(client: Client, name: str, role: str = "viewer") -> Any:
    return client.post(MEMBERS, {"username": name, "role": role})


def is_member(user: User, collection: Collection) -> bool:
    return Membership.objects.filter(user=user, collection=collection).exists()


def test_a_stranger_is_asked_and_a_name_that_nobody_has_is_answered_alike(world: World) -> None:
    ada = signed_in(world.ada)
    known, unknown = add(ada, "dan"), add(ada, "zed")
    assert (known.status_code, unknown.status_code) == (202, 202)
    without_time = [{**answer.json(), "username": "", "expires_at": ""} for answer in (known, unknown)]
    assert without_time == [{"username": "", "role": "viewer", "pending": True, "expires_at": ""}] * 2
    listed = ada.get("/api/collections/harbour/invitations/").json()
    assert {row["username"] for row in listed} == {"dan", "zed"}
    assert [set(row) for row in listed] == [set(listed[0])] * 2
    page = ada.get("/collections/harbour/members/").content.decode()
    assert page.count(", not yet accepted") == 2
    assert not is_member(world.dan, world.collection)


def test_the_page_answers_a_stranger_s_name_like_one_that_nobody_has(world: World) -> None:
    ada = signed_in(world.ada)
    pages = [
        ada.post("/collections/harbour/members/", {"username": name, "role": "viewer"}, follow=True)
        for name in ("dan", "zed")
    ]
    for page, name in zip(pages, ("dan", "zed"), strict=True):
        assert f"If account “{name}”" in page.content.decode()


def test_whoever_is_asked_joins_from_their_home_page(world: World) -> None:
    add(signed_in(world.ada), "dan", "annotator")
    dan = signed_in(world.dan)
    assert "<strong>ada</strong> invites you" in dan.get("/").content.decode()
    (asked,) = dan.get("/api/offers/").json()
    assert (asked["collection"], asked["role"], asked["invited_by"]) == ("harbour", "annotator", "ada")
    dan.post(f"/offers/{asked['id']}/accept/")
    assert world.collection.memberships.get(user=world.dan).role == "annotator"
    assert dan.get("/api/offers/").json() == []
    assert open_invitations(world.collection) == []


@pytest.mark.parametrize(("method", "joins"), [("post", True), ("delete", False)])
def test_a_program_accepts_and_declines(world: World, method: str, joins: bool) -> None:
    add(signed_in(world.ada), "dan")
    dan = signed_in(world.dan)
    (asked,) = dan.get("/api/offers/").json()
    getattr(dan, method)(f"/api/offers/{asked['id']}/")
    assert is_member(world.dan, world.collection) is joins
    assert dan.get("/api/offers/").json() == []


def test_whoever_declines_is_no_member(world: World) -> None:
    add(signed_in(world.ada), "dan")
    dan = signed_in(world.dan)
    dan.post(f"/offers/{offers_to(world.dan).get().pk}/decline/")
    assert not is_member(world.dan, world.collection)
    assert "invites you" not in dan.get("/").content.decode()


def test_an_offer_is_for_one_account_alone(world: World) -> None:
    made = offer(world.collection, "dan", "admin", by=world.ada, user=world.dan)
    ben = signed_in(world.ben)
    assert ben.post(f"/offers/{made.pk}/accept/").status_code == 404
    assert ben.delete(f"/api/offers/{made.pk}/").status_code == 404
    assert world.collection.memberships.get(user=world.ben).role == "annotator"


def test_asking_again_changes_the_role_of_the_one_offer(world: World) -> None:
    ada = signed_in(world.ada)
    for name in ("dan", "zed"):
        add(ada, name, "admin")
        add(ada, name, "viewer")
    assert dict(Invitation.objects.values_list("username", "role")) == {"dan": "viewer", "zed": "viewer"}
    assert Invitation.objects.count() == 2


def test_a_name_that_is_taken_later_does_not_inherit_the_offer(world: World) -> None:
    add(signed_in(world.ada), "zed")
    assert not offers_to(User.objects.create_user("zed")).exists()


def test_the_form_says_whether_a_name_is_asked_or_a_member_at_once(world: World) -> None:
    address = "/collections/harbour/members/"
    assert "They are asked to join" in signed_in(world.ada).get(address).content.decode()
    world.ada.is_staff = True
    world.ada.save()
    page = signed_in(world.ada).get(address).content.decode()
    assert "They become a member at once." in page
    assert "asked to join" not in page


def test_whoever_runs_the_site_adds_at_once_and_is_told_of_unknown_names(world: World) -> None:
    world.ada.is_staff = True
    world.ada.save()
    ada = signed_in(world.ada)
    assert add(ada, "dan").status_code == 201
    assert is_member(world.dan, world.collection)
    unknown = add(ada, "zed")
    assert (unknown.status_code, unknown.json()["fields"]["username"][:10]) == (400, "No account")


@pytest.mark.parametrize(("role", "at_once"), [("admin", True), ("viewer", True), ("annotator", False)])
def test_whom_one_sees_in_another_collection_one_adds_at_once(world: World, role: str, at_once: bool) -> None:
    other = create_collection(None, slug="quay", name="Quay")
    add_member(other, "dan", "viewer")
    add_member(other, "ada", role)
    outcome = add_or_ask(world.collection, "dan", "viewer", by=world.ada)
    assert isinstance(outcome, Membership) is at_once
    assert is_member(world.dan, world.collection) is at_once


@pytest.fixture
def eve(world: World) -> User:
    """A second admin of the harbour."""
    user = User.objects.create_user("eve")
    add_member(world.collection, "eve", "admin")
    return user


def demote(world: World, eve: User) -> None:
    change_role(world.collection.memberships.get(user=eve), "annotator", by=world.ada)


def remove(world: World, eve: User) -> None:
    remove_member(world.collection.memberships.get(user=eve), by=world.ada)


def remove_past_the_page(world: World, eve: User) -> None:
    world.collection.memberships.filter(user=eve).delete()


def switch_off(world: World, eve: User) -> None:
    User.objects.filter(pk=eve.pk).update(is_active=False)


def delete(world: World, eve: User) -> None:
    eve.delete()


@pytest.mark.parametrize("change", [demote, remove, remove_past_the_page, switch_off, delete])
def test_open_invitations_end_with_the_role_of_who_made_them(world: World, eve: User, change: Any) -> None:
    link = invite(world.collection, "admin", by=eve).token
    offer(world.collection, "dan", "admin", by=eve, user=world.dan)
    others = invite(world.collection, "viewer", by=world.ada)
    change(world, eve)
    with pytest.raises(InputError):
        accept(link, world.dan)
    assert not offers_to(world.dan).exists()
    assert open_invitations(world.collection) == [others.invitation]
    assert invitation_of(others.token) == others.invitation


def test_what_ended_with_a_role_does_not_come_back_with_it(world: World, eve: User) -> None:
    link = invite(world.collection, "admin", by=eve).token
    demote(world, eve)
    change_role(world.collection.memberships.get(user=eve), "admin", by=world.ada)
    with pytest.raises(InputError, match="was withdrawn"):
        accept(link, world.dan)
    actions = world.collection.admin_actions.values_list("actor__username", "action", "about__username")
    assert ("ada", "invitations withdrawn", "eve") in actions


def test_an_offer_ends_after_its_days(world: World) -> None:
    offer(world.collection, "dan", "viewer", by=world.ada, user=world.dan)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert not offers_to(world.dan).exists()
    assert open_invitations(world.collection) == []
