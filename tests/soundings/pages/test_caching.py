"""What may be kept: the guide for everybody and static files; nothing that is somebody's."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.world import World

pytestmark = pytest.mark.anywhere

PRIVATE = "private, no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/account/",
        "/guide/start/",
        "/collections/harbour/",
        "/collections/harbour/runs/",
        "/collections/harbour/judgments/?format=csv",
        "/collections/harbour/members/",
        "/collections/nothing/",
        "/api/collections/",
        "/api/collections/harbour/",
        "/api/collections/harbour/judgments/",
        "/api/nothing/",
        "/admin/",
    ],
)
def test_nothing_is_kept_of_what_somebody_sees(world: World, client: Client, path: str) -> None:
    client.force_login(world.ada)
    assert client.get(path)["Cache-Control"] == PRIVATE


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/sign-in/", "/health/", "/api/collections/", "/password/forgotten/"])
def test_nothing_is_kept_of_doors(client: Client, path: str) -> None:
    assert client.get(path)["Cache-Control"] == PRIVATE


@pytest.mark.django_db
def test_what_is_for_everybody_may_be_kept(client: Client) -> None:
    assert "no-store" not in client.get("/guide/start/").get("Cache-Control", "")
    style = client.get("/static/soundings.css")
    style.close()
    assert (style.status_code, "no-store" in style.get("Cache-Control", "")) == (200, False)
