"""What pages of the first stage show, read and changed over HTTP."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import polars as pl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from pooling.models import Pool, Run
from tests.world import World

if TYPE_CHECKING:
    pass

HARBOUR = "/api/collections/harbour/"


@pytest.fixture
def http(world: World, client: Client) -> Client:
    world.build_pool()
    client.force_login(world.ada)
    return client


def test_queries_and_documents_are_read(http: Client) -> None:
    assert [query["id"] for query in http.get(f"{HARBOUR}queries/?q=bus").json()] == ["q1"]
    assert http.get(f"{HARBOUR}queries/q1/").json()["text"] == "night bus"
    found = http.get(f"{HARBOUR}documents/?q=d1").json()
    assert [document["title"] for document in found] == ["Night buses"]
    assert http.get(f"{HARBOUR}documents/d1/").json()["text"].startswith("Buses run all night")


def test_the_documents_of_a_pool_are_listed(http: Client) -> None:
    pool = Pool.objects.get()
    found = {document["id"] for document in http.get(f"{HARBOUR}documents/?pool={pool.pk}").json()}
    assert found == {"d1", "d2", "d3", "d4", "d5", "d6"}
    refused = http.get(f"{HARBOUR}documents/?pool=abc")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["pool"])
    missing = http.get(f"{HARBOUR}documents/?pool={10**30}")
    assert (missing.status_code, missing.json()["detail"][:9]) == (404, "Not found")


def test_a_document_that_is_known_is_not_sent_again(http: Client) -> None:
    first = http.get(f"{HARBOUR}documents/d1/")
    again = http.get(f"{HARBOUR}documents/d1/", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    assert again.content == b""


def test_a_run_is_read_with_its_rows(http: Client) -> None:
    run = Run.objects.get(name="alpha")
    assert http.get(f"/api/runs/{run.pk}/").json()["preflight"]["notes"] == []
    rows = http.get(f"/api/runs/{run.pk}/rows/?per_page=2&page=2").json()
    assert [(row["query"], row["document"], row["score"]) for row in rows] == [
        ("q1", "d5", 7.0),
        ("q2", "d2", 9.0),
    ]
    of_query = http.get(f"/api/runs/{run.pk}/rows/?query=q3")
    assert [row["document"] for row in of_query.json()] == ["d3", "d5", "d2"]
    assert of_query["X-Total-Count"] == "3"


def test_a_run_comes_as_a_file_once(http: Client) -> None:
    run = Run.objects.get(name="alpha")
    file = http.get(f"/api/runs/{run.pk}/file/")
    assert pl.read_parquet(io.BytesIO(file.getvalue())).height == 9
    again = http.get(f"/api/runs/{run.pk}/file/", headers={"If-None-Match": file["ETag"]})
    assert again.status_code == 304


def test_a_run_without_ranks_is_read_back_from_its_file(http: Client) -> None:
    def imported(name: str, content: bytes) -> HttpResponse:
        upload = {"file": SimpleUploadedFile(name, content), "name": name}
        answer: HttpResponse = http.post(f"{HARBOUR}runs/", upload)
        return answer

    made = json.loads(imported("gamma.csv", b"query_id,document_id,score\nq1,d1,2\n").content)
    file = http.get(f"/api/runs/{Run.objects.get(name='gamma.csv').pk}/file/").getvalue()
    again = json.loads(imported("again.parquet", file).content)
    assert again["rows"] == made["rows"] == 1


def test_a_pool_is_read_with_its_pairs(http: Client) -> None:
    pool = Pool.objects.get()
    assert http.get(f"/api/pools/{pool.pk}/").json()["runs"] == ["alpha", "beta"]
    pairs = http.get(f"/api/pools/{pool.pk}/pairs/?query=q1").json()
    assert {pair["document"] for pair in pairs} == {"d1", "d4"}
    assert pairs[0]["found_by"] == [{"run": "alpha", "rank": 2}, {"run": "beta", "rank": 1}]
    lines = http.get(f"/api/pools/{pool.pk}/file/").getvalue().decode().splitlines()
    assert lines[0].startswith("query_id\tdocument_id\tposition")


WRONG_HOSTS = [
    "https://a.example",
    "a.example/x",
    "a.example:443",
    "ada@a.example",
    "*.example",
    "*",
    "'self'",
    "data:",
    "a.example;script-src",
    "a.example,b.example",
    "bücher.example",
    "a..example",
    ".example",
    "example.",
    "-a.example",
    "x" * 64 + ".example",
]


def test_a_collection_is_edited(http: Client) -> None:
    changed = http.patch(
        f"{HARBOUR}",
        {"name": "The harbour", "question": "Does it help?", "language": "de"},
        content_type="application/json",
    )
    assert changed.status_code == 200
    assert changed.json()["question"] == "Does it help?"
    read = http.get(HARBOUR).json()
    assert (read["name"], read["language"], read["guidelines"]) == (
        "The harbour",
        "de",
        "Relevant *helps*.",
    )


def test_a_question_that_is_too_long_is_refused_by_name(http: Client) -> None:
    refused = http.patch(HARBOUR, {"question": "?" * 301}, content_type="application/json")
    assert refused.status_code == 400
    assert list(refused.json()["fields"]) == ["question"]


def test_image_hosts_are_names_of_hosts_in_one_form(http: Client) -> None:
    def patched(hosts: str) -> HttpResponse:
        answer: HttpResponse = http.patch(HARBOUR, {"image_hosts": hosts}, content_type="application/json")
        return answer

    changed = patched(" Images.example.org\r\nb.example  images.example.org")
    assert json.loads(changed.content)["image_hosts"] == "images.example.org\nb.example"
    for wrong in WRONG_HOSTS:
        refused = patched(f"a.example {wrong}")
        assert refused.status_code == 400, wrong
        (problem,) = json.loads(refused.content)["fields"].values()
        assert problem.startswith(f"“{wrong}” is not a host name. Write it as images.example.org,")
    assert json.loads(patched("\n".join(f"h{n}.example" for n in range(20))).content)["image_hosts"]
    refused = patched(" ".join(f"h{n}.example" for n in range(21)))
    assert json.loads(refused.content)["detail"].startswith("A collection has at most 20 image hosts")
    assert http.get(HARBOUR).json()["image_hosts"].split()[-1] == "h19.example"
    assert json.loads(patched("").content)["image_hosts"] == ""


def test_the_form_of_a_collection_takes_image_hosts(http: Client, world: World) -> None:
    page = f"/collections/{world.collection.slug}/edit/"
    kept = {"name": "Harbour", "question": "Does it help?", "image_hosts": "http://a.example"}
    assert "“http://a.example” is not a host name." in http.post(page, kept).content.decode()
    assert http.post(page, {**kept, "image_hosts": "a.example B.example"}).status_code == 302
    world.collection.refresh_from_db()
    assert world.collection.image_hosts == "a.example\nb.example"


def test_members_get_another_role_and_are_removed(http: Client) -> None:
    changed = http.patch(f"{HARBOUR}members/ben/", {"role": "viewer"}, content_type="application/json")
    assert changed.json()["role"] == "viewer"
    assert http.delete(f"{HARBOUR}members/ben/").status_code == 204
    assert "ben" not in {member["username"] for member in http.get(f"{HARBOUR}members/").json()}


def test_the_last_admin_stays(http: Client) -> None:
    refused = http.delete(f"{HARBOUR}members/ada/")
    assert refused.status_code == 400
    assert "only admin" in refused.json()["detail"]


def test_what_was_archived_and_deleted_is_listed(http: Client) -> None:
    pool = Pool.objects.get()
    http.patch(f"/api/pools/{pool.pk}/", {"archived": True}, content_type="application/json")
    (archived,) = http.get(f"{HARBOUR}tidied/").json()
    assert (archived["kind"], archived["id"], archived["restorable_until"]) == ("pool", pool.pk, None)
    http.delete(f"/api/pools/{pool.pk}/")
    (deleted,) = http.get(f"{HARBOUR}tidied/?state=deleted").json()
    assert deleted["name"] == "first pool"
    assert deleted["restorable_until"]
