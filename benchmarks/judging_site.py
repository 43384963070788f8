"""A site of its own for the judging benchmark: a database made and dropped again, people, items, a server."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tests.soundings.processes import children_of

ROOT = Path(__file__).resolve().parent.parent
WORDS = (
    "harbour",
    "night",
    "ferry",
    "lantern",
    "tide",
    "market",
    "bridge",
    "signal",
    "copper",
    "orchard",
    "letter",
)
WORDS_PER_TEXT = 150
# Of processor time within a second: a server that nobody asks for anything uses less.
IDLE_SECONDS = 0.1
BARE_TABLES = """
CREATE TABLE bare_item (
  id bigint PRIMARY KEY, query text NOT NULL, text text NOT NULL,
  leased_until timestamptz, done boolean NOT NULL
);
CREATE TABLE bare_judgment (
  key text PRIMARY KEY, item_id bigint NOT NULL REFERENCES bare_item, annotator text NOT NULL,
  verdict text NOT NULL, judged_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO bare_item SELECT item.id, query.text, document.text, NULL, false FROM labeling_item item
  JOIN pooling_query query ON query.id = item.query_id
  JOIN pooling_document document ON document.id = item.document_id;
CREATE INDEX bare_free ON bare_item (id) WHERE NOT done;
ANALYZE;
"""
PASSWORD = "a long enough password"


@dataclass
class Site:
    """A temporary database with the site's tables; Django is set up on it in this process."""

    folder: Path
    database: str
    server: subprocess.Popen[bytes] | None = None
    port: int = 0
    tokens: list[str] = field(default_factory=list)

    def start(self) -> None:
        """Start the site as `serve` does, with two processes for requests, and wait until it answers."""
        self.port = _free_port()
        self._start(str(ROOT / "manage.py"), "serve", "--port", str(self.port), "--workers", "2")

    def start_bare(self) -> None:
        """Start the least that Django can do (`benchmarks/bare_queue.py`) in the same way."""
        self.port = _free_port()
        served = [
            "--config",
            "python:benchmarks.bare_settings",
            "--bind",
            f"127.0.0.1:{self.port}",
        ]
        self._start("-m", "gunicorn", *served, "--workers", "2", "benchmarks.bare_queue:application")

    def _start(self, *command: str) -> None:
        self.server = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.DEVNULL, env=os.environ.copy()
        )
        for _ in range(300):
            if self._answers():
                return
            time.sleep(0.1)
        raise SystemExit("The server did not start within 30 s.")

    def settle(self) -> None:
        """Wait until the server's processes have loaded what they load: that is no part of judging."""
        for _ in range(60):
            before = self.processor_seconds()[0]
            time.sleep(1)
            if self.processor_seconds()[0] - before < IDLE_SECONDS:
                return

    def stop(self) -> None:
        """Stop the server."""
        if self.server is not None:
            self.server.terminate()
            self.server.wait(60)
            self.server = None

    def processor_seconds(self) -> tuple[float, float, float]:
        """What the server, the database's own processes and this one have used so far (Linux)."""
        assert self.server is not None
        from django.db import connection

        backends: list[int] = []
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
                backends = [pid for (pid,) in cursor.fetchall()]
        web = [self.server.pid, *children_of(self.server.pid)]
        return (
            sum(map(processor_seconds_of, web)),
            sum(map(processor_seconds_of, backends)),
            time.process_time(),
        )

    def _answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health/")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def processor_seconds_of(pid: int) -> float:
    """What a process has used so far (Linux); 0 for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def temporary_site(database_url: str | None) -> Iterator[Site]:
    """A site on PostgreSQL at `database_url` (a database of its own is made there) or on SQLite without."""
    folder = Path(tempfile.mkdtemp(prefix="bench-judging-"))
    name = f"bench_judging_{secrets.token_hex(4)}"
    os.environ |= {"SOUNDINGS_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "soundings.settings"}
    os.environ.pop("DATABASE_URL", None)
    if database_url:
        _administer(database_url, f"CREATE DATABASE {name}")
        os.environ["DATABASE_URL"] = urlunsplit(urlsplit(database_url)._replace(path=f"/{name}"))
    site = Site(folder, name)
    try:
        _prepare()
        yield site
    finally:
        site.stop()
        from django.db import connections

        connections.close_all()
        if database_url:
            _administer(database_url, f"DROP DATABASE {name} WITH (FORCE)")
        shutil.rmtree(folder, ignore_errors=True)


def _administer(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)  # type: ignore[arg-type]


def _prepare() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def make_people(site: Site, count: int) -> Any:
    """A collection with `count` annotators, whose tokens the site gets; only the first has a password."""
    from django.contrib.auth.models import User

    from pooling.models import Membership
    from pooling.people.membership import create_collection
    from soundings.accounts.tokens import make_token

    owner = User.objects.create_user("owner", password=PASSWORD)
    collection = create_collection(owner, slug="bench", name="Bench")
    users = User.objects.bulk_create(
        User(username=f"annotator{number}", password="!") for number in range(count)
    )
    Membership.objects.bulk_create(
        Membership(collection=collection, user=user, role="annotator") for user in users
    )
    users[0].set_password(PASSWORD)
    users[0].save()
    site.tokens = [make_token(user).token for user in users]
    return collection


def text_of(number: int) -> str:
    """About a kilobyte of words, another for each number."""
    words = (WORDS[(number * 7 + place * place) % len(WORDS)] for place in range(WORDS_PER_TEXT))
    return f"{number} {' '.join(words)}"


def write_files(folder: Path, queries: int, depth: int) -> tuple[Path, Path, Path]:
    """Queries, a corpus with a document for each pair, and a run over them."""
    folder.mkdir()
    paths = folder / "queries.jsonl", folder / "corpus.jsonl", folder / "only.run"
    with paths[0].open("w") as file:
        file.writelines(
            json.dumps({"_id": f"q{query}", "text": f"night ferry {query}"}) + "\n"
            for query in range(queries)
        )
    with paths[1].open("w") as file:
        for number in range(queries * depth):
            file.write(
                json.dumps({"_id": f"d{number}", "title": f"Document {number}", "text": text_of(number)})
                + "\n"
            )
    with paths[2].open("w") as file:
        for number in range(queries * depth):
            rank = number % depth + 1
            file.write(f"q{number // depth} Q0 d{number} {rank} {depth - rank} only\n")
    return paths


def import_all(collection: Any, folder: Path, queries: int, depth: int) -> dict[str, float]:
    """Bring `queries` × `depth` pairs into a queue by the product's own functions; seconds by step."""
    from labeling.queues.opening import open_queue
    from pooling.pools.building import build_pool
    from pooling.runs.stored import import_run
    from pooling.texts.importing import import_documents, import_queries

    query_file, corpus, run_file = write_files(folder, queries, depth)
    seconds = {}
    made: dict[str, Any] = {}
    steps = {
        "queries": lambda: import_queries(collection, query_file),
        "documents": lambda: import_documents(collection, corpus),
        "run": lambda: import_run(collection, run_file),
        "pool": lambda: build_pool(collection, name="pool", runs=[made["run"]], depth=depth),
        "queue": lambda: open_queue(made["pool"], name="queue", seed=1),
    }
    for name, step in steps.items():
        started = time.perf_counter()
        made[name] = step()
        seconds[name] = time.perf_counter() - started
    return seconds


def bare_copy(folder: Path) -> float:
    """Seconds that one statement takes to store the lines of the corpus, not checked and not indexed.

    COPY on PostgreSQL, an insertion of all rows on SQLite; what any import is held against.
    """
    from django.db import connection

    rows = [(line,) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare_copy (line text)")
        started = time.perf_counter()
        if connection.vendor == "postgresql":
            with cursor.copy("COPY bare_copy FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            cursor.execute("BEGIN")
            cursor.executemany("INSERT INTO bare_copy VALUES (%s)", rows)
            cursor.execute("COMMIT")
        seconds = time.perf_counter() - started
        cursor.execute("DROP TABLE bare_copy")
    return seconds


def fill_bare_queue() -> None:
    """Give the bare Django queue the same items with the same texts (PostgreSQL)."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(BARE_TABLES)


def multiply_queue(collection: Any, times: int) -> Any:
    """A second queue with `times` as many items of new queries, by SQL alone (PostgreSQL)."""
    from django.db import connection

    from labeling.models import Queue

    first = Queue.objects.get(collection=collection, name="queue")
    queue = Queue.objects.create(collection=collection, pool=first.pool, name="large", seed=1)
    step = (
        Queue.objects.filter(pk=first.pk)
        .values_list("items__order_key", flat=True)
        .order_by("-items__order_key")[0]
        + 64
    )
    with connection.cursor() as cursor:
        for copy in range(times):
            _copy_queries(cursor, collection.pk, copy)
            _copy_items(cursor, collection.pk, first.pk, queue.pk, copy, step * copy)
        cursor.execute("ANALYZE")
    return queue


def _copy_queries(cursor: Any, collection: int, copy: int) -> None:
    cursor.execute(
        "INSERT INTO pooling_query (collection_id, external_id, text, metadata) "
        "SELECT collection_id, %s || external_id, text, metadata FROM pooling_query "
        "WHERE collection_id = %s AND external_id LIKE 'q%%'",
        [f"c{copy}-", collection],
    )


def _copy_items(cursor: Any, collection: int, first: int, queue: int, copy: int, shift: int) -> None:
    cursor.execute(
        "INSERT INTO labeling_item (queue_id, query_id, document_id, order_key, needed, needed_at_least, "
        "needed_at_most, done, leased, state) "
        "SELECT %s, other.id, item.document_id, item.order_key + %s, 1, 1, 1, 0, 0, 'open' "
        "FROM labeling_item item "
        "JOIN pooling_query query ON query.id = item.query_id "
        "JOIN pooling_query other "
        "ON other.collection_id = %s AND other.external_id = %s || query.external_id "
        "WHERE item.queue_id = %s",
        [queue, shift, collection, f"c{copy}-", first],
    )
