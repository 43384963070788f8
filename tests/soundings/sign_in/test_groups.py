"""Groups of the provider become roles at each sign-in, and go with the group."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from pooling.models import AdminAction, Membership
from pooling.people.membership import add_member, change_role, create_collection
from soundings.installation.sign_in import GroupRole
from tests.soundings.sign_in.provider import Provider
from tests.world import World

pytestmark = pytest.mark.django_db
GROUPS = (
    GroupRole("judges", "harbour", "annotator"),
    GroupRole("leads", "harbour", "admin"),
    GroupRole("judges", "airport", "viewer"),
    GroupRole("judges", "gone", "viewer"),
)


@pytest.fixture
def with_groups(provider: Provider, world: World, settings: Settings) -> Provider:
    """The provider of a site on which groups decide."""
    create_collection(world.ada, slug="airport", name="Airport")
    settings.OIDC = replace(settings.OIDC, groups=GROUPS, site_admins=frozenset({"operators"}))
    return provider


def sign_in(provider: Provider, groups: object) -> User:
    provider.person["groups"] = groups
    provider.sign_in(Client())
    return User.objects.get(username="eve")


def roles(user: User) -> dict[str, str]:
    return dict(Membership.objects.filter(user=user).values_list("collection__slug", "role"))


def test_groups_give_roles_and_take_them_away(with_groups: Provider) -> None:
    assert roles(sign_in(with_groups, ["judges", "others"])) == {"harbour": "annotator", "airport": "viewer"}
    assert roles(sign_in(with_groups, ["judges", "leads"])) == {"harbour": "admin", "airport": "viewer"}
    assert roles(sign_in(with_groups, "judges")) == {"harbour": "annotator", "airport": "viewer"}
    assert roles(sign_in(with_groups, [])) == {}
    assert roles(sign_in(with_groups, {"judges": True})) == {}
    lines = AdminAction.objects.filter(about__username="eve", collection__slug="harbour").order_by("pk")
    assert [(line.action, line.detail["group"]) for line in lines] == [
        ("member added", "judges"),
        ("role changed", "leads"),
        ("role changed", "judges"),
        ("member removed", "left"),
    ]


def test_what_was_given_by_hand_stays(with_groups: Provider, world: World) -> None:
    eve = sign_in(with_groups, [])
    add_member(world.collection, "eve", "viewer", by=world.ada)
    assert roles(sign_in(with_groups, ["leads"])) == {"harbour": "viewer"}
    assert roles(sign_in(with_groups, [])) == {"harbour": "viewer"}
    sign_in(with_groups, ["judges"])
    change_role(Membership.objects.get(user=eve, collection__slug="airport"), "annotator", by=world.ada)
    assert roles(sign_in(with_groups, [])) == {"harbour": "viewer", "airport": "annotator"}


def test_the_only_admin_of_a_collection_stays_until_there_is_another(
    with_groups: Provider, world: World
) -> None:
    sign_in(with_groups, ["leads"])
    Membership.objects.filter(user=world.ada, collection=world.collection).delete()
    assert roles(sign_in(with_groups, [])) == {"harbour": "admin"}
    add_member(world.collection, "ada", "admin")
    assert roles(sign_in(with_groups, [])) == {}


def test_site_admins_come_and_go_with_a_group_that_the_settings_name(
    with_groups: Provider, world: World, settings: Settings
) -> None:
    eve = sign_in(with_groups, ["operators"])
    assert (eve.is_superuser, eve.is_staff) == (True, True)
    # The last one is not locked out.
    assert sign_in(with_groups, []).is_superuser
    world.ada.is_superuser = True
    world.ada.save()
    eve = sign_in(with_groups, [])
    assert (eve.is_superuser, eve.is_staff) == (False, False)
    actions = AdminAction.objects.filter(action__startswith="site admin").order_by("pk")
    assert [line.action for line in actions] == ["site admin made", "site admin ended"]
    settings.OIDC = replace(settings.OIDC, site_admins=frozenset())
    assert not sign_in(with_groups, ["operators"]).is_superuser


def test_a_site_admin_by_hand_stays_one_without_the_group(with_groups: Provider, world: World) -> None:
    sign_in(with_groups, [])
    User.objects.filter(username__in=("eve", "ada")).update(is_superuser=True)
    assert sign_in(with_groups, ["operators"]).is_superuser
    assert sign_in(with_groups, []).is_superuser
