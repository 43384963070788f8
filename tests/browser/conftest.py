"""A real Chromium against the live server: the browser, pages that are signed in, and a queue to judge."""

from __future__ import annotations

import os
import threading
import time
from asyncio import events
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from labeling.models import Queue
from labeling.queues.opening import open_queue
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.judging import open_judging
from tests.labeling.helpers import make_pool
from tests.world import PASSWORD, World

NO_CHROMIUM = "There is no Chromium here; install one, or name it in SOUNDINGS_CHROMIUM."

# What has come about ends a wait at once; only a failure takes this long, however busy the machine is.
TIMEOUT = 180_000
expect.set_options(timeout=TIMEOUT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser against a live server; what is not of the way is slow."""
    for item in items:
        if "tests/browser/" in item.nodeid:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.django_db(transaction=True))
            if not item.get_closest_marker("way"):
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a worker."""
    path = find_chromium()
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(NO_CHROMIUM)
        pytest.skip(NO_CHROMIUM)
    # Playwright's loop runs in this thread, where the tests use the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        loop = events._get_running_loop()
        chromium = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield chromium
        events._set_running_loop(loop)  # the last test may have been one that does not see it
        chromium.close()


@pytest.fixture
def context(browser: Browser, live_server: LiveServer) -> Iterator[Callable[..., BrowserContext]]:
    """A function that opens a context on the live server; what the page logs as an error fails the test."""
    opened: list[BrowserContext] = []
    errors: list[str] = []

    def open_context(**options: Any) -> BrowserContext:
        made = browser.new_context(base_url=live_server.url, **options)
        made.set_default_timeout(TIMEOUT)
        made.on("weberror", lambda error: errors.append(str(error.error)))
        opened.append(made)
        return made

    with _traffic() as traffic:
        yield open_context
        for made in opened:
            made.close()
        traffic.settle()
    assert errors == []


class Traffic:
    """Requests that the live server is working on. A page that goes away still sends what it holds.

    Thread -> address: a thread works on one request, and one whose page went away does not always end.
    """

    def __init__(self) -> None:
        self.started = 0
        self.under_way: dict[int, str] = {}

    def start(self, environ: dict[str, str] | None = None, **_: Any) -> None:
        self.started += 1
        self.under_way[threading.get_ident()] = (environ or {}).get("PATH_INFO", "")

    def finish(self, **_: Any) -> None:
        self.under_way.pop(threading.get_ident(), None)

    def settle(self) -> None:
        """Wait until nothing is under way and nothing new has come, so that the database can be emptied."""
        quiet, deadline = 0, time.monotonic() + TIMEOUT / 1_000
        while quiet < 4 and time.monotonic() < deadline:
            seen = self.started
            time.sleep(0.025)
            quiet = quiet + 1 if seen == self.started and not self.under_way else 0
        assert quiet == 4, f"The server still works on {sorted(self.under_way.values())}."


@contextmanager
def _traffic() -> Iterator[Traffic]:
    traffic = Traffic()
    request_started.connect(traffic.start)
    request_finished.connect(traffic.finish)
    try:
        yield traffic
    finally:
        request_started.disconnect(traffic.start)
        request_finished.disconnect(traffic.finish)


@pytest.fixture
def page_of(context: Callable[..., BrowserContext], live_server: LiveServer) -> Callable[..., Page]:
    """A function that opens a page on which a user is signed in already."""

    def open_page(user: User, **options: Any) -> Page:
        made = context(**options)
        use_session(made, user, live_server.url)
        return made.new_page()

    return open_page


@pytest.fixture
def queue(world: World, live_server: LiveServer) -> Queue:
    """Eighteen pairs, each to be judged once."""
    return open_queue(make_pool(world, documents=6), seed=1, user=world.ada)


@pytest.fixture
def page(page_of: Callable[..., Page], world: World, queue: Queue) -> Page:
    """Ben's judging page."""
    page = page_of(world.ben)
    open_judging(page, queue)
    return page


def use_session(context: BrowserContext, user: User, url: str) -> None:
    """Sign a user in without the form, in the place of whoever was."""
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": urljoin(url, "/")}])


def sign_in(page: Page, name: str) -> None:
    """Sign in through the form."""
    page.goto("/sign-in/")
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "sign-in" not in url)
