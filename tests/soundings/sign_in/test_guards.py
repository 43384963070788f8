"""Guards go by how a request was authenticated, never by what its headers say of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from pooling.account_models import ApiToken, Scope, SeenSession
from soundings.accounts.tokens import make_token
from soundings.sign_in.chosen import FACTORS, table
from tests.soundings.sign_in.codes import CODES, PAGE, code_of, first_step, secret_on, set_up, text
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db

#: What Ben's browser sends along, and how a call is answered then; pages do not look at it.
HEADERS = {
    "nothing": 403,
    "a false token": 401,
    "no token": 401,
    "another scheme": 403,
    "another's token": 200,
    "his token": 200,
    "his token that reads": 200,
    "his token that has ended": 401,
}


@pytest.fixture(autouse=True)
def _no_counts() -> None:
    cache.clear()


def header(world: World, sent: str) -> dict[str, str]:
    """The header `Authorization`."""
    if sent == "nothing":
        return {}
    if sent == "another scheme":
        return {"Authorization": "Basic YmVuOmJlbg=="}
    owner = world.ada if sent == "another's token" else world.ben
    made = make_token(owner, scope=Scope.READ if sent == "his token that reads" else Scope.ADMIN)
    if sent == "his token that has ended":
        ApiToken.objects.filter(pk=made.row.pk).update(expires_at=timezone.now() - timedelta(days=1))
    token = {"a false token": "x", "no token": ""}.get(sent, made.token)
    return {"Authorization": f"Token {token}"}


@pytest.fixture
def site_admin(world: World) -> World:
    """Ben may use everything under /admin/."""
    world.ben.is_staff = world.ben.is_superuser = True
    world.ben.save()
    return world


@pytest.mark.parametrize("sent", HEADERS)
@pytest.mark.parametrize(
    "page",
    ["/", "/account/", "/collections/harbour/", "/admin/", "/admin/auth/user/", "/account/data/", CODES],
)
def test_a_session_without_the_required_factor_opens_no_page(
    site_admin: World, client: Client, settings: Settings, page: str, sent: str
) -> None:
    settings.SECOND_FACTOR = "required"
    first_step(client)
    answer = client.get(page, headers=header(site_admin, sent))
    assert (answer.status_code, answer.headers.get("Location")) == (302, PAGE)


@pytest.mark.parametrize("sent", HEADERS)
def test_a_session_without_the_required_factor_makes_no_token(
    world: World, client: Client, settings: Settings, sent: str
) -> None:
    settings.SECOND_FACTOR = "required"
    first_step(client)
    headers = header(world, sent)
    before = ApiToken.objects.count()
    assert client.post("/account/", {"name": "mine"}, headers=headers)["Location"] == PAGE
    wanted = {"username": "ben", "password": PASSWORD}
    assert client.post("/api/token/", wanted, headers=headers).status_code == 403
    assert ApiToken.objects.count() == before


@pytest.mark.parametrize(("sent", "status"), HEADERS.items())
def test_a_call_is_answered_as_it_was_authenticated(
    world: World, client: Client, settings: Settings, sent: str, status: int
) -> None:
    settings.SECOND_FACTOR = "required"
    first_step(client)
    headers = header(world, sent)
    for call in ("/api/collections/", "/api/sessions/", "/api/schema/", "/api/docs/"):
        assert client.get(call, headers=headers).status_code == status
    if status == 200:
        owner = "ada" if sent == "another's token" else "ben"
        told = client.get("/api/tokens/", headers=headers).json()
        of_owner = ApiToken.objects.filter(user__username=owner)
        assert [one["id"] for one in told] == [token.pk for token in of_owner]


@pytest.mark.parametrize(
    ("sent", "status"), [("nothing", 204), ("his token", 204), ("his token that reads", 403)]
)
def test_a_session_widens_no_scope(world: World, client: Client, sent: str, status: int) -> None:
    doomed = make_token(world.ben).row
    first_step(client)
    headers = header(world, sent)
    assert client.delete(f"/api/tokens/{doomed.pk}/", headers=headers).status_code == status


@pytest.mark.parametrize("sent", ["nothing", "his token", "another's token"])
def test_a_call_that_is_meant_for_an_account_is_of_that_account(
    world: World, client: Client, sent: str
) -> None:
    first_step(client)
    headers = header(world, sent)
    authenticated = world.ada if sent == "another's token" else world.ben
    for meant in (world.ben, world.cleo):
        status = client.get("/api/tokens/", headers=headers | {"X-Account": str(meant.pk)}).status_code
        assert status == (200 if meant == authenticated else 409)


def test_sessions_from_before_it_was_required_are_asked_as_well(
    world: World, client: Client, clock: list[int], settings: Settings
) -> None:
    first_step(client)
    assert client.get("/account/").status_code == 200
    settings.SECOND_FACTOR = "required"
    assert client.get("/account/")["Location"] == PAGE
    assert client.get("/api/collections/").status_code == 403
    secret = secret_on(text(client.get(PAGE)))
    client.post(PAGE, {"code": code_of(secret, clock), "password": PASSWORD})
    assert client.get("/account/").status_code == 200


def test_setting_it_up_signs_out_whoever_had_the_password_alone(world: World, clock: list[int]) -> None:
    elsewhere, here = Client(), Client()
    first_step(elsewhere)
    set_up(here, clock)
    assert elsewhere.get("/account/").status_code == 302
    assert here.get("/account/").status_code == 200


def test_a_session_that_never_gave_a_code_opens_nothing_once_the_account_has_one(
    world: World, client: Client, clock: list[int], settings: Settings
) -> None:
    """Somebody with the password alone signed in while its owner was setting the second factor up."""
    settings.SECOND_FACTOR = "required"
    first_step(client)
    SeenSession.objects.filter(user=world.ben).delete()  # as long as it is not written down
    set_up(Client(), clock)
    assert client.get("/api/collections/").status_code == 403
    assert client.get("/account/").status_code == 302
    assert client.get("/account/")["Location"].startswith("/sign-in/")
    first_step(client)
    assert client.get("/account/").status_code == 302


def test_a_second_factor_that_was_turned_off_before_is_asked_for(
    world: World, client: Client, clock: list[int], settings: Settings
) -> None:
    secret = set_up(client, clock)
    client.post(f"{PAGE}off/", {"code": code_of(secret, clock)})
    settings.SECOND_FACTOR = "required"
    assert client.get("/account/")["Location"] == PAGE


def test_a_second_factor_that_was_ended_is_asked_for_again(
    world: World, client: Client, clock: list[int], settings: Settings
) -> None:
    settings.SECOND_FACTOR = "required"
    set_up(client, clock)
    assert client.get("/account/").status_code == 200
    table(FACTORS).all().delete()  # as a site admin does
    assert client.get("/account/")["Location"] == PAGE
    assert client.get("/api/collections/").status_code == 403
