"""Engines that are SQL databases: one query with bound values, in a read-only transaction with a time limit.

Which databases there are, and how they are reached, is in the settings of the site (`SEARCH_DATABASES`); a
page only ever names one. Values are bound by the driver and never become part of the text.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from contextlib import closing
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings as site
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from pooling.engines.answers import Answer, ranked, text_of
from pooling.engines.asking import EngineError, PassingError
from pooling.engines.options import EngineSettings
from pooling.engines.templates import PLACE, Question, TemplateError, places_in

IN_STATEMENT = ("query", "k", "vector")
# What is quoted or a comment, where nothing can be put in.
# What is quoted without an end goes on to the end.
_QUOTED = re.compile(
    r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)"
    r"|(?<![\w$])\$(?P<tag>\w*)\$(?:.*?\$(?P=tag)\$|.*)",
    re.DOTALL,
)
_READS = re.compile(r"(?i)^\s*(select|with|values|table)\b")
LONGEST_MESSAGE = 200
CHECK_EVERY = 100  # steps of SQLite's machine
# Within one step nothing is interrupted. So no text is longer, and no pattern can look at one for hours.
LONGEST_IN_SQLITE, LONGEST_PATTERN = 8_000_000, 200
# Functions of SQLite itself that make large texts of a few signs, or read the disk.
_DENIED = {"printf", "format", "zeroblob", "randomblob", "load_extension", "readfile", "writefile", "edit"}
# What full-text indexes ask by themselves.
_OF_INDEXES = {"data_version", "page_size"}


def database_names() -> list[str]:
    return list(site.SEARCH_DATABASES)


def checked_statement(statement: str) -> str:
    """The SQL without a `;` at its end; `TemplateError` for what is not one query with places for values."""
    statement = statement.strip().rstrip(";").rstrip()
    if any(PLACE.search(quoted[0]) for quoted in _QUOTED.finditer(statement)):
        raise TemplateError(
            "A place is within quotes or a comment. Write {{query}} without quotes; it is a bound value."
        )
    bare = _QUOTED.sub(" ", statement)
    if ";" in bare:
        raise TemplateError("Write one query, without a “;” between statements.")
    if not _READS.match(bare):
        raise TemplateError("The statement has to be a query that begins with SELECT or WITH.")
    places = places_in(bare)
    strange = next((place for place in places if place not in IN_STATEMENT), None)
    if strange is not None:
        allowed = ", ".join(f"{{{{{place}}}}}" for place in IN_STATEMENT)
        raise TemplateError(f"“{{{{{strange[:60]}}}}}” has no value in SQL; it can hold {allowed}.")
    if not {"query", "vector"} & set(places):
        raise TemplateError("The statement has no {{query}}, so every query would get the same answer.")
    if "k" not in places:
        raise TemplateError("The statement has no {{k}}. End it with LIMIT {{k}}.")
    return statement


def bound(statement: str) -> str:
    """The statement as drivers take it.

    >>> bound("SELECT id FROM t WHERE a LIKE '%x' AND b = {{query}} LIMIT {{k}}")
    "SELECT id FROM t WHERE a LIKE '%%x' AND b = %(query)s LIMIT %(k)s"
    """
    return PLACE.sub(lambda place: f"%({place[1].strip()})s", statement.replace("%", "%%"))


class SqlAsker:
    """A connection to a database of the settings, kept from one question to the next."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings, self._statement = settings, bound(settings.statement)
        self._connection = _connection(settings.database)

    def ask(self, question: Question) -> Answer:
        """Run the query in its own transaction, which is always taken back."""
        values: dict[str, Any] = {"query": question.text.replace("\0", ""), "k": question.k}
        if "%(vector)s" in self._statement:
            if question.vector is None:
                raise EngineError(
                    "The query has no vector: a list of numbers under “vector” in its metadata."
                )
            values["vector"] = json.dumps(list(question.vector))
        used = {name: value for name, value in values.items() if f"%({name})s" in self._statement}
        try:
            return self._answer(used, question.k)
        except (OperationalError, InterfaceError) as error:
            self._connection.close()
            if "timeout" in str(error) or "interrupted" in str(error):
                problem = f"{self._settings.database}: no answer within {self._settings.time_out:g} seconds."
                raise PassingError(problem) from None
            if self._is_away(error):
                problem = f"The database “{self._settings.database}” cannot be reached."
                raise PassingError(problem) from None
            raise self._refusal(error) from None
        except DatabaseError as error:
            self._connection.close()
            raise self._refusal(error) from None

    def close(self) -> None:
        self._connection.close()

    def _answer(self, values: dict[str, Any], k: int) -> Answer:
        connection = self._connection
        connection.ensure_connection()
        connection.set_autocommit(False)
        try:
            with connection.cursor() as cursor:
                self._limit(cursor)
                begun = time.perf_counter()
                cursor.execute(self._statement, values)
                columns = len(cursor.description or ())
                rows = cursor.fetchmany(10 * k)
                latency_ms = 1000 * (time.perf_counter() - begun)
        finally:
            connection.rollback()
            connection.set_autocommit(True)
        if columns not in (1, 2):
            raise EngineError(f"The query has {columns} columns. Select the document's id and its score.")
        return Answer(
            ranked([(_id_of(row[0]), row[1] if columns == 2 else None) for row in rows], k), latency_ms
        )

    def _limit(self, cursor: Any) -> None:
        """Nothing is written, and nothing takes longer than the time-out."""
        seconds = self._settings.time_out
        if self._connection.vendor == "postgresql":
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(f"SET LOCAL statement_timeout = {int(1000 * seconds)}")
            return
        raw: sqlite3.Connection = self._connection.connection
        raw.set_authorizer(None)
        cursor.execute("PRAGMA query_only = ON")
        raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_IN_SQLITE)
        raw.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LONGEST_PATTERN)
        raw.set_authorizer(_permission)
        end = time.monotonic() + seconds
        raw.set_progress_handler(lambda: time.monotonic() > end, CHECK_EVERY)

    def _is_away(self, error: Exception) -> bool:
        """True where the database could not be reached, False where it refused the statement."""
        code = getattr(error.__cause__, "sqlstate", None)
        if self._connection.vendor == "postgresql":
            return code is None or code[:2] in ("08", "57", "53")
        return "unable to open" in str(error) or "locked" in str(error)

    def _refusal(self, error: Exception) -> EngineError:
        message = str(error).partition("\n")[0][:LONGEST_MESSAGE]
        return EngineError(f"The database “{self._settings.database}” refuses the query: {message}")


@cache
def _functions_of_sqlite() -> frozenset[str]:
    """The functions that SQLite has by itself, in lower case; those of Python know no deadline."""
    with closing(sqlite3.connect(":memory:")) as bare:
        bare.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
        bare.execute("SELECT bm25(words) FROM words WHERE words MATCH 'a'").fetchall()
        return frozenset(
            str(name).lower() for (name,) in bare.execute("SELECT name FROM pragma_function_list")
        )


def _permission(action: int, first: str | None, second: str | None, *more: str | None) -> int:
    if action == sqlite3.SQLITE_ATTACH or (action == sqlite3.SQLITE_PRAGMA and first not in _OF_INDEXES):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION:
        name = (second or "").lower()
        return sqlite3.SQLITE_OK if name in _functions_of_sqlite() - _DENIED else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _id_of(value: object) -> str:
    document_id = str(value) if isinstance(value, UUID) else text_of(value)
    if document_id is None:
        kind = type(value).__name__
        raise EngineError(
            f"The first column has to be the document's id, a text or a whole number; it is {kind}."
        )
    return document_id


def _connection(name: str) -> BaseDatabaseWrapper:
    """A connection that nothing else of this site uses, to a database of the settings."""
    if name not in site.SEARCH_DATABASES:
        problem = f"There is no database “{name}” in the settings of this site (SOUNDINGS_SEARCH_DATABASES)."
        raise EngineError(problem)
    settings: dict[str, Any] = dict(site.SEARCH_DATABASES[name])
    options = dict(settings.get("OPTIONS", {}))
    if settings["ENGINE"] == "django.db.backends.postgresql":
        # Values travel apart from the text, and a text with several statements is refused.
        settings["OPTIONS"] = {"connect_timeout": 10, **options, "server_side_binding": True}
    elif settings["ENGINE"] == "django.db.backends.sqlite3":
        settings |= {"NAME": f"file:{settings['NAME']}?mode=ro", "OPTIONS": {**options, "uri": True}}
    else:
        raise EngineError(f"The database “{name}” is neither PostgreSQL nor SQLite.")
    connection = ConnectionHandler({DEFAULT_DB_ALIAS: settings}).create_connection(DEFAULT_DB_ALIAS)
    connection.inc_thread_sharing()  # one thread at a time
    return connection
