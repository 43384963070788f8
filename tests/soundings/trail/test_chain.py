"""The chain of the trail: a line that is missing, changed or moved shows, and two writers make one chain."""

from __future__ import annotations

import threading
from datetime import timedelta
from hashlib import sha256

import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client
from django.utils import timezone

from pooling.account_models import TrailHead
from pooling.models import AdminAction
from pooling.people.activity_log import record_action
from pooling.people.chain import check_chain, seal
from pooling.tidying.erasing import erase_collection, erase_old
from tests.ground import made_once
from tests.world import PASSWORD, World


@made_once
def trail(world: World) -> str:
    """Five lines, and what a check says of the last of them."""
    for number in range(1, 6):
        record_action(world.collection, world.ada, "thing done", f"thing {number}", share=number / 3)
    return check_chain().newest


def test_a_trail_that_nobody_touched_is_whole(trail: str) -> None:
    found = check_chain()
    assert (found.number, found.problem, found.sentence) == (5, "", "Whole up to line 5.")
    assert trail == f"5:{AdminAction.objects.get(number=5).sha256}"


def test_a_deleted_line_is_named(trail: str) -> None:
    AdminAction.objects.filter(number=3).delete()
    assert check_chain().sentence == "Line 3 is missing. Lines up to 2 are whole."


@pytest.mark.parametrize(
    "change", [{"subject": "x"}, {"actor": None}, {"detail": {}}, {"at": timezone.now()}, {"action": "x"}]
)
def test_a_changed_line_is_named(trail: str, change: dict[str, object]) -> None:
    AdminAction.objects.filter(number=2).update(**change)
    assert check_chain().problem == "Line 2 is not as it was written."


def test_swapped_lines_are_named(trail: str) -> None:
    for old, new in ((2, 20), (4, 2), (20, 4)):
        AdminAction.objects.filter(number=old).update(number=new)
    assert check_chain().problem == "Line 2 is not as it was written."


def test_a_line_and_its_checksum_made_anew_break_the_next(trail: str) -> None:
    forged = AdminAction.objects.get(number=3)
    forged.subject, forged.sha256 = "forged", sha256(b"forged").hexdigest()
    forged.save()
    assert check_chain().problem == "Line 3 is not as it was written."


def test_a_cut_end_shows_by_the_newest_checksum(trail: str) -> None:
    AdminAction.objects.filter(number__gte=4).delete()
    assert check_chain().sentence == "Lines 4 to 5 are missing at the end. Lines up to 3 are whole."


def test_an_end_cut_with_its_checksum_shows_by_the_one_kept_elsewhere(trail: str) -> None:
    number, checksum = trail.split(":")
    AdminAction.objects.filter(number__gte=4).delete()
    TrailHead.objects.update(number=3, sha256=AdminAction.objects.get(number=3).sha256)
    assert check_chain().problem == ""
    assert check_chain((int(number), checksum)).problem == "Lines 4 to 5 are missing at the end."
    record_action(None, None, "thing done")
    record_action(None, None, "thing done")
    assert "another one" in check_chain((int(number), checksum)).problem


def test_addresses_go_after_the_days_of_sign_ins_and_the_chain_stays_whole(
    world: World, client: Client
) -> None:
    client.post("/sign-in/", {"username": "ben", "password": PASSWORD})
    line = AdminAction.objects.get(action="signed in")
    assert (line.actor, line.address) == (world.ben, "127.0.0.1")
    assert check_chain().problem == ""
    erase_old(timezone.now() + timedelta(days=29))
    assert AdminAction.objects.get(pk=line.pk).address == "127.0.0.1"
    erase_old(timezone.now() + timedelta(days=31))
    line = AdminAction.objects.get(pk=line.pk)
    assert (line.address, line.address_salt) == ("", "")
    assert check_chain().problem == ""


def test_a_changed_address_shows(world: World, client: Client) -> None:
    client.post("/sign-in/", {"username": "ben", "password": PASSWORD})
    AdminAction.objects.update(address="10.0.0.1")
    assert check_chain().problem == "Line 1 is not as it was written."


def test_the_chain_survives_an_erased_collection(world: World, trail: str) -> None:
    erase_collection(world.collection)
    assert check_chain().number == 6
    assert check_chain().problem == ""
    line = AdminAction.objects.select_related("collection").get(action="collection erased")
    assert line.collection is None


def test_the_command_names_the_first_broken_line(trail: str, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("trail", "--kept", trail)
    assert capsys.readouterr().out == f"Whole up to line 5.\nKeep this elsewhere, for --kept: {trail}\n"
    AdminAction.objects.filter(number=1).update(subject="other")
    with pytest.raises(SystemExit) as end:
        call_command("trail")
    assert end.value.code == 1
    assert capsys.readouterr().err == "Line 1 is not as it was written.\n"


@pytest.mark.django_db(transaction=True)
def test_those_who_write_at_once_make_one_chain() -> None:
    def write(name: str) -> None:
        try:
            for number in range(15):
                record_action(None, None, "thing done", f"{name} {number}")
        finally:
            connections.close_all()

    if connection.settings_dict["NAME"].startswith("file:memory"):
        pytest.skip("a database in memory has one writer")
    writers = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert AdminAction.objects.filter(number=None).count() == 0
    assert check_chain().sentence == "Whole up to line 60."


@pytest.mark.django_db(transaction=True)
def test_a_line_whose_process_ended_is_numbered_with_the_next() -> None:
    AdminAction.objects.create(action="thing done", subject="left behind")
    record_action(None, None, "thing done", "next")
    assert list(AdminAction.objects.order_by("number").values_list("subject", flat=True)) == [
        "left behind",
        "next",
    ]
    seal()
    assert check_chain().number == 2
