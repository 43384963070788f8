"""`create_user` and `add_member`: what they do, and one line for what they cannot."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from pooling.models import Membership
from soundings import __version__
from soundings.cli import main
from soundings.installation.first_use import create_first_admin
from tests.patience import PATIENCE_SECONDS
from tests.soundings.processes import ROOT, environment, manage
from tests.world import PASSWORD, World


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_a_password_from_stdin_is_used_and_not_printed(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    printed = run("create_user", "ada", "--password-stdin")
    assert User.objects.get(username="ada").check_password(PASSWORD)
    assert PASSWORD not in printed


def test_without_a_terminal_a_password_is_made_up_and_printed_once(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    found = re.search(r"shown only now: (\S+)", run("create_user", "ada"))
    assert found
    user = User.objects.get(username="ada")
    assert user.check_password(found[1])
    assert not user.is_superuser


def test_a_site_admin_is_made_only_on_request(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    run("create_user", "root", "--site-admin")
    assert User.objects.get(username="root").is_superuser


def test_the_first_account_that_a_person_makes_is_of_whoever_runs_the_site(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    create_first_admin()  # as serve does, and nobody has signed in as it
    run("create_user", "ada")
    run("create_user", "ben")
    rights = dict(User.objects.values_list("username", "is_staff"))
    assert rights == {"admin": True, "ada": True, "ben": False}
    assert not User.objects.get(username="ada").is_superuser


def test_who_runs_the_site_is_known_once_its_admin_has_signed_in(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    create_first_admin()
    Client().force_login(User.objects.get())
    run("create_user", "ben")
    assert not User.objects.get(username="ben").is_staff


@pytest.mark.parametrize(
    ("name", "password", "sentence"),
    [
        ("ada", PASSWORD, "Account “ada” already exists"),
        ("a b", PASSWORD, "“a b” cannot be a user name"),
        ("new", "short", "too short"),
        ("new", "", "too short"),
    ],
)
def test_who_cannot_be_created_is_told_in_one_line(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str, password: str, sentence: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
    before = User.objects.count()
    with pytest.raises(CommandError, match=sentence) as refusal:
        run("create_user", name, "--password-stdin")
    assert refusal.value.returncode == 2
    assert "\n" not in str(refusal.value)
    assert User.objects.count() == before


def test_a_member_is_added(world: World) -> None:
    assert "dan is now viewer of Harbour." in run("add_member", "harbour", "dan", "--role", "viewer")
    assert Membership.objects.get(user=world.dan).role == "viewer"


@pytest.mark.parametrize(
    ("slug", "name", "sentence"),
    [
        ("nowhere", "dan", "There is no collection “nowhere”"),
        ("harbour", "nobody", "No account “nobody”"),
        ("harbour", "ben", "ben is already a member"),
    ],
)
def test_who_cannot_be_added_is_told_in_one_line(world: World, slug: str, name: str, sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence) as refusal:
        run("add_member", slug, name, "--role", "viewer")
    assert refusal.value.returncode == 2


def test_a_name_that_is_no_command_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["manage.py", "import_rnu"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "There is no command 'import_rnu'. Did you mean import_run?\n"


@pytest.mark.parametrize("wanted", ["version", "--version"])
def test_the_version_is_that_of_soundings(
    wanted: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["soundings", wanted])
    main()
    assert capsys.readouterr().out == f"{__version__}\n"


def test_a_password_is_made_up_where_stdin_is_closed(data_folder: Path) -> None:
    command = f'exec "{sys.executable}" "{ROOT / "manage.py"}" create_user ada <&-'
    done = subprocess.run(
        ["sh", "-c", command],
        env=environment(data_folder),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert "Its password, shown only now" in done.stdout


@pytest.mark.slow
def test_an_account_for_a_new_site_says_what_it_waits_for(tmp_path: Path) -> None:
    done = manage(tmp_path, "create_user", "ada")
    assert done.returncode == 0
    assert re.fullmatch(r"Preparing the database \(\d+ migrations\); .*\n", done.stderr)
    assert done.stdout.startswith("Created the account ada.")


def test_the_module_of_the_commands_runs_them() -> None:
    command = [sys.executable, "-m", "soundings.cli", "pool", "none.run", "--depth", "3"]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE_SECONDS, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("none.run: the file cannot be opened")


@pytest.mark.parametrize("asked", [[], ["help"], ["--help"], ["-h"]])
def test_help_lists_our_commands_in_the_order_of_the_work_without_django(asked: list[str]) -> None:
    code = f"""
import sys
from soundings.cli import main
sys.argv = ["soundings", *{asked}]
main()
print("django" in sys.modules, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert done.stderr == "False\n"
    assert "  evaluate            Recall@K and its companions from files" in done.stdout
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    ours = {path.stem for path in ROOT.glob("*/management/commands/*.py")} - {"__init__"}
    assert sorted(name for name in listed if name != "soundings") == sorted(ours)


def told_while_writing_to(output: int, folder: Path, command: str, unbuffered: str = "") -> tuple[int, str]:
    """Exit code and standard error of a command."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *command.split()],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(folder, PYTHONUNBUFFERED=unbuffered),
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return done.returncode, done.stderr


EVALUATE = "evaluate examples/qrels.txt examples/runs/bm25.run --k 1"


# Each writes as it goes; what is written at the end, the same place writes for all.
@pytest.mark.parametrize(
    ("command", "unbuffered"), [("help", ""), ("help", "1"), ("help --commands", "1"), (EVALUATE, "1")]
)
def test_a_command_whose_output_nobody_reads_ends_without_a_word(
    tmp_path: Path, command: str, unbuffered: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb"):
        assert told_while_writing_to(writer, tmp_path, command, unbuffered) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_for_which_there_is_no_room_is_refused_in_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        told = told_while_writing_to(full.fileno(), tmp_path, "help")
    assert told == (2, "No space left on device.\n")
