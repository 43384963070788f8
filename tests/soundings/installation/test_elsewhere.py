"""Files in object storage and a cache in Redis, as one variable each says."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import default_storage
from django.test import Client
from pytest_django import Settings

from pooling.models import Run
from pooling.storage.copies import local_path
from soundings.installation import elsewhere
from soundings.installation.elsewhere import file_storage, shared_cache
from tests.object_store import KEYS, address, object_store
from tests.soundings.processes import free_port
from tests.world import ALPHA, RELEVANT, World, qrels_text, run_text

VARIABLE = "SOUNDINGS_FILE_STORAGE"


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """The address of a bucket on this machine; skipped without the server."""
    pytest.importorskip("moto", reason="moto is not installed (extra dev)")
    port = free_port()
    with object_store(port):
        yield address(port)


@pytest.fixture
def elsewhere_stored(store: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored files are in the bucket."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    settings.STORAGES = settings.STORAGES | {"default": file_storage(VARIABLE, store)}


def test_files_are_where_an_address_says(tmp_path: Path) -> None:
    assert file_storage(VARIABLE, "")["BACKEND"].endswith("FileSystemStorage")
    assert file_storage(VARIABLE, f"file://{tmp_path}")["OPTIONS"] == {"location": str(tmp_path)}
    assert file_storage(VARIABLE, "storages.backends.gcloud.GoogleCloudStorage") == {
        "BACKEND": "storages.backends.gcloud.GoogleCloudStorage"
    }
    there = file_storage(VARIABLE, "s3://labels/year/one?endpoint=https://s3.example.org:9000&region=eu-1")
    assert there["OPTIONS"] == {
        "bucket_name": "labels",
        "location": "year/one",
        "endpoint_url": "https://s3.example.org:9000",
        "region_name": "eu-1",
        "addressing_style": "path",
    }
    assert "addressing_style" not in file_storage(VARIABLE, "s3://labels")["OPTIONS"]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("s3://", "is not the address of a file storage"),
        ("file://server/share", "is not the address of a file storage"),
        ("ftp://server/share", "is not the address of a file storage"),
        ("s3://key:secret@bucket", "AWS_ACCESS_KEY_ID"),
        ("s3://bucket?endpont=http://127.0.0.1", "endpont is not an option; choose from endpoint"),
        ("s3://bucket?addressing=both", "addressing is one of path, virtual, auto"),
    ],
)
def test_an_address_that_cannot_be_used_is_told(value: str, sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=sentence) as problem:
        file_storage(VARIABLE, value)
    assert str(problem.value).startswith(VARIABLE)
    assert "secret@" not in str(problem.value)


def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"pip install 'soundings-ir\[s3\]'"):
        file_storage(VARIABLE, "s3://bucket")
    with pytest.raises(ImproperlyConfigured, match=r"pip install 'soundings-ir\[redis\]'"):
        shared_cache("CACHE_URL", "redis://127.0.0.1")


def test_from_a_run_to_a_report_with_every_file_in_a_bucket(
    elsewhere_stored: None, settings: Settings, world: World, client: Client
) -> None:
    client.force_login(world.ada)
    world.build_pool()
    run = Run.objects.get(name="alpha")
    qrels = io.BytesIO(qrels_text().encode())
    qrels.name = "labels.qrels"
    assert client.post("/api/collections/harbour/qrels/", {"file": qrels}).status_code == 201
    release = client.post("/api/collections/harbour/releases/", {"name": "v1"}).json()
    made = client.post("/api/collections/harbour/reports/", {"name": "first", "release": "v1", "k": [1, 2]})
    assert made.status_code == 201, made.content
    report = made.json()["id"]

    rows = client.get(f"/api/runs/{run.pk}/rows/?query=q1").json()
    assert [row["document"] for row in rows] == ALPHA["q1"]
    file = b"".join(client.get(f"/api/runs/{run.pk}/file/").streaming_content)  # type: ignore[attr-defined]
    assert pl.read_parquet(io.BytesIO(file)).height == 9
    page = f"/collections/harbour/qrels/{release['id']}/download/trec/"
    lines = [line.split() for line in client.get(page).content.decode().splitlines()]
    assert {(query, document) for query, _, document, grade in lines if grade == "1"} == RELEVANT
    for page in ("", "queries/", "where/", "charts/", "download/csv/"):
        assert client.get(f"/reports/{report}/{page}").status_code == 200
    # Nothing but copies, which may be deleted at any time, is on the disk.
    assert not Path(settings.MEDIA_ROOT).exists()
    assert default_storage.exists(run.file.name)


def test_an_upload_waits_in_the_bucket_for_its_worker(
    elsewhere_stored: None,
    settings: Settings,
    world: World,
    client: Client,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    client.force_login(world.ada)
    upload = io.BytesIO(run_text(ALPHA).encode())
    upload.name = "later.run"
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post("/api/collections/harbour/runs/", {"file": upload, "name": "later"})
    assert answer.status_code == 202
    assert Run.objects.get(name="later").row_count == 9
    assert default_storage.listdir("uploads") == ([], [])


def test_a_preview_waits_in_the_bucket_and_no_other_name_is_one(
    elsewhere_stored: None, world: World, client: Client
) -> None:
    client.force_login(world.ada)
    sent = {"file": io.BytesIO(b"q9\tsea level"), "preview": "1"}
    address = client.post("/collections/harbour/queries/", sent).url  # type: ignore[attr-defined]
    assert client.get(address).context["previews"][0].counts
    for wrong in ("", "../x", "0" * 32):
        page = client.get(f"/collections/harbour/queries/?preview={wrong}", follow=True)
        assert "Choose the file again." in page.content.decode()


def test_a_copy_is_fetched_once_and_goes_when_nobody_reads_it(
    elsewhere_stored: None, settings: Settings
) -> None:
    from django.core.files.base import ContentFile

    names = [default_storage.save(f"runs/{name}", ContentFile(b"0123456789")) for name in ("a", "b", "c")]
    first = local_path(names[0])
    default_storage.delete(names[0])
    assert local_path(names[0]).read_bytes() == b"0123456789"
    os.utime(first, (0, 0))
    second = local_path(names[1])
    assert (first.exists(), second.exists()) == (False, True)
    settings.STORED_COPIES_BYTES = 5
    os.utime(second, (second.stat().st_mtime - 7200,) * 2)
    assert local_path(names[2]).exists()
    assert not second.exists()
    with pytest.raises(FileNotFoundError):
        local_path("runs/nothing")


def test_a_storage_that_is_away_is_said_and_nothing_is_stored(
    elsewhere_stored: None, settings: Settings, world: World, client: Client
) -> None:
    away = f"s3://nowhere?endpoint=http://127.0.0.1:{free_port()}"
    settings.STORAGES = settings.STORAGES | {"default": file_storage(VARIABLE, away)}
    client.force_login(world.ada)
    upload = io.BytesIO(run_text(ALPHA).encode())
    upload.name = "alpha.run"
    answer = client.post("/api/collections/harbour/runs/", {"file": upload})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The file storage does not answer" in answer.json()["detail"]
    assert not Run.objects.exists()


def test_what_one_process_has_computed_another_has(settings: Settings) -> None:
    url = os.environ.get("SOUNDINGS_TEST_REDIS", "redis://127.0.0.1:6379/9")
    redis = pytest.importorskip("redis", reason="redis is not installed (extra dev)")
    try:
        redis.Redis.from_url(url, socket_connect_timeout=1).ping()
    except redis.RedisError:
        pytest.skip(f"no Redis answers at {url}; SOUNDINGS_TEST_REDIS names another")
    settings.CACHES = {"default": {**shared_cache("CACHE_URL", url), "KEY_PREFIX": f"test-{os.getpid()}"}}
    cache.set("figures", {"kappa": 0.5}, 60)
    assert cache.get("figures") == {"kappa": 0.5}
    assert cache.get_or_set("figures", None) == {"kappa": 0.5}
    assert cache.delete("figures")


def test_a_cache_that_is_away_is_an_empty_one(settings: Settings) -> None:
    settings.CACHES = {"default": shared_cache("CACHE_URL", f"redis://127.0.0.1:{free_port()}/0")}
    cache.set("figures", 1)
    assert cache.get("figures") is None
    assert cache.get_or_set("figures", 2) == 2
    assert cache.add("figures", 3) is False
    assert cache.delete("figures") is False


def test_another_address_is_no_cache() -> None:
    with pytest.raises(ImproperlyConfigured, match="CACHE_URL is not the address of a cache"):
        shared_cache("CACHE_URL", "memcached://127.0.0.1")
