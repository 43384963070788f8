"""What the trail holds, who may see it, and how it is narrowed down and taken away."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from _pytest.monkeypatch import MonkeyPatch
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import OperationalError
from django.http import HttpResponseBase
from django.test import Client
from django.urls import reverse

from pooling.models import AdminAction
from pooling.people.activity_log import record_action
from pooling.people.membership import add_member
from soundings.accounts.tokens import make_token, revoke
from tests.labeling.helpers import judge, make_queue
from tests.world import PASSWORD, World, signed_in


@pytest.fixture
def site_admin(world: World) -> Client:
    """A client of Olga, who is site admin and member of nothing."""
    olga = User.objects.create_superuser("olga", password=PASSWORD)
    client = Client()
    client.force_login(olga)
    return client


def lines(answer: HttpResponseBase) -> list[dict[str, object]]:
    assert answer.status_code == 200
    return [json.loads(line) for line in b"".join(answer).decode().splitlines()]  # type: ignore[arg-type]


def written() -> list[tuple[str, str]]:
    return [(row.action, row.subject_name) for row in AdminAction.objects.order_by("pk")]


def test_sign_ins_and_wrong_passwords(world: World, client: Client) -> None:
    for name, password in (("ben", "wrong"), ("my password by mistake", "x"), ("ben", PASSWORD)):
        client.post("/sign-in/", {"username": name, "password": password})
    rows = AdminAction.objects.order_by("pk").values_list("action", "actor__username", "about__username")
    assert list(rows) == [
        ("sign-in failed", None, "ben"),
        ("sign-in failed", None, None),
        ("signed in", "ben", None),
    ]
    assert "by mistake" not in str(list(AdminAction.objects.values()))


def test_tries_during_a_lock_out_fill_nothing(world: World, client: Client) -> None:
    for _ in range(14):
        client.post("/sign-in/", {"username": "ben", "password": "wrong"})
    assert AdminAction.objects.filter(action="sign-in failed").count() == 8


def test_files_that_leave_over_pages_and_calls(world: World) -> None:
    ada = signed_in(world.ada)
    token = make_token(world.ada, "nightly").token
    assert ada.get("/collections/harbour/members/?format=csv").status_code == 200
    assert ada.get(reverse("own_data")).status_code == 200
    called = Client().get(
        "/api/collections/harbour/activity/lines/", headers={"Authorization": f"Token {token}"}
    )
    assert called.status_code == 200
    rows = AdminAction.objects.filter(action="file downloaded").order_by("pk")
    told = rows.values_list("actor__username", "subject", "collection__slug", "detail__page", "address")
    assert list(told) == [
        ("ada", "members.csv", "harbour", "members", "127.0.0.1"),
        ("ada", "my-data.jsonl", None, "own_data", "127.0.0.1"),
        ("ada", "trail.jsonl", "harbour", "api_activity_lines", "127.0.0.1"),
    ]


def test_what_was_refused_or_known_already_is_no_download(world: World) -> None:
    assert signed_in(world.dan).get("/api/collections/harbour/activity/lines/").status_code == 404
    assert not AdminAction.objects.filter(action="file downloaded").exists()


@pytest.mark.django_db(transaction=True)
def test_commands_that_take_files_out(world: World) -> None:
    queue = make_queue(world)
    judge(queue, world.ben, queue.items.all()[0].pk)
    AdminAction.objects.all().delete()
    call_command("backup", str(world.folder / "all.zip"))
    call_command("export_judgments", "harbour", "--output", str(world.folder / "said.csv"))
    assert written() == [("backup taken", "all.zip"), ("file exported", "said.csv")]


def test_accounts_tokens_and_passwords(world: World, site_admin: Client) -> None:
    call_command("create_user", "eve", "--site-admin")
    revoke(make_token(world.ben, "nightly").row)
    ben = signed_in(world.ben)
    new = "a new passphrase"
    ben.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    done = [line for line in written() if line[0] != "signed in"]
    assert done == [
        ("account made", "eve"),
        ("token made", "nightly"),
        ("token revoked", "nightly"),
        ("password changed", ""),
    ]


def test_a_password_that_could_not_be_stored_has_no_line(world: World, monkeypatch: MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise OperationalError("disk full")

    ben, new = signed_in(world.ben), "a new passphrase"
    monkeypatch.setattr(User, "save", fail)
    with pytest.raises(OperationalError):
        ben.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert ("password changed", "") not in written()


def test_a_password_whose_line_could_not_be_written_is_not_stored(
    world: World, monkeypatch: MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise OperationalError("disk full")

    ben, new = signed_in(world.ben), "a new passphrase"
    monkeypatch.setattr("soundings.accounts.forms.record_action", fail)
    with pytest.raises(OperationalError):
        ben.post("/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    world.ben.refresh_from_db()
    assert world.ben.check_password(PASSWORD)


def test_rights_given_under_admin(world: World, site_admin: Client) -> None:
    page = f"/admin/auth/user/{world.dan.pk}/change/"
    day = {"date_joined_0": "2027-01-01", "date_joined_1": "10:00:00"}
    answer = site_admin.post(page, {"username": "dan", "is_active": "on", "is_superuser": "on", **day})
    assert answer.status_code == 302
    line = AdminAction.objects.get(action="changed under /admin/")
    assert (line.about, line.actor.username) == (world.dan, "olga")  # type: ignore[union-attr]
    assert "Superuser status" in line.detail["fields"]


def test_accounts_removed_under_admin(world: World, site_admin: Client) -> None:
    gone = {world.dan.pk, User.objects.create_user("eve").pk}
    asked = {"action": "delete_selected", "_selected_action": list(gone), "post": "yes"}
    assert site_admin.post("/admin/auth/user/", asked).status_code == 302
    lines = AdminAction.objects.filter(action="account removed").values_list("subject", flat=True)
    assert set(lines) == {f"account {number}" for number in gone}


def test_site_admins_see_the_trail(site_admin: Client) -> None:
    for address in ("/site/trail/", "/api/site/trail/lines/", "/api/site/trail/check/"):
        assert site_admin.get(address).status_code == 200


def test_admins_of_a_collection_see_no_addresses(world: World) -> None:
    ada = signed_in(world.ada)
    ada.get("/collections/harbour/members/?format=csv")
    page = ada.get("/collections/harbour/activity/").content.decode()
    assert "members.csv" in page
    assert "127.0.0.1" not in page
    assert "127.0.0.1" not in str(lines(ada.get("/api/collections/harbour/activity/lines/")))


def test_details_are_read_as_words_and_say_nothing_of_what_was_not_given(world: World) -> None:
    record_action(world.collection, world.ada, "webhook created", "host", events=["a.b", "c.d"], tag="", at=0)
    page = signed_in(world.ada).get("/collections/harbour/activity/").content.decode()
    # In what order, the database decides.
    assert ("events: a.b, c.d" in page, "at: 0" in page, "tag:" in page) == (True, True, False)
    page = signed_in(world.ada).get("/collections/harbour/activity/?who=nobody").content.decode()
    assert "No activity of this person or on these days." in page


def test_the_trail_is_narrowed_down(world: World, site_admin: Client) -> None:
    add_member(world.collection, "dan", "viewer", by=world.ada)
    signed_in(world.ben)

    def found(asked: str) -> list[object]:
        return [line["action"] for line in lines(site_admin.get(f"/api/site/trail/lines/?{asked}"))]

    assert found("who=dan") == ["member added"]
    assert found("who=ben") == ["signed in"]
    assert found("what=rights") == ["member added"]
    assert found("collection=harbour") == ["member added"]
    assert found("until=2020-01-01") == []
    assert "member added" in found("since=2020-01-01")
    assert site_admin.get("/api/site/trail/lines/?since=yesterday").status_code == 400
    page = site_admin.get("/site/trail/?who=dan&what=rights").content.decode()
    assert "member added" in page
    assert "who=dan&amp;what=rights" in page


@pytest.mark.parametrize("wrong", ["what=x", "since=x", "since=2020-01-02&until=2020-01-01"])
@pytest.mark.parametrize("page", ["/site/trail/", "/collections/harbour/activity/"])
def test_a_wrong_part_of_a_choice_leaves_the_others_in_effect(
    world: World, site_admin: Client, page: str, wrong: str
) -> None:
    for name in ("dan", "olga"):
        add_member(world.collection, name, "viewer", by=world.ada)
    answer = site_admin.get(f"{page}?{wrong}&who=dan").context
    assert [row.about.username for row in answer["table"].all_rows] == ["dan"]
    assert "who=dan" in answer["lines"]
    assert "what" not in answer["lines"]


def test_a_file_of_all_lines_can_be_checked_without_the_site(world: World, site_admin: Client) -> None:
    add_member(world.collection, "dan", "viewer", by=world.ada)
    target = world.folder / "trail.jsonl"
    call_command("trail", "--output", str(target))
    before = ""
    for line in map(json.loads, Path(target).read_text().splitlines()):
        keys = (
            "number",
            "at",
            "actor",
            "about",
            "action",
            "subject",
            "detail",
            "collection",
            "address_sha256",
        )
        content = [*(line[key] for key in keys), before]
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        before = sha256(text.encode()).hexdigest()
        assert line["sha256"] == before
    assert before


def test_the_page_says_whether_the_trail_is_whole(world: World, site_admin: Client) -> None:
    assert "Whole up to line 1." in site_admin.get("/site/trail/?check=1").content.decode()
    checked = site_admin.get("/api/site/trail/check/").json()
    assert (checked["number"], checked["problem"]) == (1, "")
    assert site_admin.get("/api/site/trail/check/?kept=nonsense").status_code == 400
    AdminAction.objects.update(action="other")
    assert "Line 1 is not as it was written." in site_admin.get("/site/trail/?check=1").content.decode()
