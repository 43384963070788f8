"""Queues of many pairs are quick from the first claim: PostgreSQL looks at what was filled."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from tests.labeling.helpers import make_queue
from tests.world import World

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif("sqlite" in connection.settings_dict["ENGINE"], reason="the database is SQLite"),
]


def test_what_was_filled_is_known_to_the_planner_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pooling.storage.storing.MANY_ROWS", 5)
    seen: list[str] = []

    def watch(execute: Any, statement: str, *rest: Any) -> Any:
        seen.append(statement)
        return execute(statement, *rest)

    with connection.execute_wrapper(watch):
        make_queue(world, pairs=6)
        make_queue(world, pairs=2)
    looked = [statement for statement in seen if str(statement).startswith("ANALYZE")]
    assert looked == ['ANALYZE "labeling_item"']
