"""A campaign on DL 2019 with a model of known error rates: what page and report say of it holds the truth."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from evaluation.models import Report
from evaluation.reports.making import ReportInput, create_report
from evaluation.scoring.conventions import Conventions
from labeling.adaptive.options import AdaptiveOptions
from labeling.judging.leases import claim
from labeling.models import Prelabel, Prelabeler, Queue
from labeling.prelabels.options import prelabeler_for
from labeling.prelabels.passes import PassOptions, run_here
from labeling.qrels.releases import release_qrels
from labeling.quality.samples import Wanted, open_sample, samples_of
from labeling.quality.worth import worth
from labeling.queues.opening import open_queue
from pooling.models import Collection, Document, Pool
from pooling.pools.building import build_pool
from pooling.runs.stored import import_run
from pooling.texts.importing import import_documents, import_queries
from tests.labeling.helpers import judge
from tests.labeling.model_server import ModelServer, noisy_judge
from tests.testdata import DATA, needs_data
from tests.world import World

pytestmark = [pytest.mark.anywhere, pytest.mark.slow, pytest.mark.django_db, pytest.mark.data, needs_data]
FOLDER = DATA / "dl19"
SENSITIVITY, SPECIFICITY = 0.8, 0.9
QUERIES, BUDGET = 20, 240


def relevant_pairs() -> set[tuple[str, str]]:
    rows = (line.split() for line in (FOLDER / "qrels.txt").read_text().splitlines())
    return {(query, document) for query, _, document, label in rows if int(label) >= 2}


def judge_all(world: World, queue: Queue, relevant: set[tuple[str, str]]) -> None:
    while leases := claim(queue, world.ben, 50).leases:
        for lease in leases:
            pair = lease.item.query.external_id, lease.item.document.external_id
            judge(queue, world.ben, lease.item_id, "relevant" if pair in relevant else "not_relevant")


def campaign(world: World, collection: Collection) -> Pool:
    queries = world.folder / "queries.jsonl"
    lines = (FOLDER / "queries.jsonl").read_text().splitlines(keepends=True)
    queries.write_text("".join(lines[:QUERIES]))
    import_queries(collection, queries)
    names = {line.split('"')[3] for line in lines[:QUERIES]}
    runs = []
    for name in ("bm25", "tas-b", "repllama"):
        path = world.folder / f"{name}.run"
        rows = (FOLDER / "runs" / f"{name}.run").read_text().splitlines(keepends=True)
        path.write_text("".join(row for row in rows if row.split(None, 1)[0] in names))
        runs.append(import_run(collection, path))
    pool = build_pool(
        collection,
        name="top 10",
        runs=runs,
        depth=10,
        strategy="learned",
        budget=BUDGET,
        audit_share=0.5,
        seed=4,
    )
    import_documents(collection, FOLDER / "corpus.jsonl", only_pooled=True)
    return pool


def asked(queue: Queue, relevant: set[tuple[str, str]]) -> Prelabeler:
    texts = dict(Document.objects.filter(collection=queue.collection).values_list("text", "external_id"))
    names = dict(queue.collection.queries.values_list("text", "external_id"))

    def truth(query: str, document: str) -> bool:
        text = document.partition("\n\n")[2] or document
        return (names[query.strip()], texts.get(document) or texts[text]) in relevant

    with ModelServer(noisy_judge(truth, SENSITIVITY, SPECIFICITY)) as server:
        prelabeler = prelabeler_for(queue.collection, "noisy", base_url=server.base_url)
        job = run_here(queue, prelabeler, PassOptions(concurrency=16))
    assert (job.state, job.failed_count) == ("done", 0)
    return prelabeler


def test_figures_samples_and_estimates_hold_the_known_rates(world: World, settings: Settings) -> None:
    relevant = relevant_pairs()
    collection = Collection.objects.create(slug="dl19", name="TREC DL 2019")
    collection.memberships.create(user=world.ben, role="annotator")
    pool = campaign(world, collection)
    queue = open_queue(pool, seed=1, adaptive=AdaptiveOptions())
    prelabeler = asked(queue, relevant)
    judge_all(world, queue, relevant)

    found = worth(prelabeler)
    assert found["labels"] >= BUDGET
    shares = {one["name"]: one for one in found["shares"]}
    assert shares["recall"]["low"] <= SENSITIVITY <= shares["recall"]["high"]
    cells = found["confusion"]
    assert cells.neither / (cells.neither + cells.model_only) == pytest.approx(SPECIFICITY, abs=0.06)
    begin = f"On {found['labels']} blind labels of {found['queries']} queries this model saves about "
    assert found["verdict"].startswith(begin)
    assert 0 < found["audited"] < found["labels"]

    release = release_qrels(collection, name="first")
    runs = list(collection.runs.all())
    report: Report = create_report(
        collection,
        ReportInput(release=release, runs=runs, k=(10,), measures=("recall",), conventions=Conventions()),
    )
    estimates = report.result["estimates"]
    powered = estimates["prediction_powered"]
    pooled = set(pool.entries.values_list("query__external_id", "document__external_id"))
    assert (powered["predicted"], powered["prelabeler"]["name"]) == (1.0, str(prelabeler))
    human, helped = powered["relevant"]["human"], powered["relevant"]["powered"]
    for one in (human, helped):
        assert one["low"] <= len(pooled & relevant) <= one["high"]
    assert helped["high"] - helped["low"] < 0.9 * (human["high"] - human["low"])
    assert human["value"] == estimates["relevant"]["value"]

    said = Prelabel.objects.filter(prelabeler=prelabeler, verdict="not_relevant")
    negatives = set(said.values_list("query__external_id", "document__external_id"))
    sample = open_sample(prelabeler, Wanted("half_width", 0.1), Wanted(None, 0.1), seed=5)
    judge_all(world, sample, relevant)
    told = samples_of(prelabeler)[0]["negatives"]
    assert told["labelled"] == told["drawn"] < told["population"] == len(negatives)
    assert told["low"] <= len(negatives & relevant) / len(negatives) <= told["high"]
