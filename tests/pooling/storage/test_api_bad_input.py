"""Bad files, sent through the HTTP interface: one clear error each, and nothing stored."""

from __future__ import annotations

import errno
import gzip
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from django.core.cache import cache
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from pooling.interface import counting
from pooling.models import Document, Job, Pool, Query, Run
from tests.world import ALPHA, World, run_text

pytestmark = pytest.mark.anywhere

GOOD = run_text(ALPHA)
BOMB = gzip.compress(b"q1 Q0 d1 1 2 t\n" * 20_000)


def parquet(**columns: list[Any]) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


RUNS: dict[str, tuple[str, str | bytes, str]] = {
    "malformed line": ("a.run", GOOD + "what is this\n", "line 10"),
    "missing field": ("a.run", "q1 Q0 d1 1 2\n", "line 1: 5 fields"),
    "extra field": ("a.run", "q1 Q0 d1 1 2 t x\n", "line 1: 7 fields"),
    "header in a TREC run": ("a.run", "search Q0 found place score tag\n" + GOOD, "line 1"),
    "no header in a CSV run": ("a.csv", "q1,d1,x\nq1,d2,y\n", "line 1"),
    "duplicate pair": ("a.run", "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n", "line 2"),
    "NaN score": ("a.run", "q1 Q0 d1 1 nan t\n", "line 1"),
    "infinite score": ("a.run", "q1 Q0 d1 1 inf t\n", "line 1"),
    "score that is no number": ("a.run", "q1 Q0 d1 1 high t\n", "line 1"),
    "empty file": ("a.run", b"", "empty"),
    "blank lines alone": ("a.run", "\n\n", "a.run"),
    "binary file": ("a.run", bytes(range(256)) * 4, "a.run"),
    "wrong encoding": ("a.run", "q1 Q0 d\xe9 1 2 t\n".encode("latin-1"), "UTF-8"),
    "UTF-16": ("a.run", GOOD.encode("utf-16"), "a.run"),
    "truncated gzip": ("a.run.gz", gzip.compress(GOOD.encode())[:-12], "a.run.gz"),
    "gzip bomb": ("a.run.gz", BOMB, "a.run.gz"),
    "Parquet that is none": ("a.parquet", b"PAR1 not really", "a.parquet"),
    "Parquet with wrong columns": ("a.parquet", parquet(query=["q1"], page=["d1"]), "no column"),
    "JSON that is none": ("a.json", b'{"q1": {"d1": ', "a.json"),
    "no query of the collection": ("a.run", "x1 Q0 d1 1 2 t\n", "no query of this run"),
}
QUERIES: dict[str, tuple[str, str | bytes, str]] = {
    "empty file": ("q.jsonl", b"", "empty"),
    "broken line": ("q.jsonl", '{"_id": "q8", "text": "fine"}\n{"_id": "q9"', "line 2"),
    "no id": ("q.jsonl", '{"text": "tram"}\n', "line 1"),
    "no text": ("q.jsonl", '{"_id": "q9"}\n', "line 1"),
    "twice": ("q.jsonl", '{"_id": "q9", "text": "a"}\n{"_id": "q9", "text": "b"}\n', "line 2"),
    "wrong columns": ("q.tsv", "nr\tsentence\nq9\ttram\n", "no id among"),
    "wrong encoding": ("q.tsv", "id\ttext\nq9\tcaf\xe9\n".encode("latin-1"), "UTF-8"),
}
DOCUMENTS: dict[str, tuple[str, str | bytes, str]] = {
    "broken last line": ("c.jsonl", '{"_id": "d8", "text": "fine"}\n{"_id": "d9", "te', "line 2"),
    "no id": ("c.jsonl", '{"_id": "d8", "text": "fine"}\n{"text": "tram"}\n', "line 2"),
    "twice": ("c.jsonl", '{"_id": "d8", "text": "a"}\n{"_id": "d8", "text": "b"}\n', "line 2"),
    "truncated gzip": ("c.jsonl.gz", gzip.compress(b'{"_id": "d8", "text": "a"}\n')[:-9], "c.jsonl.gz"),
    "empty file": ("c.jsonl", b"", "empty"),
    "no text": ("c.jsonl", '{"_id": "d8", "para": "It runs at night."}\n', "Rename 'para' to text"),
}
CASES = [
    pytest.param(kind, *case, id=f"{kind}{name}")
    for kind, table in (("runs/", RUNS), ("queries/", QUERIES), ("documents/", DOCUMENTS))
    for name, case in table.items()
]


def everything_stored(settings: Settings) -> tuple[Any, ...]:
    files = sorted(str(path) for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file())
    return (*(model.objects.count() for model in (Query, Document, Run, Pool, Job)), files)


@pytest.mark.parametrize(("kind", "name", "content", "told"), CASES)
def test_a_bad_file_is_one_clear_error_and_stores_nothing(
    world: World, client: Client, settings: Settings, kind: str, name: str, content: str | bytes, told: str
) -> None:
    settings.MAX_UPLOAD_BYTES = 100_000
    client.force_login(world.ada)
    before = everything_stored(settings)
    data = content.encode() if isinstance(content, str) else content
    answer = client.post(f"/api/collections/harbour/{kind}", {"file": SimpleUploadedFile(name, data)})
    assert answer.status_code == 400, answer.content
    detail = answer.json()["detail"]
    assert told in detail
    assert "\n" not in detail
    assert set(answer.json()["fields"]) == {"file"}
    assert everything_stored(settings) == before


def test_a_file_larger_than_allowed_is_dropped_while_it_arrives(
    world: World, client: Client, settings: Settings
) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    client.force_login(world.ada)
    before = everything_stored(settings)
    pages = ("runs", "gold", "facts", "qrels", "judgments")
    for path in ("/api/collections/harbour/runs/", *(f"/collections/harbour/{one}/import/" for one in pages)):
        answer = client.post(path, {"file": SimpleUploadedFile("a.run", GOOD.encode())})
        assert b"larger than 100 bytes" in answer.content
        assert everything_stored(settings) == before


def test_an_account_that_sent_its_files_of_the_hour_is_told_when_to_go_on(
    world: World, client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    now = [1_800_000_000.0]
    monkeypatch.setattr(counting.time, "time", lambda: now[0])
    settings.UPLOADS_PER_HOUR = 1
    calls, page = "/api/collections/harbour/runs/", "/collections/harbour/runs/import/"

    def sent(path: str, name: str) -> Any:
        return client.post(path, {"file": SimpleUploadedFile(name, GOOD.encode())})

    client.force_login(world.ada)
    assert sent(calls, "first.run").status_code == 201
    before = everything_stored(settings)
    now[0] += 600
    refused = sent(calls, "second.run")
    told = "an account may send in an hour (1). Nothing was imported. Try again in 50 minutes."
    assert (refused.status_code, refused["Retry-After"]) == (429, "3000")
    assert refused.json()["detail"].endswith(told)
    assert told in sent(page, "second.run").content.decode()
    assert everything_stored(settings) == before
    now[0] += 3000
    assert sent(calls, "second.run").status_code == 201


TINY = parquet(query_id=["q1"], document_id=["d1"], score=[1.0])
MANY = parquet(query_id=["q1"] * 3_000, document_id=["d1"] * 3_000, score=[1.0] * 3_000)


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [
        ("plain.run.gz", GOOD.encode(), 201),
        # Without a time in it: the two workers that run the tests must find the same names.
        ("packed.run", gzip.compress(GOOD.encode(), mtime=0), 201),
        ("packed.run", BOMB, 202),
        ("packed.run.gz", BOMB, 202),
        ("tiny.parquet", TINY, 201),
        ("many.parquet", MANY, 202),
    ],
)
def test_where_a_file_is_read_hangs_on_what_it_holds_and_not_on_its_name(
    world: World, client: Client, settings: Settings, name: str, content: bytes, status: int
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 100_000
    assert len(content) < 10_000
    client.force_login(world.ada)
    upload = SimpleUploadedFile(name, content)
    assert client.post("/api/collections/harbour/runs/", {"file": upload}).status_code == status


@pytest.mark.parametrize("background_bytes", [10, 1_000_000])
def test_a_full_disk_is_one_clear_error_and_stores_nothing(
    world: World,
    client: Client,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    background_bytes: int,
) -> None:
    def full(self: FileSystemStorage, name: str, content: Any) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    settings.BACKGROUND_UPLOAD_BYTES = background_bytes
    monkeypatch.setattr(FileSystemStorage, "_save", full)
    client.force_login(world.ada)
    before = everything_stored(settings)
    answer = client.post(
        "/api/collections/harbour/runs/", {"file": SimpleUploadedFile("a.run", GOOD.encode())}
    )
    assert answer.status_code == 507
    assert "disk is full" in answer.json()["detail"]
    assert everything_stored(settings) == before


def test_a_body_that_is_no_form_is_refused(world: World, client: Client) -> None:
    client.force_login(world.ada)
    answer = client.post("/api/collections/harbour/runs/", b"{}", content_type="application/json")
    assert answer.status_code == 415
    assert answer.json()["detail"]


def test_ids_with_odd_characters_are_kept(world: World, client: Client) -> None:
    client.force_login(world.ada)
    lines = "q1 Q0 007 1 9 t\nq1 Q0 d#1 2 8 t\nq1 Q0 Ä/ß?x=%20 3 7 t\nq1 Q0 ‘\u2028’ 4 6 t\n"
    answer = client.post(
        "/api/collections/harbour/runs/", {"file": SimpleUploadedFile("odd.run", lines.encode())}
    )
    assert answer.status_code == 201
    body = {"name": "odd", "runs": ["odd"], "depth": 10, "strategy": "rrf", "audit_share": 0}
    client.post("/api/collections/harbour/pools/", body, content_type="application/json")
    pooled = set(Document.objects.filter(pool_entries__isnull=False).values_list("external_id", flat=True))
    assert pooled == {"007", "d#1", "Ä/ß?x=%20", "‘\u2028’"}


@pytest.mark.parametrize("field", ["depth", "budget", "seed"])
def test_a_number_that_no_database_holds_is_refused(world: World, client: Client, field: str) -> None:
    world.import_runs()
    client.force_login(world.ada)
    body = {"name": "deep", "runs": ["alpha"], "depth": 2, field: 10**30}
    answer = client.post("/api/collections/harbour/pools/", body, content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()["fields"]) == {field}
