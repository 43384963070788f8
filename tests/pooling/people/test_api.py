"""The HTTP interface of stage 1: collections, members, runs, pools, and who may what."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from tests.world import ALPHA, PASSWORD, World, run_text


def post(client: Client, path: str, body: Any) -> Any:
    return client.post(f"/api/{path}", body, content_type="application/json")


def send(client: Client, path: str, file_name: str, content: str | bytes, **fields: Any) -> Any:
    data = content.encode() if isinstance(content, str) else content
    return client.post(f"/api/{path}", {"file": SimpleUploadedFile(file_name, data), **fields})


def test_a_token_opens_the_interface(world: World, client: Client) -> None:
    assert client.get("/api/collections/").status_code == 401
    answer = post(client, "token/", {"username": "ada", "password": PASSWORD})
    headers = {"Authorization": f"Token {answer.json()['token']}"}
    listed = client.get("/api/collections/", headers=headers).json()
    assert [(row["slug"], row["role"]) for row in listed] == [("harbour", "admin")]


@pytest.mark.usefixtures("everyone_creates")
def test_create_and_read_a_collection(world: World, client: Client) -> None:
    client.force_login(world.dan)
    answer = post(client, "collections/", {"slug": "tides", "name": "Tides", "question": "Does it help?"})
    assert answer.status_code == 201
    body = client.get("/api/collections/tides/").json()
    assert (body["name"], body["question"], body["role"]) == ("Tides", "Does it help?", "admin")
    assert body["counts"] == {"queries": 0, "documents": 0, "runs": 0, "pools": 0}


@pytest.mark.usefixtures("everyone_creates")
@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"slug": "harbour", "name": "Again"}, 409, "slug"),
        ({"slug": "not a slug", "name": "Tides"}, 400, "slug"),
        ({"slug": "tides"}, 400, "name"),
        ({"slug": "tides", "name": " "}, 400, "name"),
        ({"slug": "tides", "name": "Tides", "question": "x" * 301}, 400, "question"),
    ],
)
def test_a_refused_collection_names_its_field(
    world: World, client: Client, body: dict[str, str], status: int, field: str
) -> None:
    client.force_login(world.dan)
    answer = post(client, "collections/", body)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert set(problem) == {"title", "status", "detail", "fields"}
    assert field in problem["fields"]
    assert world.dan.collections.count() == 0


def test_add_a_member(world: World, client: Client) -> None:
    world.ada.is_staff = True
    world.ada.save()
    client.force_login(world.ada)
    answer = post(client, "collections/harbour/members/", {"username": "dan", "role": "viewer"})
    assert answer.status_code == 201
    listed = client.get("/api/collections/harbour/members/").json()
    assert {"dan": "viewer"}.items() <= {row["username"]: row["role"] for row in listed}.items()
    again = post(client, "collections/harbour/members/", {"username": "dan", "role": "admin"})
    assert again.status_code == 409


def test_import_queries_documents_and_a_run_then_pool_it(world: World, client: Client) -> None:
    client.force_login(world.ada)
    answer = send(client, "collections/harbour/queries/", "q.tsv", "id\ttext\nq7\ttram\n")
    assert (answer.status_code, answer.json()["created"]) == (201, 1)
    answer = send(
        client, "collections/harbour/documents/", "corpus.jsonl", '{"_id": "d8", "text": "Tram."}\n'
    )
    assert (answer.status_code, answer.json()["created"]) == (201, 1)
    for name in ("bm25", "dense"):
        answer = send(client, "collections/harbour/runs/", "up.run", run_text(ALPHA), name=name)
        assert answer.status_code == 201
        assert (answer.json()["name"], answer.json()["rows"], answer.json()["queries"]) == (name, 9, 3)
    body = {
        "name": "p",
        "runs": ["dense", "bm25"],
        "depth": 2,
        "strategy": "rrf",
        "audit_share": 0.5,
        "seed": 3,
        "depths": {"dense": 3},
    }
    answer = post(client, "collections/harbour/pools/", body)
    assert answer.status_code == 201
    assert (answer.json()["pairs"], answer.json()["queries"]) == (9, 3)
    pools = client.get("/api/collections/harbour/pools/").json()
    told = [(pool["id"], pool["seed"], pool["depth"], pool["depths"]) for pool in pools]
    assert told == [(answer.json()["id"], 3, 2, {"dense": 3})]
    assert [run["name"] for run in client.get("/api/collections/harbour/runs/").json()] == ["bm25", "dense"]


def test_large_work_answers_with_a_job(
    world: World,
    client: Client,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_UPLOAD_BYTES = 10
    settings.BACKGROUND_POOL_PAIRS = 1
    client.force_login(world.ada)
    with django_capture_on_commit_callbacks(execute=True):
        answer = send(client, "collections/harbour/runs/", "bm25.run", run_text(ALPHA))
    assert answer.status_code == 202
    job = client.get(f"/api/jobs/{answer.json()['job']}/").json()
    assert set(job) == {"state", "progress", "detail", "result"}
    assert (job["state"], job["progress"], job["result"]["name"]) == ("done", 1.0, "bm25")
    with django_capture_on_commit_callbacks(execute=True):
        body = {"name": "p", "runs": ["bm25"], "depth": 2, "strategy": "rrf", "audit_share": 0}
        answer = post(client, "collections/harbour/pools/", body)
    assert answer.status_code == 202
    job = client.get(f"/api/jobs/{answer.json()['job']}/").json()
    assert (job["state"], job["result"]["pairs"]) == ("done", 6)


@pytest.mark.parametrize("background", [True, False])
def test_a_refused_pool_names_its_field_at_once(
    world: World, client: Client, settings: Settings, background: bool
) -> None:
    settings.BACKGROUND_POOL_PAIRS = 0 if background else 5000
    world.build_pool()
    client.force_login(world.ada)
    for change, field, status in [
        ({"depth": 0}, "depth", 400),
        ({"depths": {"alpha": 0}}, "depths", 400),
        ({"depths": {"beta": 3}}, "depths", 400),
        ({"runs": []}, "runs", 400),
        ({"runs": ["gamma"]}, "runs", 400),
        ({"budget": 0}, "budget", 400),
        ({"audit_share": 1.5}, "audit_share", 400),
        ({"strategy": "guess"}, "strategy", 400),
        ({"ties": "coin"}, "ties", 400),
        ({"seed": 2**64}, "seed", 400),
        ({"name": "first pool"}, "name", 409),
    ]:
        body: dict[str, Any] = {"name": "p", "runs": ["alpha"], "depth": 2, **change}
        answer = post(client, "collections/harbour/pools/", body)
        assert answer.status_code == status
        assert field in answer.json()["fields"]
        assert world.collection.pools.count() == 1
        assert not world.collection.jobs.exists()
