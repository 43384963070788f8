"""How many statements each page and each reading call takes, as `statements.txt` has it: as many for five of
each thing as for one. What a cache would save is not counted off.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.soundings.everywhere.one_of_each import OneOfEach
from tests.soundings.everywhere.test_who_may import ADDRESSES, ROWS, address_of

TABLE = Path(__file__).with_name("statements.txt")
WANTED = {name: int(number) for name, number in (line.split() for line in TABLE.read_text().splitlines())}
#: Room -> the addresses that an admin reads there.
READ: dict[str, list[str]] = defaultdict(list)
for _name, _pattern in ADDRESSES.items():
    if ROWS.get(("GET", _name), [""])[-1] == "200":
        READ[".".join(_pattern.callback.__module__.split(".")[:2])].append(_name)


def statements_of(client: Client, address: str) -> int:
    cache.clear()
    before = transaction.savepoint()
    with CaptureQueriesContext(connection) as taken:
        answer = client.get(address)
        if answer.streaming:
            b"".join(answer.streaming_content)
    transaction.savepoint_rollback(before)
    assert answer.status_code == 200, address
    return len(taken)


@pytest.mark.parametrize("room", READ)
def test_a_page_takes_as_many_statements_for_five_of_each_as_for_one(
    room: str, one_or_five: OneOfEach, people: dict[str, Client]
) -> None:
    found = {
        name: statements_of(people["admin"], address_of(ADDRESSES[name], one_or_five)) for name in READ[room]
    }
    assert found == {name: WANTED.get(name) for name in READ[room]}


def test_the_table_has_no_row_of_an_address_that_is_gone() -> None:
    assert set(WANTED) <= {name for names in READ.values() for name in names}
