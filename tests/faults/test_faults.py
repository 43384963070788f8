"""Faults really done to a running site: what was acknowledged is there once, and the site recovers."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.faults import postgres
from tests.faults.site import Answer, Site, new_key, running
from tests.patience import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, migrated_database: Path) -> Site:
    """A site on SQLite that does not run; others begin as copies of it."""
    site = Site(tmp_path_factory.mktemp("prepared"))
    shutil.copy(migrated_database, site.folder / "soundings.sqlite3")
    site.prepare(documents=10)
    return site


@pytest.fixture(scope="module")
def site(prepared: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One running site for what does not break it."""
    with running(prepared.copy(tmp_path_factory.mktemp("site") / "data")) as site:
        yield site


@pytest.fixture
def own_site(prepared: Site, tmp_path: Path) -> Iterator[Site]:
    """A running site for what breaks it."""
    with running(prepared.copy(tmp_path / "data")) as site:
        yield site


EXPIRE = """
from django.utils.timezone import now
from labeling.models import Item, Lease
Lease.objects.update(expires_at=now())
print(Item.objects.filter(leased__gt=0).update(leased_until=now()))
"""
REMOVE_CLEO = """
from pooling.models import Membership
print(Membership.objects.get(user__username="cleo").delete()[0])
"""
# No file of the server may grow beyond this: the database's log is full after a few verdicts.
SMALL_FILES = [
    *(sys.executable, "-c"),
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000));"
    "os.execv(sys.argv[1], sys.argv[1:])",
]


def status_of(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    status: str = answer.body["results"][0]["status"]
    return status


class People:
    """Ben and Cleo judge until told to stop; what was acknowledged and what was refused is remembered."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.over = Event()
        self.acknowledged: list[str] = []
        self.judged: set[tuple[str, int]] = set()
        self.unsure: list[tuple[str, dict[str, Any], str]] = []
        self.refused: list[Answer] = []

    def judge(self, person: str) -> None:
        """Claim and submit; a verdict without an answer is kept, as the page's outbox does."""
        while not self.over.is_set():
            try:
                claimed = self.site.post("claim", {"count": 3}, person)
            except (OSError, HTTPException):
                continue
            if claimed.status != 200:
                self.refused.append(claimed)
                continue
            for item in claimed.body["items"]:
                self.send(person, item, new_key())

    def send(self, person: str, item: dict[str, Any], key: str) -> None:
        try:
            answer = self.site.submit(item, person, key)
        except (OSError, HTTPException):
            self.unsure.append((person, item, key))
            return
        if answer.status == 200:
            assert status_of(answer) in ("stored", "duplicate", "extra"), answer.body
            self.acknowledged.append(key)
            self.judged.add((person, item["item"]))
        else:
            self.refused.append(answer)
            self.unsure.append((person, item, key))

    def send_again(self) -> None:
        """What the outbox does once the site is back."""
        unsure, self.unsure = self.unsure, []
        for each in unsure:
            self.send(*each)


def during(site: Site, fault: Callable[[People], None]) -> People:
    """Let both judge while `fault` happens, then send again what had no answer."""
    people = People(site)
    with ThreadPoolExecutor(2) as executor:
        work = [executor.submit(people.judge, person) for person in ("ben", "cleo")]
        try:
            wait_until(lambda: len(people.acknowledged) >= 8)
            fault(people)
            before = len(people.acknowledged)
            wait_until(lambda: len(people.acknowledged) >= before + 8)
        finally:
            people.over.set()
        for each in work:
            each.result()
    people.send_again()
    return people


def check_nothing_lost(site: Site, people: People) -> None:
    stored = site.stored()
    assert not people.unsure
    assert sorted(stored["keys"]) == sorted(people.acknowledged)
    # A verdict that had no answer may have been given again under another key: that is a second thought.
    assert len(stored["judgments"]) == len(people.judged)
    assert set(stored["judgments"]) <= set(people.acknowledged)
    assert stored["untrue"] == []


def check_readable(refused: list[Answer]) -> None:
    for answer in refused:
        assert answer.status == 503, answer.body
        assert "database" in answer.body["detail"]


def test_a_server_killed_in_the_middle_loses_nothing_it_acknowledged(own_site: Site) -> None:
    def kill(people: People) -> None:
        own_site.kill()
        own_site.start()

    people = during(own_site, kill)
    check_nothing_lost(own_site, people)


@pytest.mark.skipif(bool(postgres.missing()), reason=postgres.missing())
def test_a_database_that_crashes_and_comes_back_loses_nothing(tmp_path: Path) -> None:
    def crash(people: People) -> None:
        server.stop("immediate")
        wait_until(lambda: len(people.refused) >= 2)
        server.start()

    with postgres.own_server() as server:
        site = Site(tmp_path, {"DATABASE_URL": server.url})
        site.prepare(documents=10)
        with running(site):
            people = during(site, crash)
        check_nothing_lost(site, people)
        check_readable(people.refused)


def test_the_same_verdict_ten_times_at_once_is_stored_once(site: Site) -> None:
    (item,) = site.claim(size=1)
    key = new_key()
    with ThreadPoolExecutor(10) as executor:
        answers = list(executor.map(lambda _: site.submit(item, key=key), range(10)))
    assert Counter(map(status_of, answers)) == {"stored": 1, "duplicate": 9}
    assert site.stored()["keys"].count(key) == 1


def test_a_lease_that_ran_out_and_was_taken_leaves_an_extra_judgment(site: Site) -> None:
    (item,) = site.claim(size=1)
    site.run(EXPIRE)
    taken = {each["item"]: each for each in site.claim("cleo", 50)}
    assert item["item"] in taken
    assert status_of(site.submit(taken[item["item"]], "cleo")) == "stored"
    # Whether it was an extra one is told to admins alone: a gold question has no slots that could be full.
    late = new_key()
    assert status_of(site.submit(item, "ben", late)) == "stored"
    assert late in site.stored()["judgments"]
    site.post("release", {"leases": [each["lease"] for each in taken.values()]}, "cleo")
    assert site.stored()["untrue"] == []


def test_a_closed_queue_hands_nothing_out_but_takes_what_people_still_have(site: Site) -> None:
    items = site.claim(size=2)
    site.run("from labeling.models import Queue\nprint(Queue.objects.update(state='closed'))")
    try:
        answer = site.post("claim", {"count": 1})
        assert (answer.status, answer.body["items"], answer.body["empty"]["state"]) == (200, [], "closed")
        assert status_of(site.submit(items[0])) == "stored"
    finally:
        site.run("from labeling.models import Queue\nprint(Queue.objects.update(state='open'))")
    assert items[1]["lease"] in [item["lease"] for item in site.claim()]


def test_an_annotator_who_is_removed_while_judging_is_told_and_loses_nothing_sent(site: Site) -> None:
    items = site.claim("cleo", 2)
    key = new_key()
    assert status_of(site.submit(items[0], "cleo", key)) == "stored"
    site.run(REMOVE_CLEO)
    answer = site.submit(items[1], "cleo")
    assert answer.status == 404
    assert "not a member" in answer.body["detail"]
    stored = site.stored()
    assert key in stored["judgments"]
    assert stored["untrue"] == []


def test_a_full_disk_is_a_sentence_and_loses_nothing_acknowledged(prepared: Site, tmp_path: Path) -> None:
    with running(prepared.copy(tmp_path / "data"), *SMALL_FILES) as site:
        people = People(site)
        items = site.claim(size=50)
        while items and not people.refused:
            people.send("ben", items.pop(), new_key())
        assert people.refused
        check_readable(people.refused)
        site.kill()
        site.start()
        people.send_again()
        check_nothing_lost(site, people)
