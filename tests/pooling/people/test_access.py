"""The doors: permission is asked where something is fetched."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.http import Http404

from pooling.models import Collection
from pooling.people.access import ADMIN, MEMBERS, READERS, collection_for, collections_of, pool_for, run_for
from tests.world import World


def test_collections_of_lists_ones_own(world: World) -> None:
    Collection.objects.create(slug="empty", name="Nobody's")
    assert list(collections_of(world.ben)) == [world.collection]
    assert list(collections_of(world.dan)) == []
    assert list(collections_of(AnonymousUser())) == []
    root = User.objects.create_superuser("root")
    assert collections_of(root).count() == 2


def test_a_stranger_learns_nothing_and_a_member_learns_the_role_it_takes(world: World) -> None:
    with pytest.raises(Http404, match=r"no collection|not a member"):
        collection_for(world.dan, "harbour", MEMBERS)
    with pytest.raises(Http404):
        collection_for(AnonymousUser(), "harbour", MEMBERS)
    with pytest.raises(PermissionDenied, match="role admin or viewer; your role here is annotator"):
        collection_for(world.ben, "harbour", READERS)
    assert collection_for(world.ben, "harbour", MEMBERS) == world.collection


def test_a_superuser_is_admin_everywhere(world: World) -> None:
    root = User.objects.create_superuser("root")
    assert collection_for(root, "harbour", ADMIN) == world.collection


def test_runs_and_pools_are_behind_the_same_door(world: World) -> None:
    pool = world.build_pool()
    run = world.collection.runs.get(name="alpha")
    assert pool_for(world.vera, pool.pk) == pool
    assert run_for(world.vera, run.pk) == run
    for fetch, key in ((pool_for, pool.pk), (run_for, run.pk)):
        with pytest.raises(Http404):
            fetch(world.dan, key)
        with pytest.raises(PermissionDenied):
            fetch(world.vera, key, ADMIN)
