"""A deleted account: the person goes from every table and file, the judgments stay under one pseudonym."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.test import Client
from pytest_django import Settings

from labeling.judging.leases import claim
from labeling.models import Judgment, Lease, QrelsRelease
from labeling.qrels.releases import release_qrels
from pooling.people.chain import check_chain
from pooling.people.invitations import invite
from pooling.people.membership import add_member, change_role
from soundings.accounts.removing import delete_account, pseudonym_of
from soundings.accounts.tokens import make_token
from tests.labeling.helpers import judge, make_queue
from tests.world import PASSWORD, World

pytestmark = pytest.mark.django_db
NAME, MAIL = "zuleika.quint", "z.quint@example.org"


@pytest.fixture
def zuleika(world: World, client: Client) -> User:
    """Somebody who signed in, judged, holds work, released labels, was invited by mail and has a token."""
    user = User.objects.create_user(NAME, MAIL, PASSWORD, first_name="Zuleika", last_name="Quint")
    world.ada.is_superuser = world.ada.is_staff = True
    world.ada.save()
    add_member(world.collection, NAME, "admin", by=world.ada)
    client.post("/sign-in/", {"username": NAME, "password": "wrong"})
    client.post("/sign-in/", {"username": NAME, "password": PASSWORD})
    client.post("/api/limits/")
    queue = make_queue(world)
    first, *_ = claim(queue, user, count=3).leases
    judge(queue, user, first.item.pk)
    release_qrels(world.collection, name="v1", user=user)
    invitation = invite(world.collection, "viewer", by=world.ada, email=MAIL, note="Zuleika Quint").invitation
    invitation.accepted_by = user
    invitation.save()
    invite(world.collection, "viewer", by=user, email="other@example.org")
    make_token(user)
    return user


def traces(settings: Settings) -> Iterator[str]:
    """Where the database or a stored file still has the name or the address."""
    kinds = (models.CharField, models.TextField, models.JSONField)
    for model in apps.get_models(include_auto_created=True):
        fields = [field.attname for field in model._meta.concrete_fields if isinstance(field, kinds)]
        for row in model._base_manager.values(*fields) if fields else ():
            for field, value in row.items():
                if any(word in json.dumps(value, default=str).lower() for word in (NAME, MAIL, "quint")):
                    yield f"{model.__name__}.{field}: {value}"
    for path in Path(settings.MEDIA_ROOT).rglob("*"):
        if path.is_file() and b"quint" in path.read_bytes().lower():
            yield str(path)


def test_no_name_or_address_is_left_and_judgments_stay_under_the_pseudonym(
    zuleika: User, world: World, settings: Settings, client: Client
) -> None:
    before, release = Judgment.objects.filter(annotator=zuleika).count(), QrelsRelease.objects.get()
    assert list(traces(settings))
    pseudonym = delete_account(zuleika, by=world.ada)
    assert list(traces(settings)) == []
    assert Judgment.objects.filter(annotator__username=pseudonym).count() == before > 0
    after = QrelsRelease.objects.get()
    assert after.sha256 == release.sha256
    assert after.sidecar["released_by"] == pseudonym
    assert after.sidecar["annotators"] == {pseudonym: before}
    assert not Lease.objects.filter(annotator=zuleika).exists()
    assert check_chain().problem == ""
    assert client.get("/account/")["Location"].startswith("/sign-in/")
    answer = client.post("/sign-in/", {"username": pseudonym, "password": PASSWORD})
    assert answer.status_code == 200


def test_links_go_also_where_no_setting_has_them_in_use_any_more(zuleika: User, world: World) -> None:
    if "mfa_authenticator" in connection.introspection.table_names():
        pytest.skip("they are in use")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE mfa_authenticator (user_id integer)")
        for account in (zuleika, world.ben):
            cursor.execute("INSERT INTO mfa_authenticator VALUES (%s)", [account.pk])
        delete_account(zuleika, by=world.ada)
        cursor.execute("SELECT user_id FROM mfa_authenticator")
        assert cursor.fetchall() == [(world.ben.pk,)]
        cursor.execute("DROP TABLE mfa_authenticator")


def test_people_delete_their_own_account_with_their_password(zuleika: User, client: Client) -> None:
    page = "/account/delete/"
    assert page in client.get("/account/").content.decode()
    assert "This is not your password." in client.post(page, {"password": "guess"}).content.decode()
    assert User.objects.filter(username=NAME).exists()
    answer = client.post(page, {"password": PASSWORD}, follow=True)
    assert "Your account is deleted." in answer.content.decode()
    assert not User.objects.filter(username=NAME).exists()


def test_a_site_can_keep_deletion_to_its_admins(zuleika: User, client: Client, settings: Settings) -> None:
    settings.ACCOUNT_DELETION = "site-admins"
    assert "/account/delete/" not in client.get("/account/").content.decode()
    assert client.post("/account/delete/", {"password": PASSWORD}).status_code == 403
    assert client.delete(f"/api/accounts/{NAME}/").status_code == 403


def test_a_site_admin_deletes_over_http_and_by_command(zuleika: User, world: World, client: Client) -> None:
    client.force_login(world.ada)
    told = client.delete(f"/api/accounts/{NAME}/").json()
    assert told == {"pseudonym": pseudonym_of(zuleika.pk)}
    assert client.delete(f"/api/accounts/{told['pseudonym']}/").status_code == 409
    assert client.delete("/api/accounts/nobody/").status_code == 400
    output = io.StringIO()
    with pytest.raises(CommandError, match="add --yes"):
        call_command("delete_account", "ben")
    call_command("delete_account", "ben", "--yes", stdout=output)
    assert pseudonym_of(world.ben.pk) in output.getvalue()


def test_the_last_site_admin_and_the_only_admin_of_a_collection_stay(
    zuleika: User, world: World, client: Client
) -> None:
    client.force_login(world.ada)
    assert "last account that runs the site" in client.delete("/api/accounts/ada/").json()["detail"]
    zuleika.is_superuser = True
    zuleika.save()
    change_role(world.collection.memberships.get(user=zuleika), "viewer")
    assert "No other account is admin of “Harbour”." in client.delete("/api/accounts/ada/").json()["detail"]
    assert User.objects.filter(username="ada", is_active=True).exists()


def test_a_name_that_is_free_again_gets_nothing_of_the_earlier_account(zuleika: User, world: World) -> None:
    delete_account(zuleika, by=world.ada)
    again = User.objects.create_user(NAME, MAIL, PASSWORD)
    assert not again.memberships.exists()
    assert pseudonym_of(again.pk) != pseudonym_of(zuleika.pk)


@pytest.mark.parametrize(("is_superuser", "status"), [(False, 403), (True, 200)])
def test_staff_without_rights_deletes_no_superuser(
    world: World, client: Client, is_superuser: bool, status: int
) -> None:
    User.objects.filter(pk=world.vera.pk).update(is_staff=True, is_superuser=is_superuser)
    User.objects.filter(pk=world.dan.pk).update(is_staff=True, is_superuser=True)
    client.force_login(world.vera)
    assert client.delete("/api/accounts/dan/").status_code == status
    world.dan.refresh_from_db()
    assert world.dan.is_active == (status == 403)
