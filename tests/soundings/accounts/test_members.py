"""The members page: who may look, who may change, and that an admin always remains."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import Client

from pooling.models import Membership
from tests.world import World

PATH = "/collections/harbour/members/"


def roles() -> dict[str, str]:
    return dict(Membership.objects.values_list("user__username", "role"))


def member(name: str) -> Membership:
    return Membership.objects.get(user__username=name)


def post(client: Client, path: str, **fields: str) -> HttpResponse:
    return client.post(path, fields, follow=True)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("username", "sentence"),
    [("ben", "ben is already a member"), ("", "This field is required")],
)
def test_who_cannot_be_added_is_told_beside_the_field(
    world: World, client: Client, username: str, sentence: str
) -> None:
    client.force_login(world.ada)
    response = client.post(PATH, {"username": username, "role": "viewer"})
    assert response.status_code == 400
    assert sentence in response.content.decode()


def test_a_role_is_changed_and_a_member_removed(world: World, client: Client) -> None:
    client.force_login(world.ada)
    post(client, f"{PATH}{member('ben').pk}/role/", role="viewer")
    post(client, f"{PATH}{member('cleo').pk}/remove/")
    assert roles() == {"ada": "admin", "ben": "viewer", "vera": "viewer"}


def test_the_last_admin_stays(world: World, client: Client) -> None:
    client.force_login(world.ada)
    for answer in (
        post(client, f"{PATH}{member('ada').pk}/role/", role="viewer"),
        post(client, f"{PATH}{member('ada').pk}/remove/"),
    ):
        assert "ada is the only admin" in answer.content.decode()
    assert roles()["ada"] == "admin"


def test_an_admin_who_leaves_is_sent_home(world: World, client: Client) -> None:
    client.force_login(world.ada)
    post(client, f"{PATH}{member('ben').pk}/role/", role="admin")
    answer = client.post(f"{PATH}{member('ada').pk}/remove/")
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("change", ["role", "remove"])
def test_who_changes_their_own_place_ends_on_a_page(world: World, client: Client, change: str) -> None:
    Membership.objects.filter(user=world.ben).update(role="admin")
    client.force_login(world.ada)
    address = f"{PATH}{member('ada').pk}/{change}/"
    answer = client.post(address, {"role": "viewer"}, follow=True)
    assert answer.redirect_chain == [("/", 302)]
    assert answer.status_code == 200
    assert roles().get("ada") == {"role": "viewer", "remove": None}[change]


def test_a_role_that_does_not_exist_changes_nothing(world: World, client: Client) -> None:
    client.force_login(world.ada)
    answer = post(client, f"{PATH}{member('ben').pk}/role/", role="owner")
    assert "Choose admin, annotator or viewer." in answer.content.decode()
    assert roles()["ben"] == "annotator"


def test_members_of_another_collection_are_out_of_reach(world: World, client: Client) -> None:
    from pooling.models import Collection

    other = Collection.objects.create(slug="other", name="Other")
    Membership.objects.create(collection=other, user=world.ada, role="admin")
    client.force_login(world.ada)
    answer = client.post(f"/collections/other/members/{member('ben').pk}/remove/")
    assert answer.status_code == 404
    assert "ben" in roles()
