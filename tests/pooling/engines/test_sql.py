"""Engines that are SQL databases: values are bound, nothing is written, and nothing takes too long."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from pooling.engines.asking import EngineError, PassingError
from pooling.engines.description import checked
from pooling.engines.options import EngineSettings
from pooling.engines.running import begin_asking, finish_asking
from pooling.engines.sql import SqlAsker, checked_statement
from pooling.engines.stored import create_engine
from pooling.engines.templates import Question, TemplateError
from pooling.interface.problems import InputError
from pooling.models import Run
from pooling.runs.stored import read_stored_run
from tests.world import DOCUMENTS, World

pytestmark = pytest.mark.django_db

FULL_TEXT = "SELECT id, -rank FROM docs WHERE docs MATCH {{query}} ORDER BY rank LIMIT {{k}}"
ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT count(i) FROM n WHERE {{query}} <> '' LIMIT {{k}}"
)

needs_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="DATABASE_URL names no PostgreSQL server"
)


@pytest.fixture
def shop(tmp_path: Path, settings: Settings) -> Path:
    """The texts of the harbour collection in an SQLite file with a full-text index, known as `shop`."""
    path = tmp_path / "shop.sqlite3"
    with sqlite3.connect(path) as made:
        made.execute("CREATE VIRTUAL TABLE docs USING fts5(id UNINDEXED, title, body)")
        rows = [(key, title, text) for key, (title, text) in DOCUMENTS.items()]
        made.executemany("INSERT INTO docs VALUES (?, ?, ?)", rows)
    made.close()
    settings.SEARCH_DATABASES = {"shop": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path)}}
    return path


def answered(statement: str, text: str = "ferry", k: int = 10, **changes: Any) -> list[str]:
    settings = EngineSettings(statement=statement, database="shop", **changes)
    asker = SqlAsker(settings)
    try:
        return list(asker.ask(Question(text, k)).hits.ids)
    finally:
        asker.close()


def test_full_text_of_sqlite_is_a_run(world: World, shop: Path) -> None:
    settings = EngineSettings(statement=FULL_TEXT, database="shop", depth=2)
    world.collection.queries.filter(external_id="q1").update(text="night")
    world.collection.queries.filter(external_id="q2").update(text="umbrella")
    world.collection.queries.filter(external_id="q3").update(text="ferry")
    engine = create_engine(world.collection, "words", settings, user=world.ada)
    done = finish_asking(begin_asking(engine), progress=lambda share, detail: None)
    rows = read_stored_run(Run.objects.get(pk=done["id"]))
    found = {query: set(part["document_id"]) for (query,), part in rows.group_by("query_id")}
    assert found == {"q1": {"d1"}, "q2": {"d2", "d6"}, "q3": {"d3", "d5"}}


@pytest.mark.parametrize("text", ["x' OR 1=1 --", "'; DROP TABLE docs; --", "%(k)s {{k}} %s", "a\0b"])
def test_a_query_is_a_value_and_never_sql(shop: Path, text: str) -> None:
    assert answered("SELECT id FROM docs WHERE title = {{query}} LIMIT {{k}}", text) == []
    assert answered("SELECT id FROM docs WHERE {{query}} <> '' LIMIT {{k}}", text, 2) == ["d1", "d2"]


def test_a_percent_sign_is_a_percent_sign(shop: Path) -> None:
    like = "SELECT id FROM docs WHERE title LIKE 'Fer%' AND {{query}} <> '' LIMIT {{k}}"
    assert answered(like) == ["d5"]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM docs WHERE title = {{query}} LIMIT {{k}}", "begins with SELECT"),
        ("SELECT id FROM docs WHERE a = '{{query}}' LIMIT {{k}}", "within quotes"),
        ("SELECT id FROM docs -- {{query}}\nLIMIT {{k}}", "within quotes or a comment"),
        ("SELECT {{query}} LIMIT {{k}}; DELETE FROM docs", "one query"),
        ("SELECT id FROM docs LIMIT {{k}}", "no {{query}}"),
        ("SELECT id FROM docs WHERE a = {{query}}", "no {{k}}"),
        ("SELECT id FROM docs WHERE a = {{text}} LIMIT {{k}}", "has no value in SQL"),
        ("COPY docs TO PROGRAM 'sh' -- {{query}} {{k}}", "within quotes or a comment"),
        ("/* a */ DELETE FROM docs WHERE {{query}} = {{k}}", "begins with SELECT"),
    ],
)
def test_a_statement_that_will_not_do_is_refused_before_it_is_sent(statement: str, problem: str) -> None:
    with pytest.raises(TemplateError, match=problem):
        checked_statement(statement)


def test_a_database_is_one_of_the_settings_and_never_the_sites_own(shop: Path) -> None:
    for name in ("default", "postgres://user@host/name", ""):
        with pytest.raises(InputError) as refused:
            checked(EngineSettings(statement=FULL_TEXT, database=name))
        assert "shop" in refused.value.fields["database"]


def test_nothing_is_written(shop: Path) -> None:
    # What the check before would refuse, to see that the connection does too.
    with pytest.raises(EngineError, match="attempt to write a readonly database"):
        answered("INSERT INTO docs (id, title) SELECT {{query}}, 'x' LIMIT {{k}}")
    assert len(answered("SELECT id FROM docs WHERE {{query}} <> '' LIMIT {{k}}")) == len(DOCUMENTS)


@pytest.mark.parametrize(
    "expression",
    [
        "printf('%01000000000d', 1)",
        "format('%01000000000d', 1)",
        "hex(zeroblob(900000000))",
        "hex(randomblob(900000000))",
        "hex(" * 30 + "title" + ")" * 30,
        "title REGEXP '(a+)+$'",
        "REPEAT(title, 1000000000)",
        "LPAD(title, 1000000000, 'x')",
        "natural_key(title)",
        "(SELECT count(*) FROM pragma_database_list)",
    ],
)
def test_sqlite_gives_no_function_that_a_deadline_does_not_end(shop: Path, expression: str) -> None:
    with pytest.raises(EngineError, match=r"not authorized|too big|no such|too complex|prohibited"):
        answered(f"SELECT id FROM docs WHERE {{{{query}}}} <> '' AND {expression} <> '' LIMIT {{{{k}}}}")


def test_a_pattern_of_like_is_short(shop: Path) -> None:
    pattern = "'" + "%a" * 200 + "'"
    with pytest.raises(EngineError, match="too complex"):
        answered(f"SELECT id FROM docs WHERE body LIKE {pattern} AND {{{{query}}}} <> '' LIMIT {{{{k}}}}")


@pytest.mark.parametrize("expression", ["lower(title)", "bm25(docs)", "snippet(docs, 2, '', '', '', 5)"])
def test_functions_of_sqlite_and_its_index_are_there(shop: Path, expression: str) -> None:
    statement = f"SELECT id, length({expression}) FROM docs WHERE docs MATCH {{{{query}}}} LIMIT {{{{k}}}}"
    assert set(answered(statement)) == {"d3", "d5"}


def test_a_statement_without_end_is_stopped(shop: Path) -> None:
    with pytest.raises(PassingError, match="no answer within"):
        answered(ENDLESS, time_out=0.1)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("SELECT id FROM nowhere WHERE a = {{query}} LIMIT {{k}}", "refuses the query: no such table"),
        ("SELECT id, title, body FROM docs WHERE title <> {{query}} LIMIT {{k}}", "has 3 columns"),
        ("SELECT 1.5 FROM docs WHERE title <> {{query}} LIMIT {{k}}", "first column has to be"),
    ],
)
def test_what_a_database_refuses_is_one_sentence(shop: Path, statement: str, problem: str) -> None:
    with pytest.raises(EngineError, match=problem):
        answered(statement)


def test_a_file_that_is_not_there_is_not_made(shop: Path) -> None:
    shop.unlink()
    with pytest.raises(PassingError, match="The database “shop” cannot be reached"):
        answered(FULL_TEXT)
    assert not shop.exists()


# PostgreSQL, where the tests run on it: its own connection, whose tables these tests make and drop.


@pytest.fixture
def harbour(settings: Settings, django_db_setup: None) -> Iterator[None]:
    """The texts of the collection in a table with a text-search vector; the database is known as `shop`."""
    import psycopg

    known = {name: connection.settings_dict[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
    settings.SEARCH_DATABASES = {"shop": {"ENGINE": "django.db.backends.postgresql", **known}}
    place = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    where = {name: known[key] for name, key in place.items() if known[key]}
    with psycopg.connect(**where, autocommit=True) as made:
        made.execute("DROP TABLE IF EXISTS engine_docs")
        made.execute("CREATE TABLE engine_docs (id text PRIMARY KEY, words tsvector)")
        for key, (title, text) in DOCUMENTS.items():
            made.execute(
                "INSERT INTO engine_docs VALUES (%s, to_tsvector('english', %s))", (key, f"{title} {text}")
            )
        yield
        made.execute("DROP TABLE engine_docs")


RANKED = (
    "SELECT id, ts_rank(words, asked) FROM engine_docs, websearch_to_tsquery('english', {{query}}) asked "
    "WHERE words @@ asked ORDER BY 2 DESC, 1 LIMIT {{k}}"
)


@needs_postgresql
def test_full_text_of_postgresql_answers(harbour: None) -> None:
    assert set(answered(RANKED, "ferry")) == {"d3", "d5"}
    assert answered(RANKED, "umbrella left behind") == ["d2"]
    assert answered(RANKED, "'; DROP TABLE engine_docs; --") == []
    assert (
        len(answered("SELECT id FROM engine_docs WHERE {{query}}::text LIKE '%ferry' LIMIT {{k}}", k=2)) == 2
    )


@needs_postgresql
@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("INSERT INTO engine_docs SELECT {{query}}::text LIMIT {{k}}", "read-only transaction"),
        (
            "WITH gone AS (DELETE FROM engine_docs RETURNING id) SELECT id FROM gone WHERE id <> {{query}} "
            "LIMIT {{k}}",
            "read-only transaction",
        ),
        ("SELECT '{{query}}' LIMIT {{k}}", "refuses the query"),
        ("SELECT {{query}}::text LIMIT {{k}}; DROP TABLE engine_docs", "multiple commands"),
        ("SELECT id FROM nowhere WHERE id = {{query}} LIMIT {{k}}", "does not exist"),
        (
            "SELECT set_config('transaction_read_only', 'off', false), {{query}}::text LIMIT {{k}}",
            "before any query",
        ),
    ],
)
def test_postgresql_writes_nothing_either(harbour: None, statement: str, problem: str) -> None:
    # What the check before would refuse in part, to see that the connection does too.
    with pytest.raises(EngineError, match=problem):
        answered(statement)
    assert set(answered(RANKED, "ferry")) == {"d3", "d5"}


@needs_postgresql
def test_postgresql_stops_what_takes_too_long(harbour: None) -> None:
    with pytest.raises(PassingError, match="no answer within"):
        answered("SELECT pg_sleep(60)::text || {{query}} LIMIT {{k}}", time_out=0.1)


@needs_postgresql
def test_a_server_that_is_away_is_asked_again_later(harbour: None, settings: Settings) -> None:
    settings.SEARCH_DATABASES["shop"]["PORT"] = 1
    with pytest.raises(PassingError, match="The database “shop” cannot be reached"):
        answered(RANKED)
