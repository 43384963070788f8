"""The whole way over HTTP against a running site: with our client, and with a generated one."""

from __future__ import annotations

import contextlib
import importlib
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command
from django.test import Client as Browser
from pytest_django.live_server_helper import LiveServer

import soundings
from soundings.client.problems import Conflict, NotFound, NotSignedIn, Refused
from tests.world import ALPHA, BETA, DOCUMENTS, PASSWORD, QUERIES, RELEVANT, run_text

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("everyone_creates")]
RUNS = {
    name: {query: {d: 9.0 - rank for rank, d in enumerate(found)} for query, found in ranking.items()}
    for name, ranking in {"alpha": ALPHA, "beta": BETA}.items()
}


@pytest.fixture
def ada(live_server: LiveServer, django_user_model: Any) -> str:
    """A token of Ada, whose account is new."""
    django_user_model.objects.create_user("ada", password=PASSWORD)
    body = {"username": "ada", "password": PASSWORD}
    token = Browser().post("/api/token/", body, content_type="application/json").json()["token"]
    return str(token)


def verdict_on(item: dict[str, Any]) -> str:
    pair = item["query"]["id"], item["document"]["id"]
    return "relevant" if pair in RELEVANT else "not_relevant"


def test_our_client_goes_the_whole_way(live_server: LiveServer, ada: str, tmp_path: Path) -> None:
    with soundings.Client(live_server.url, ada) as client:
        go_the_whole_way(client, tmp_path)


def go_the_whole_way(client: soundings.Client, folder: Path) -> None:
    """From nothing to a report."""
    mine = client.create_collection("mine", "Mine", question="Does it help?")
    assert mine.import_queries(QUERIES)["created"] == 3
    texts = {name: {"title": title, "text": text} for name, (title, text) in DOCUMENTS.items()}
    assert mine.import_documents(texts)["created"] == 6
    records = [{"_id": name, **record} for name, record in texts.items()]
    assert mine.import_documents(records)["unchanged"] == 6
    alpha = mine.import_run(RUNS["alpha"], "alpha")
    path = folder / "beta.run"
    path.write_text(run_text(BETA))
    mine.import_run(path, "beta")
    assert alpha.frame()["document_id"].to_list() == [name for found in ALPHA.values() for name in found]

    pool = mine.build_pool(depth=2)
    assert set(pool.pairs().columns) > {"query_id", "document_id", "position"}
    queue = pool.open_queue()
    items = queue.claim(50)
    judged = queue.judge(
        [
            {"item": item["item"], "lease": item["lease"], "version": item["version"]}
            | {"key": f"key-{item['item']}", "verdict": verdict_on(item)}  # type: ignore[list-item]
            for item in items
        ]
    )
    assert {one["status"] for one in judged} == {"stored"}
    assert queue.progress()["judged"] == 1

    qrels = mine.make_release("v1").qrels()
    assert {(q, d) for q, d, grade in qrels.rows() if grade} == RELEVANT
    release = mine.release("v1")
    assert b'"_index":"docs-1"' in release.file("rank-eval", index="docs-1", k=2).replace(b" ", b"")
    assert release.file("ragas", run="alpha").count(b"\n") == 3
    with pytest.raises(Refused, match="needs the option “index” "):
        release.file("rank-eval")
    with pytest.raises(TypeError, match="There is no option indx; there are index, "):
        release.file("rank-eval", indx="docs-1")
    report = mine.report(k=[1, 2])
    here = soundings.evaluate(qrels, RUNS, k=[1, 2])
    same = ["run", "measure", "k", "mean", "low", "high"]
    recalls = [table[table["measure"] == "recall"][same] for table in (report.summary(), here.summary())]
    pd.testing.assert_frame_equal(*[table.reset_index(drop=True) for table in recalls])
    assert report.convention_line("alpha", "recall", 2) == here.convention_line("alpha", "recall", 2)
    assert report.comparisons()["difference"].to_list() == [
        pytest.approx(soundings.compare(here, "alpha", "beta", "recall@2").difference)
    ]
    assert "<table" in report._repr_html_()
    with pytest.raises(ValueError, match=r"report.comparisons\(\) has its comparisons"):
        soundings.compare(report, "alpha", "beta")
    values = report.per_query().query("run == 'alpha' and measure == 'recall' and k == 2")
    assert values["value"].to_list() == [1, 1, 1]


def test_refusals_come_as_exceptions(live_server: LiveServer, ada: str) -> None:
    with soundings.Client(live_server.url, ada) as client:
        with pytest.raises(NotFound):
            client.collection("nowhere")
        mine = client.create_collection("mine", "Mine")
        with pytest.raises(Conflict) as taken:
            client.create_collection("mine", "Mine")
        assert "slug" in taken.value.fields
        with pytest.raises(Refused, match="no queries yet"):
            mine.import_run(RUNS["alpha"], "alpha")
        with pytest.raises(NotFound, match="no release “v1”"):
            mine.release("v1")
        with pytest.raises(
            ValueError, match=r"^nope\.run: the file cannot be opened \(no such file or direct"
        ):
            mine.import_run("/nope.run", "nope")
    with soundings.Client.signed_in(live_server.url, "ada", PASSWORD) as client:
        assert client.collections()
    with pytest.raises(NotSignedIn, match="Wrong name or password") as refused:
        soundings.Client.signed_in(live_server.url, "ada", "wrong")
    assert refused.value.fields == {}
    with pytest.raises(Refused, match="name: "):
        soundings.Client.signed_in(live_server.url, "ada", PASSWORD, name="n" * 1000)


@pytest.fixture
def generated(tmp_path: Path) -> Iterator[str]:
    """The name of a package that a generator made of the OpenAPI document; skipped without the generator."""
    pytest.importorskip("openapi_python_client", reason="openapi-python-client is not installed (extra dev)")
    schema = tmp_path / "schema.yaml"
    call_command("spectacular", "--file", str(schema), stdout=io.StringIO())
    target = tmp_path / "generated_soundings"
    made = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--path", str(schema)),
            *("--output-path", str(target), "--meta", "none", "--config", str(_settings(tmp_path))),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Endpoint will not be generated" not in made.stdout + made.stderr
    sys.path.insert(0, str(tmp_path))
    yield target.name
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == target.name]:
        del sys.modules[name]


def _settings(folder: Path) -> Path:
    """No formatter is called on what is generated."""
    path = folder / "generator.yaml"
    path.write_text("post_hooks: []\n")
    return path


class Generated:
    """The functions and classes of a generated package, by name."""

    def __init__(self, package: str, url: str, token: str) -> None:
        self._package = package
        module = importlib.import_module(package)
        self.client = module.AuthenticatedClient(base_url=url, token=token, prefix="Token")
        self.models = importlib.import_module(f"{package}.models")
        self.file = importlib.import_module(f"{package}.types").File

    def close(self) -> None:
        """End the connections."""
        self.client.get_httpx_client().close()

    def call(self, group: str, name: str, *address: Any, **given: Any) -> Any:
        """Call an operation; its answer is the object of the generated class."""
        with contextlib.suppress(KeyError):
            given["body"] = getattr(self.models, given.pop("shape")).from_dict(given["body"])
        function = importlib.import_module(f"{self._package}.api.{group}.{name}")
        answer = function.sync_detailed(*address, client=self.client, **given)
        assert answer.status_code < 300, answer.content
        return answer.parsed

    def upload(self, name: str, shape: str, content: str, file_name: str) -> Any:
        """Send a file into the collection `mine`."""
        file = self.file(payload=io.BytesIO(content.encode()), file_name=file_name)
        body = getattr(self.models, shape)(file=file)
        return self.call("collections", name, "mine", body=body)


@pytest.mark.anywhere
@pytest.mark.slow
def test_a_generated_client_goes_the_whole_way(generated: str, live_server: LiveServer, ada: str) -> None:
    with contextlib.closing(Generated(generated, live_server.url, ada)) as site:
        go_the_generated_way(site)


def go_the_generated_way(site: Generated) -> None:
    """From nothing to a report."""
    mine = {"slug": "mine", "name": "Mine"}
    site.call("collections", "collections_create", body=mine, shape="CollectionRequest")
    queries = "".join(f'{{"_id": "{key}", "text": "{text}"}}\n' for key, text in QUERIES.items())
    site.upload("collections_queries_create", "UploadRequest", queries, "queries.jsonl")
    run = site.upload("collections_runs_create", "RunUploadRequest", run_text(ALPHA), "alpha.run")
    assert run.queries == 3
    body = {"name": "pool", "runs": ["alpha"], "depth": 2, "strategy": "rrf", "audit_share": 0}
    pool = site.call("collections", "collections_pools_create", "mine", body=body, shape="PoolRequest")
    opened = {"name": "queue", "judgments_per_item": 1}
    queue = site.call("pools", "pools_queue_create", pool.id, body=opened, shape="QueueRequest")
    claimed = site.call("queues", "queues_claim_create", queue.id, body={"count": 50}, shape="ClaimRequest")
    verdicts = [
        site.models.SubmissionRequest.from_dict(
            {"item": item.item, "key": f"key-{item.item}", "verdict": "relevant", "lease": str(item.lease)}
        )
        for item in claimed.items
    ]
    judged = site.call("queues", "queues_judgments_create", queue.id, body=verdicts)
    assert {str(one.status) for one in judged.results} == {"stored"}
    release = {"name": "v1", "rule": "majority"}
    site.call("collections", "collections_releases_create", "mine", body=release, shape="ReleaseRequest")
    qrels = site.call("collections", "collections_qrels_download", "mine", release="v1")
    assert len(qrels.payload.read().splitlines()) == len(verdicts)
    asked = {"k": [1, 2]}
    made = site.call("collections", "reports_create", "mine", body=asked, shape="ReportRequest")
    report = site.call("reports", "reports_retrieve", made.id)
    assert report.runs["alpha"]["recall@2"]["mean"] == 1
    file = site.call("reports", "reports_files_retrieve", made.id, "csv")
    assert b"alpha" in file.payload.read()
