"""A site without passwords: only the provider signs people in."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django.fixtures import Settings

from pooling.models import AdminAction
from pooling.people.invitations import invite
from soundings.accounts.tokens import make_token
from tests.soundings.sign_in.provider import Provider
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db
SENTENCE = "This site has no passwords. Sign in with Harbour Login."


@pytest.fixture
def no_passwords(settings: Settings, provider: Provider, world: World) -> World:
    """The world on such a site."""
    settings.PASSWORDS = False
    return world


def text(answer: object) -> str:
    return answer.content.decode()  # type: ignore[attr-defined, no-any-return]


def test_the_form_is_gone_and_a_password_is_refused(no_passwords: World, client: Client) -> None:
    page = text(client.get("/sign-in/"))
    assert "Sign in with Harbour Login" in page
    assert 'type="password"' not in page
    assert "/password/forgotten/" not in page
    answer = client.post("/sign-in/", {"username": "ada", "password": PASSWORD})
    assert (answer.status_code, SENTENCE in text(answer)) == (403, True)
    assert client.get("/account/").status_code == 302
    assert not AdminAction.objects.filter(action="signed in").exists()


@pytest.mark.parametrize("page", ["/password/", "/password/forgotten/", "/password/new/MQ/set-password/"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_pages_about_passwords_say_so(no_passwords: World, client: Client, page: str, method: str) -> None:
    answer = getattr(client, method)(page)
    assert (answer.status_code, SENTENCE in text(answer)) == (403, True)


def test_an_invitation_is_accepted_by_the_provider_alone(
    no_passwords: World, client: Client, provider: Provider
) -> None:
    _, token = invite(no_passwords.collection, "viewer", by=no_passwords.ada)
    path = f"/invitations/{token}/"
    assert 'type="password"' not in text(client.get(path))
    fields = {"username": "eve", "password1": "a long enough phrase", "password2": "a long enough phrase"}
    answer = client.post(path, fields)
    assert (answer.status_code, SENTENCE in text(answer)) == (403, True)
    assert not User.objects.filter(username="eve").exists()
    provider.sign_in(client, path)
    assert no_passwords.collection.memberships.get(user__username="eve").role == "viewer"


def test_no_token_for_a_password_and_those_that_are_there_work_on(no_passwords: World) -> None:
    answer = Client().post("/api/token/", {"username": "ada", "password": PASSWORD})
    assert answer.status_code == 403
    assert answer.json()["detail"].startswith(SENTENCE)
    token = make_token(no_passwords.ada).token
    headers = {"Authorization": f"Token {token}"}
    assert Client().get("/api/collections/", headers=headers).status_code == 200


def test_people_of_the_provider_make_tokens_on_their_page(no_passwords: World, provider: Provider) -> None:
    client = Client()
    provider.sign_in(client)
    answer = client.post("/account/", {"name": "laptop", "days": 5}, follow=True)
    token = answer.context["made"]["token"]
    provider.sign_in(Client())
    headers = {"Authorization": f"Token {token}"}
    assert Client().get("/api/collections/", headers=headers).status_code == 200
    assert "/password/" not in text(client.get("/account/"))


def test_the_command_for_a_new_password_is_refused(no_passwords: World) -> None:
    with pytest.raises(CommandError, match="This site has no passwords"):
        call_command("reset_password", "ada")


def test_djangos_admin_has_no_door_of_its_own(no_passwords: World, client: Client) -> None:
    answer = client.post("/admin/login/?next=/admin/", {"username": "ada", "password": PASSWORD})
    assert answer["Location"] == "/sign-in/?next=/admin/"
    client.force_login(no_passwords.ben)
    assert client.get("/admin/", follow=True).status_code == 403
