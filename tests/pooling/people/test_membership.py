"""Collections and their members."""

from __future__ import annotations

import pytest

from pooling.interface.problems import InputError
from pooling.models import Collection, Role
from pooling.people.membership import add_member, create_collection
from tests.world import World


def test_whoever_creates_a_collection_becomes_its_admin(world: World) -> None:
    collection = create_collection(world.dan, slug="tides", name="Tides")
    assert collection.memberships.get().user == world.dan
    assert collection.memberships.get().role == Role.ADMIN
    assert collection.question == "Is this document relevant to the query?"


def test_a_slug_that_is_taken_is_refused(world: World) -> None:
    with pytest.raises(InputError, match="Collection “harbour” already exists") as refusal:
        create_collection(world.dan, slug="harbour", name="Another")
    assert refusal.value.conflict
    assert Collection.objects.count() == 1


@pytest.mark.parametrize("slug", ["", "two words", "ä", "a/b", "x" * 61])
def test_a_slug_that_addresses_cannot_hold_is_refused(world: World, slug: str) -> None:
    with pytest.raises(InputError, match="short name"):
        create_collection(world.dan, slug=slug, name="Tides")
    assert Collection.objects.count() == 1


def test_a_member_has_one_role(world: World) -> None:
    with pytest.raises(InputError, match="ben is already a member"):
        add_member(world.collection, "ben", "viewer")
    assert world.collection.memberships.get(user=world.ben).role == Role.ANNOTATOR


@pytest.mark.parametrize(("name", "role"), [("nobody", "viewer"), ("dan", "captain")])
def test_an_unknown_account_or_role_is_refused(world: World, name: str, role: str) -> None:
    with pytest.raises(InputError, match=r"No account|Unknown role"):
        add_member(world.collection, name, role)
    assert not world.collection.memberships.filter(user=world.dan).exists()
