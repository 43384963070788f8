"""`serve` as a user starts it: it answers, lets somebody sign in, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import urllib.parse
import urllib.request
from datetime import timedelta
from http.cookiejar import CookieJar
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from pooling.models import Job, Run
from pooling.tidying.kept import RESTORABLE
from soundings.serving import housekeeping
from soundings.serving import processes as serving
from soundings.serving.housekeeping import Housekeeping
from soundings.serving.keeper import IN_WEB
from soundings.serving.keeping import WORKER_NICENESS, Answer
from tests.patience import PATIENCE_SECONDS, wait_until
from tests.soundings.processes import children_of, free_port, is_alive, manage, start
from tests.world import World


def sign_in(base: str, name: str, password: str) -> str:
    """Sign in as a browser would and return the page one arrives at."""
    cookies = CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
    browser.open(f"{base}/sign-in/")
    token = next(cookie.value for cookie in cookies if cookie.name == "csrftoken")
    fields = {"username": name, "password": password, "csrfmiddlewaretoken": token}
    answer = browser.open(f"{base}/sign-in/", urllib.parse.urlencode(fields).encode())
    page: str = answer.read().decode()
    return page


def imported_in_background(base: str, name: str, password: str) -> dict[str, int]:
    """Import three queries over HTTP, wait for the background worker, and return the job's result."""
    token = call(base, "token/", {"username": name, "password": password})["token"]
    call(base, "collections/", {"slug": "mine", "name": "Mine"}, token)
    lines = "".join(json.dumps({"_id": f"q{number}", "text": "text"}) + "\n" for number in range(3))
    job = call(base, "collections/mine/queries/", lines.encode(), token)["job"]
    answer: dict[str, Any] = {}

    def has_ended() -> bool:
        answer.update(call(base, f"jobs/{job}/", None, token))
        return answer["state"] in ("done", "failed")

    wait_until(has_ended)
    assert answer["state"] == "done", answer
    result: dict[str, int] = answer["result"]
    return result


def call(base: str, path: str, body: dict[str, str] | bytes | None, token: str = "") -> Any:
    """GET without a body; POST an object as JSON, and bytes as the file of a form."""
    headers = {"Authorization": f"Token {token}"} if token else {}
    if isinstance(body, bytes):
        head = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="queries.jsonl"\r\n\r\n'
        data: bytes | None = head + body + b"\r\n--edge--\r\n"
        headers["Content-Type"] = "multipart/form-data; boundary=edge"
    else:
        data = json.dumps(body).encode() if body is not None else None
        headers["Content-Type"] = "application/json"
    request = urllib.request.Request(f"{base}/api/{path}", data, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_serve_answers_signs_in_its_first_admin_and_stops_without_a_trace(tmp_path: Path) -> None:
    port = free_port()
    small = {"SOUNDINGS_BACKGROUND_UPLOAD_BYTES": "10"}  # so that every upload goes to the worker
    for name in ("evaluation", "gunicorn", "django", "soundings"):  # a folder of somebody who measures things
        (tmp_path / f"{name}.py").write_text("raise SystemExit('This is not of Soundings.')")
    server = start(tmp_path, "serve", "--port", str(port), "--workers", "1", cwd=tmp_path, **small)
    try:
        assert server.stdout is not None
        printed = ""
        while "Soundings is at" not in printed:
            line = server.stdout.readline()
            assert line, printed
            printed += line
        base = f"http://localhost:{port}"
        health = json.load(urllib.request.urlopen(f"{base}/health/"))
        assert health == {"status": "ok", "database": "ok", "worker": "ok"}
        assert urllib.request.urlopen(f"{base}/static/soundings.css").status == 200
        first, second, *_ = printed.splitlines()
        assert first == "Starting the web server and 1 background worker …"
        assert re.match(r"Preparing the database \(\d+ migrations\)", second)
        account = re.search(r"sign in as (\S+) with (\S+)", printed)
        assert account
        assert "Your collections" in sign_in(base, account[1], account[2])
        assert imported_in_background(base, account[1], account[2])["created"] == 3
        children = children_of(server.pid)
        assert len(children) == 3  # gunicorn, its one process, one background worker
        niceness = [os.getpriority(os.PRIO_PROCESS, child) for child in (server.pid, *children)]
        least = min(niceness[0] + WORKER_NICENESS, 19)  # no process is nicer
        assert sorted(niceness[1:]) == [niceness[0], niceness[0], least]
        masks = [re.search(r"Umask:\t(\d+)", Path(f"/proc/{child}/status").read_text()) for child in children]
        assert {mask and mask[1] for mask in masks} == {"0077"}
        refused = manage(tmp_path, "serve", "--port", str(free_port()))
        assert (refused.returncode, refused.stdout) == (2, "")
        by = f"process {server.pid} at 127.0.0.1, port {port}"
        assert f"{tmp_path} is served already, by {by}: stop that first" in refused.stderr
        assert refused.stderr.count("\n") == 1
    finally:
        server.send_signal(signal.SIGTERM)
        rest, _ = server.communicate(timeout=PATIENCE_SECONDS)
    assert server.returncode == 0, rest
    assert rest.endswith("Stopped.\n")
    wait_until(lambda: not any(map(is_alive, children)))


def test_a_port_in_use_is_told_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(serving.AddressError, match=f"Port {port} on 127.0.0.1 is in use"):
            serving.require_free_port("127.0.0.1", port)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a database of SQLite."""
    at = {"vendor": "sqlite", "settings_dict": {"NAME": tmp_path / "soundings.sqlite3"}}
    monkeypatch.setattr(serving, "connection", SimpleNamespace(**at))
    return tmp_path


@pytest.mark.parametrize("only", ["", "web", "worker"])
def test_a_folder_that_is_served_is_told_in_one_sentence(folder: Path, only: str) -> None:
    sentence = f"{folder} is served already, by process {os.getpid()} at localhost, port 8001: stop that"
    with (
        serving.served_once("localhost", 8001),
        pytest.raises(serving.AddressError, match=sentence),
        serving.served_once("localhost", 8002, only),
    ):
        pass
    with serving.served_once("localhost", 8002, only):  # the files of before hold nobody up
        pass


def test_the_halves_of_containers_share_a_folder(folder: Path) -> None:
    with serving.served_once("localhost", 8001, "web"), serving.served_once("localhost", 8001, "worker"):
        pass


def test_two_servers_may_share_a_postgresql(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving.connection, "vendor", "postgresql")
    with serving.served_once("localhost", 8001), serving.served_once("localhost", 8002):
        assert not list(folder.iterdir())


@pytest.mark.parametrize("port", [0, -1, 70000])
def test_a_port_that_is_none_is_refused(port: int) -> None:
    with pytest.raises(serving.AddressError, match=f"{port} is not a port"):
        serving.require_free_port("127.0.0.1", port)


def test_an_address_that_is_not_ours_is_told_in_one_sentence() -> None:
    with pytest.raises(serving.AddressError, match=r"Cannot listen on 192\.0\.2\.1, port 8000"):
        serving.require_free_port("192.0.2.1", 8000)


@pytest.mark.parametrize(
    ("status", "text", "is_ours", "is_final"),
    [
        (200, '{"status": "ok", "database": "ok"}', True, False),
        (200, "<h1>Another program</h1>", False, True),
        (200, '["ok"]', False, True),
        (500, "", False, True),
        (503, '{"status": "unavailable"}', False, False),
        (None, "Connection refused", False, False),
    ],
)
def test_only_our_own_page_says_that_the_site_is_there(
    status: int | None, text: str, is_ours: bool, is_final: bool
) -> None:
    answer = Answer(status, text)

    assert (answer.is_ours, answer.is_final) == (is_ours, is_final)


def test_the_site_is_asked_under_a_name_that_it_answers_to(settings: Settings) -> None:
    asked = {}
    for hosts in ([".example.org"], ["*"], ["localhost"]):
        settings.ALLOWED_HOSTS = hosts
        asked[hosts[0]] = serving.own_host()

    assert asked == {".example.org": "example.org", "*": "localhost", "localhost": "localhost"}


@pytest.fixture
def own_workers(settings: Settings) -> None:
    """Tasks are stored in the database, as they are outside tests."""
    stored = {"BACKEND": "django_tasks_db.DatabaseBackend"}
    settings.TASKS = {"default": settings.TASKS["default"] | stored}


@pytest.mark.usefixtures("own_workers")
@pytest.mark.parametrize(("only", "web", "workers"), [("", True, 1), ("web", True, 0), ("worker", False, 1)])
def test_containers_start_one_half(settings: Settings, only: str, web: bool, workers: int) -> None:
    settings.WORKER_PROCESSES = 1

    plan = serving.plan_of("0.0.0.0", 8000, 1, only)

    commands = [child.command for child in plan.children]
    assert [command[0] for command in commands] == (
        ["soundings.serving.web"] * web + ["soundings.serving.worker"] * workers
    )
    assert plan.web == (("127.0.0.1", 8000, serving.own_host()) if web else None)
    # Somebody keeps house, and only where no worker does it is the web server.
    assert (IN_WEB in plan.variables) is (workers == 0)


@pytest.mark.usefixtures("own_workers")
@pytest.mark.parametrize(
    ("processes", "queues"),
    [
        (1, [["default", "models", "messages"]]),
        (2, [["default", "messages"], ["models"]]),
        (3, [["default"], ["models"], ["messages"]]),
        (9, [["default"], ["models"], ["messages"]]),
    ],
)
def test_as_many_workers_as_wanted_share_all_kinds_of_work(
    settings: Settings, processes: int, queues: list[list[str]]
) -> None:
    settings.WORKER_PROCESSES = processes

    plan = serving.plan_of("127.0.0.1", 8000, 1, "worker")

    assert [child.command[1:] for child in plan.children] == queues


def test_the_port_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))
        with pytest.raises(CommandError, match=rf"^Port {port} on 127\.0\.0\.1 is in use"):
            call_command("serve")


def test_tables_that_are_behind_are_left_alone_on_request(tmp_path: Path) -> None:
    refused = manage(tmp_path, "serve", "--only", "worker", "--no-migrate")
    assert (refused.returncode, refused.stdout) == (2, "Starting 1 background worker …\n")
    assert "migrations behind. Run migrate, or serve without --no-migrate." in refused.stderr


@pytest.mark.django_db(transaction=True)
def test_a_job_of_a_container_that_is_gone_is_ended_while_the_site_runs(world: World) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    job = Job.objects.create(collection=world.collection, kind="pool", state="running", worker="gone:7")
    Job.objects.update(created_at=long_ago)

    Housekeeping(takes_up=False, erases=False).keep()

    job.refresh_from_db()
    assert (job.state, job.was_interrupted) == ("failed", True)


@pytest.mark.django_db(transaction=True)
def test_what_was_deleted_long_ago_is_erased_at_the_start_and_every_hour(
    monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    alpha, beta = world.import_runs()
    long_ago = timezone.now() - RESTORABLE - timedelta(days=1)
    Run.objects.filter(pk=alpha.pk).update(deleted_at=long_ago)
    minutes = 0
    monkeypatch.setattr(housekeeping, "time", SimpleNamespace(monotonic=lambda: 1 + minutes * 60.0))
    house = Housekeeping(takes_up=True, erases=True)
    left: dict[int, list[str]] = {}

    for minutes in (0, 20, 40, 60, 80):
        house.keep()
        left[minutes] = [run.name for run in Run.everything.order_by("name")]
        Run.objects.filter(pk=beta.pk).update(deleted_at=long_ago)

    assert (left[0], left[40], left[80]) == (["beta"], ["beta"], [])
