"""Invitations and activity over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.world import World

INVITATIONS = "/api/collections/harbour/invitations/"
ACTIVITY = "/api/collections/harbour/activity/"


@pytest.fixture
def ada(world: World, client: Client) -> Client:
    client.force_login(world.ada)
    return client


def post(client: Client, body: dict[str, Any]) -> Any:
    return client.post(INVITATIONS, body, content_type="application/json")


def test_a_program_invites_and_the_guest_joins(world: World, ada: Client) -> None:
    made = post(ada, {"role": "annotator", "days": 3}).json()
    guest = Client()
    guest.force_login(world.dan)
    guest.post(made["url"].removeprefix("http://testserver"))
    assert world.collection.memberships.get(user=world.dan).role == "annotator"
    assert ada.get(INVITATIONS).json() == []


def test_a_link_is_told_once_and_can_be_withdrawn(ada: Client) -> None:
    made = post(ada, {"role": "viewer", "email": "eve@example.org"}).json()
    (listed,) = ada.get(INVITATIONS).json()
    assert made["token"]
    assert made["token"] not in str(listed)
    assert ada.delete(f"{INVITATIONS}{listed['id']}/").status_code == 204
    assert ada.get(INVITATIONS).json() == []
    done = ada.get(ACTIVITY).json()
    assert [row["action"] for row in done] == ["invitation withdrawn", "invitation made"]
    assert ada.get(f"{ACTIVITY}?before={done[0]['id']}").json() == done[1:]


@pytest.mark.parametrize(
    "body", [{}, {"role": "owner"}, {"role": "viewer", "days": 0}, {"role": "viewer", "email": "x"}]
)
def test_what_cannot_be_an_invitation_is_refused(ada: Client, body: dict[str, Any]) -> None:
    answer = post(ada, body)
    assert answer.status_code == 400
    assert ada.get(INVITATIONS).json() == []


@pytest.mark.parametrize("before", ["x", "-1", "9" * 30, "²"])
def test_an_entry_that_is_none_is_refused(ada: Client, before: str) -> None:
    assert ada.get(ACTIVITY, {"before": before}).status_code == 400
