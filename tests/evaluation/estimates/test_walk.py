"""A campaign on a collection whose relevant documents are all known, from the pilot to complete labels: after
every step truth, estimate, bounds and words agree, and judging more never leaves a worse sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evaluation.reports.making import ReportRequest, create_requested
from labeling.adaptive.options import AdaptiveOptions
from labeling.judging.leases import claim
from labeling.models import Queue
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import release_qrels
from labeling.queues.opening import open_queue
from pooling.formats import read_qrels, read_run
from pooling.models import Pool, Run
from pooling.pools.building import build_pool
from pooling.pools.versions import extend_pool
from pooling.ranking.ranking import order_run
from pooling.runs.stored import import_run
from pooling.texts.importing import import_queries
from tests.labeling.helpers import judge
from tests.testdata import DATA, needs_data
from tests.world import World

PAIR = ["query_id", "document_id"]
CRANFIELD = DATA / "cranfield"
RUNS, QUERIES, DEPTH, REACH, K = ("bm25s", "lsa", "tfidf"), 30, 5, 100, 10


@dataclass
class Campaign:
    """The first queries of the collection with its runs and all its documents."""

    world: World
    runs: dict[str, Run]
    relevant: set[tuple[str, str]]

    def judge(self, queue: Queue, most: int | None = None) -> int:
        count = 0
        while (most is None or count < most) and (leases := claim(queue, self.world.ben, 10).leases):
            for lease in leases:
                pair = lease.item.query.external_id, lease.item.document.external_id
                verdict = "relevant" if pair in self.relevant else "not_relevant"
                judge(queue, self.world.ben, lease.item_id, verdict)
            count += len(leases)
        return count

    def opened(self, pool: Pool, **options: Any) -> Queue:
        return open_queue(pool, name=pool.name, judgments_per_item=1, user=self.world.ada, **options)

    def report(self, name: str) -> Any:
        release_qrels(self.world.collection, name=name, user=self.world.ada)
        runs = [run.name for run in self.runs.values()]
        return create_requested(self.world.collection, ReportRequest(k=[K], runs=runs)).result

    def truth(self, run: str, within: set[tuple[str, str]] | None = None) -> float:
        """Mean recall of a run over what is relevant: in all, or within some pairs."""
        shares: dict[str, list[bool]] = {}
        for pair in self.relevant if within is None else self.relevant & within:
            shares.setdefault(pair[0], []).append(pair in firsts(run, K))
        return sum(sum(found) / len(found) for found in shares.values()) / len(shares)


@cache
def firsts(run: str, k: int) -> set[tuple[str, str]]:
    ranked = order_run(read_run(CRANFIELD / "runs" / f"{run}.run").frame, depth=k)
    return set(ranked.select(PAIR).rows())


@pytest.fixture
def campaign(world: World, tmp_path: Path) -> Campaign:
    qrels = read_qrels(CRANFIELD / "qrels.txt").frame.filter(pl.col("relevance") > 0)
    names = sorted(qrels["query_id"].unique())[:QUERIES]
    collection = world.collection
    collection.queries.all().delete()
    collection.documents.all().delete()
    lines = (CRANFIELD / "queries.jsonl").read_text().split("\n")
    asked = tmp_path / "queries.jsonl"
    asked.write_text("".join(f"{line}\n" for line in lines if line and json.loads(line)["_id"] in names))
    import_queries(collection, asked)
    runs = {name: import_run(collection, CRANFIELD / "runs" / f"{name}.run") for name in RUNS}
    relevant = set(qrels.filter(pl.col("query_id").is_in(names)).select(PAIR).rows())
    return Campaign(world, runs, relevant)


@needs_data
@pytest.mark.anywhere
@pytest.mark.slow
def test_judging_more_never_says_less_of_the_truth(campaign: Campaign) -> None:
    collection, runs = campaign.world.collection, list(campaign.runs.values())
    frame = set[tuple[str, str]]().union(*(firsts(run, REACH) for run in RUNS))
    truth = {run: campaign.truth(run, frame) for run in RUNS}

    pilot = build_pool(collection, name="pilot", runs=runs, depth=DEPTH)
    campaign.judge(campaign.opened(pilot))
    first = campaign.report("pilot")
    assert first["answer"]["basis"] == "labels"
    assert first["answer"]["low"] is None
    assert first["estimates"]["runs"] == {}
    assert first["answer"]["recall"] > truth[first["answer"]["run"]] + 0.1

    chosen = {"depth": K, "reach": REACH, "strategy": "learned", "audit_share": 0.5, "seed": 1}
    audited = build_pool(collection, name="audited", runs=runs, budget=QUERIES * 24, **chosen)
    queue = campaign.opened(audited, adaptive=AdaptiveOptions())
    campaign.judge(queue, QUERIES * 6)
    half = campaign.report("half")
    told(half, truth)
    campaign.judge(queue)
    finished = campaign.report("finished")
    told(finished, truth)
    assert finished["answer"]["basis"] == "estimate"
    assert off(finished, truth) < abs(first["answer"]["recall"] - truth[first["answer"]["run"]]) / 2

    extended = extend_pool(audited, name="extended", depth=2 * K, budget=QUERIES * 12)
    waiting = campaign.report("waiting")
    for key in ("basis", "recall", "low", "high", "frame", "found", "sentence"):
        assert waiting["answer"][key] == finished["answer"][key], "a pool that nobody judged changes nothing"
    campaign.judge(campaign.opened(extended))
    more = campaign.report("more")
    told(more, truth)
    assert more["answer"]["basis"] == "estimate"
    assert more["answer"]["recall"] > finished["answer"]["low"], "it does not fall for being judged further"
    assert width(more) < width(finished) * 1.1

    shallow = build_pool(collection, name="shallow", runs=runs, depth=DEPTH, audit_share=0.2)
    campaign.judge(campaign.opened(shallow))
    again = campaign.report("again")
    assert again["answer"]["recall"] == more["answer"]["recall"]
    assert again["estimates"]["pool"]["name"] == "extended"

    path = campaign.world.folder / "all.qrels"
    path.write_text("".join(f"{query} 0 {document} 1\n" for query, document in sorted(campaign.relevant)))
    import_qrels(collection, path, complete=True)
    last = campaign.report("whole")
    whole = last["answer"]
    assert whole["basis"] == "complete"
    assert whole["recall"] == pytest.approx(campaign.truth(whole["run"]))
    assert whole["low"] < whole["recall"] < whole["high"]
    assert last["runs"][whole["run"]][f"recall@{K}"]["estimate"] is None


def told(result: Any, truth: dict[str, float]) -> None:
    """What is said holds the truth, everywhere alike."""
    answer = result["answer"]
    figure = result["runs"][answer["run"]][f"recall@{K}"]
    assert answer["low"] <= truth[answer["run"]] <= answer["high"]
    assert answer["found"]["recall"] == figure["mean"]
    if answer["basis"] == "estimate":
        assert figure["estimate"]["value"] == answer["recall"]
        assert "were seen" in result["estimates"]["sentence"]
    else:
        assert figure["estimate"] is None
        assert "a span is all that can be said" in result["estimates"]["sentence"]


def off(result: Any, truth: dict[str, float]) -> float:
    return abs(float(result["answer"]["recall"]) - truth[result["answer"]["run"]])


def width(result: Any) -> float:
    return float(result["answer"]["high"] - result["answer"]["low"])
