"""A connection to PostgreSQL that is kept between requests."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("sqlite" in connection.settings_dict["ENGINE"], reason="the database is SQLite"),
]


def test_one_that_is_alive_is_used_without_asking_the_server(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    connection.ensure_connection()
    with django_assert_num_queries(0):
        assert connection.is_usable()


def test_one_that_the_server_has_ended_is_replaced() -> None:
    connection.ensure_connection()
    info = connection.connection.info
    process = info.backend_pid
    with psycopg.connect(info.dsn, password=info.password or None) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [process])
    connection.health_check_enabled, connection.health_check_done = True, False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert cursor.fetchone() != (process,)


def test_a_statement_that_comes_again_is_planned_once() -> None:
    with connection.cursor() as cursor:
        for number in range(12):
            cursor.execute("SELECT %s + 1 AS planned_once", [number])
        cursor.execute("SELECT COUNT(*) FROM pg_prepared_statements WHERE statement LIKE '%%AS planned_once'")
        assert cursor.fetchone() == (1,)
