"""Invitations, activity and forgotten passwords, as pages."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from pytest_django.fixtures import Settings

from pooling.models import Invitation, Membership
from pooling.people.invitations import invite
from tests.world import PASSWORD, World

NEW = "/collections/harbour/invitations/"
GOOD = "a long enough phrase"


def text(answer: HttpResponse) -> str:
    return answer.content.decode()


def made(client: Client, **fields: str | int) -> tuple[str, str]:
    """Make an invitation on the page: its link's path, and the page."""
    page = text(client.post(NEW, {"role": "annotator", "days": 14, **fields}, follow=True))  # type: ignore[arg-type]
    link = re.search(r'value="http://testserver(/invitations/[^"]+)"', page)
    assert link
    return link[1], page


def join(client: Client, path: str, name: str = "eve") -> HttpResponse:
    fields = {"username": name, "email": "eve@example.org", "password1": GOOD, "password2": GOOD}
    return client.post(path, fields, follow=True)  # type: ignore[return-value]


def test_somebody_without_an_account_makes_one_and_is_in(world: World, client: Client) -> None:
    client.force_login(world.ada)
    path, _ = made(client)
    eve = Client()
    assert "ada invites you" in text(eve.get(path))  # type: ignore[arg-type]
    answer = join(eve, path)
    assert "Your role in Harbour is now: annotator." in text(answer)
    assert "Your queues" in text(answer)
    assert Membership.objects.get(user__username="eve").role == "annotator"
    assert Client().get(path).status_code == 410


def test_a_note_tells_admins_whom_an_invitation_is_for_and_nobody_else(world: World, client: Client) -> None:
    client.force_login(world.ada)
    path, _ = made(client, note="for Anna")
    assert "for Anna" in text(client.get("/collections/harbour/members/"))  # type: ignore[arg-type]
    assert "Anna" not in text(Client().get(path))  # type: ignore[arg-type]
    client.force_login(world.vera)
    assert "Anna" not in text(client.get("/collections/harbour/members/"))  # type: ignore[arg-type]


def test_somebody_with_an_account_joins_with_it(world: World, client: Client) -> None:
    _, token = invite(world.collection, "viewer", by=world.ada)
    client.force_login(world.dan)
    assert "signed in as <strong>dan" in text(client.get(f"/invitations/{token}/"))  # type: ignore[arg-type]
    client.post(f"/invitations/{token}/")
    assert Membership.objects.get(user=world.dan).role == "viewer"


@pytest.mark.parametrize(
    ("field", "value"), [("username", "ben"), ("password2", "another phrase"), ("password1", "short")]
)
def test_an_account_that_cannot_be_made_leaves_the_invitation_open(
    world: World, client: Client, field: str, value: str
) -> None:
    _, token = invite(world.collection, "annotator", by=world.ada)
    fields = {"username": "eve", "password1": GOOD, "password2": GOOD, field: value}
    assert client.post(f"/invitations/{token}/", fields).status_code == 400
    assert Invitation.objects.get().accepted_at is None


def test_a_weak_password_is_refused_at_the_field_where_both_begin_again(world: World) -> None:
    _, token = invite(world.collection, "annotator", by=world.ada)
    fields = {"username": "eve", "password1": "short", "password2": "short"}
    form = Client().post(f"/invitations/{token}/", fields).context["form"]
    assert list(form.errors) == ["password1"]


def test_an_invitation_of_another_collection_is_out_of_reach(world: World, client: Client) -> None:
    from pooling.people.membership import create_collection

    other = create_collection(world.dan, slug="quay", name="Quay")
    invitation, _ = invite(other, "annotator", by=world.dan)
    client.force_login(world.ada)
    assert client.post(f"{NEW}{invitation.pk}/withdraw/").status_code == 404


def test_a_withdrawn_invitation_is_gone_from_the_list_and_for_its_guest(world: World, client: Client) -> None:
    invitation, token = invite(world.collection, "annotator", by=world.ada, email="eve@example.org")
    client.force_login(world.ada)
    assert "eve@example.org" in text(client.get("/collections/harbour/members/"))  # type: ignore[arg-type]
    client.post(f"{NEW}{invitation.pk}/withdraw/")
    assert "eve@example.org" not in text(client.get("/collections/harbour/members/"))  # type: ignore[arg-type]
    assert "was withdrawn" in text(Client().get(f"/invitations/{token}/"))  # type: ignore[arg-type]
    assert "invitation withdrawn" in text(client.get("/collections/harbour/activity/"))  # type: ignore[arg-type]


def test_the_link_is_mailed_where_the_site_sends_mail(
    world: World, client: Client, settings: Settings
) -> None:
    client.force_login(world.ada)
    _, page = made(client, email="eve@example.org")
    assert "does not send email" in page
    settings.SENDS_MAIL = True
    path, page = made(client, email="eve@example.org")
    assert "being emailed to eve@example.org" in page
    assert path in mail.outbox[0].body
    members = text(client.get("/collections/harbour/members/"))  # type: ignore[arg-type]
    assert (members.count("not emailed"), members.count(">emailed ")) == (1, 1)


def test_a_mail_server_that_is_away_costs_nothing_but_the_letter(
    world: World, client: Client, settings: Settings
) -> None:
    settings.SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "localhost", 1
    client.force_login(world.ada)
    _, page = made(client, email="eve@example.org")
    assert "being emailed to eve@example.org" in page
    assert "not emailed" in text(client.get("/collections/harbour/members/"))  # type: ignore[arg-type]
    assert Invitation.objects.count() == 1


def test_a_forgotten_password_is_replaced_by_mail(world: World, client: Client, settings: Settings) -> None:
    assert "does not send email" in text(client.get("/password/forgotten/"))  # type: ignore[arg-type]
    settings.SENDS_MAIL = True
    world.ben.email = "ben@example.org"
    world.ben.save()
    known = text(client.post("/password/forgotten/", {"email": "ben@example.org"}, follow=True))  # type: ignore[arg-type]
    unknown = text(client.post("/password/forgotten/", {"email": "no@example.org"}, follow=True))  # type: ignore[arg-type]
    assert "a link is being sent" in known
    assert "a link is being sent" in unknown
    (letter,) = mail.outbox
    path = re.search(r"/password/new/\S+", letter.body)
    assert path
    choose(path[0])


def test_the_person_who_runs_the_site_makes_the_link(world: World) -> None:
    printed = StringIO()
    call_command("reset_password", "ben", site="https://labels.example.org/", stdout=printed)
    choose(printed.getvalue().strip().removeprefix("https://labels.example.org"))


def choose(path: str) -> None:
    """Follow Ben's link to a new password, which then is the one that works; the link does so once."""
    client = Client()
    form = client.get(path, follow=True)
    client.post(form.request["PATH_INFO"], {"new_password1": GOOD, "new_password2": GOOD})
    ben = User.objects.get(username="ben")
    assert ben.check_password(GOOD)
    assert not ben.check_password(PASSWORD)
    assert "no longer works" in text(Client().get(path, follow=True))  # type: ignore[arg-type]
