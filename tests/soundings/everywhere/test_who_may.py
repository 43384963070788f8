"""Who may do what at every address of the site, as `who_may.txt` has it: a row for each method that an
address takes, with the status that each person gets.

What is posted is empty, so an admin may get 400, or the form again with what is missing. The table answers
one question: who is let in. A redirection to the sign-in page stands there as `sign-in`. A request that is
refused changes nothing, and the headings of a page skip no level.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, get_resolver, reverse
from django.utils import timezone

from pooling.tidying.kinds import KINDS
from tests.soundings.everywhere.one_of_each import QUERY_STRINGS, OneOfEach
from tests.soundings.test_pages_and_calls import patterns

ADDRESSES = {str(one.name): one for one in patterns() if one.name}
# Who is let in depends on no database. PostgreSQL reads each page for `statements.txt`, and takes each form.
pytestmark = pytest.mark.anywhere
TABLE = Path(__file__).with_name("who_may.txt")


def rows() -> dict[tuple[str, str], list[str]]:
    """The table: method and address -> statuses of anonymous, stranger, annotator, viewer, admin."""
    cells = [line.split() for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return {(method, name): statuses for method, name, *statuses in cells}


ROWS = rows()


def address_of(pattern: URLPattern, one_of_each: OneOfEach) -> str:
    name = str(pattern.name)
    parts = pattern.pattern.converters or pattern.pattern.regex.groupindex
    query = QUERY_STRINGS.get(name, "").format_map(one_of_each.values)
    return reverse(name, kwargs=one_of_each.arguments(name, parts)) + query


def methods_of(pattern: URLPattern, address: str, admin: Client) -> Iterator[str]:
    """What an address takes, as its class has it or as it answers to what it does not take."""
    view = getattr(pattern.callback, "view_class", None)
    if view is not None:
        known = ("get", "post", "put", "patch", "delete") if hasattr(view, "schema") else ("get", "post")
        yield from (name.upper() for name in known if hasattr(view, name))
        return
    refused = admin.generic("TRACE", address)
    assert refused.status_code == 405, f"The page {pattern.name} takes every method; say which ones it takes."
    yield from (name for name in refused["Allow"].split(", ") if name != "HEAD")


def skipped_levels(page: str) -> list[str]:
    """Headings more than one level below the one before; a document's query may come before its title."""
    found = [(1, ""), *((int(level), text) for level, text in re.findall(r"<h([1-6])\b[^>]*>([^<]*)", page))]
    return [text for (before, _), (level, text) in pairwise(found) if level > before + 1]


def status_of(client: Client, method: str, address: str, pattern: URLPattern) -> str:
    """What somebody gets; whatever the request changed is as before."""
    cookies = {name: one.value for name, one in client.cookies.items()}
    before = transaction.savepoint()
    if str(pattern.name).endswith("_restore") and pattern.name != "api_restore":  # that one restores a person
        kind = getattr(pattern.callback, "view_initkwargs", {}).get("kind", "collection")
        KINDS[kind].model.everything.update(deleted_at=timezone.now())
    sent = {"data": {}, "content_type": "application/json"} if address.startswith("/api/") else {}
    written: list[str] = []

    def note(execute: Any, sql: str, *more: Any) -> Any:
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            written.append(sql)
        return execute(sql, *more)

    with connection.execute_wrapper(note):
        answer = getattr(client, method.lower())(address, **({} if method == "GET" else sent))
    assert answer.status_code not in (401, 403, 404) or not written, written
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if "html" in answer.get("Content-Type", ""):
        assert not skipped_levels(content.decode()), address
    transaction.savepoint_rollback(before)
    client.cookies = SimpleCookie(cookies)
    leads_to_sign_in = answer.status_code == 302 and answer.url.startswith("/sign-in/")
    return "sign-in" if leads_to_sign_in else str(answer.status_code)


@pytest.mark.parametrize("name", ADDRESSES)
def test_each_person_gets_what_the_table_says(
    name: str, one_of_each: OneOfEach, people: dict[str, Client]
) -> None:
    pattern = ADDRESSES[name]
    address = address_of(pattern, one_of_each)
    found = {
        (method, name): [status_of(client, method, address, pattern) for client in people.values()]
        for method in methods_of(pattern, address, people["admin"])
    }
    written = [f"{row[0]:6} {row[1]:32}" + "".join(f"{one:>10}" for one in found[row]) for row in found]
    assert found == {row: ROWS[row] for row in ROWS if row[1] == name}, "\n".join(["Found:", *written])


def test_the_table_has_no_row_of_an_address_that_is_gone() -> None:
    assert {name for _, name in ROWS} <= set(ADDRESSES)


def test_djangos_own_admin_pages_are_closed_to_all_who_do_not_run_the_site(
    one_of_each: OneOfEach, people: dict[str, Client]
) -> None:
    (admin,) = (one for one in get_resolver().url_patterns if getattr(one, "app_name", "") == "admin")
    names = {name for name in admin.reverse_dict if isinstance(name, str)} - {"login", "logout"}
    assert len(names) > 50
    for name in names:
        for parts in ({}, {"object_id": "1"}, {"id": "1"}, {"app_label": "pooling"}, {"url": "x"}):
            with contextlib.suppress(NoReverseMatch):
                address = reverse(f"admin:{name}", kwargs=parts)
                for person in ("anonymous", "admin"):
                    assert people[person].get(address).url.startswith("/admin/login/"), address
