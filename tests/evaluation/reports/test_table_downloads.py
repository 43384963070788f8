"""Every table that can be taken away, of a collection whose names, ids and texts are formulas."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest
from django.test import Client

from evaluation.charts.stored import kinds_of
from evaluation.models import Report
from evaluation.reports.making import ReportInput, create_report
from evaluation.scoring.conventions import Conventions
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import release_qrels
from labeling.queues.opening import open_queue
from pooling.formats.cells import guarded
from pooling.models import Document, Query
from pooling.people.membership import create_collection
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from tests.labeling.helpers import judge
from tests.world import World

pytestmark = pytest.mark.anywhere

QUERIES, DOCUMENTS, RUNS = ("=q1", "-q2"), ("@d1", "+d2", "=d3"), ("=alpha", "@beta")


@pytest.fixture
def report(world: World, tmp_path: Path) -> Report:
    """A report of two runs on two queries; one pair was judged with a note."""
    collection = create_collection(world.ada, slug="formulas", name="=Formulas")
    metadata = {"tags": ["=tag"]}
    Query.objects.bulk_create(
        Query(collection=collection, external_id=one, text=f"={one}", metadata=metadata) for one in QUERIES
    )
    Document.objects.bulk_create(Document(collection=collection, external_id=one) for one in DOCUMENTS)
    runs = []
    for name, ranked in zip(RUNS, (DOCUMENTS, DOCUMENTS[::-1]), strict=True):
        path = tmp_path / "ranked.run"
        lines = (f"{q} Q0 {d} {n} {9 - n} tag\n" for q in QUERIES for n, d in enumerate(ranked))
        path.write_text("".join(lines))
        runs.append(import_run(collection, path, name=name, user=world.ada))
    path = tmp_path / "labels.qrels"
    path.write_text("".join(f"{q} 0 {d} {int(d == '@d1')}\n" for q in QUERIES for d in DOCUMENTS[:2]))
    import_qrels(collection, path, user=world.ada)
    release = release_qrels(collection, name="=labels", user=world.ada)
    asked = {"k": [1, 2], "measures": ["recall"], "conventions": Conventions()}
    return create_report(collection, ReportInput(release=release, runs=runs, **asked), user=world.ada)


def cells_of(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline=""), strict=True) for cell in row]


def taken(client: Client, path: str) -> bytes:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return b"".join(answer) if answer.streaming else answer.content


def addresses(report: Report) -> list[str]:
    at, of = f"/reports/{report.pk}", "run=%3Dalpha&k=1&a=%3Dalpha&b=%40beta"
    return [
        f"{at}/download/csv/",
        f"{at}/download/per-query/",
        f"{at}/where/download/csv/?by=tag&{of}",
        f"{at}/queries/?format=csv&{of}",
        f"{at}/queries/download/missed/?{of}",
        f"{at}/comparisons/labels.csv?{of}",
        *(f"{at}/charts/{name}/download/csv/?{of}" for name in kinds_of(report)),
    ]


def test_no_table_of_a_report_calculates(world: World, client: Client, report: Report) -> None:
    client.force_login(world.ada)
    tables = {path: taken(client, path).decode() for path in addresses(report)}
    with zipfile.ZipFile(io.BytesIO(taken(client, f"/reports/{report.pk}/download/bundle/"))) as bundle:
        tables |= {name: bundle.read(name).decode() for name in bundle.namelist() if name.endswith(".csv")}
    for path, table in tables.items():
        cells = cells_of(table)
        assert [cell for cell in cells if cell[:1] != "'" and guarded(cell) != cell] == [], path
    assert "'=alpha" in cells_of(tables[addresses(report)[0]])


def test_no_table_of_labels_and_judgments_calculates(world: World, client: Client, report: Report) -> None:
    collection = report.collection
    pool = build_pool(collection, name="=pool", runs=list(collection.runs.all()), depth=2, user=world.ada)
    queue = open_queue(pool, name="=queue", user=world.ada)
    world.ada.username = "@ada"
    world.ada.save()
    judge(queue, world.ada, queue.items.earliest("pk").pk, note="=note")
    client.force_login(world.ada)
    for path in (
        "/api/collections/formulas/qrels?release=%3Dlabels&format=csv",
        "/api/collections/formulas/judgments/?format=csv",
        "/api/collections/formulas/judgments/?format=tsv",
    ):
        table = taken(client, path).decode()
        cells = [cell for line in table.splitlines() for cell in line.split("\t" if "tsv" in path else ",")]
        assert [cell for cell in cells if cell[:1] != "'" and guarded(cell) != cell] == [], path
        assert {"'=q1", "'-q2"} & set(cells)
