"""The width that a plan expects of the headline, next to campaigns on a collection judged whole."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.bench_headline import Ground, K, ground, ground_of, static
from evaluation.estimates.from_audit import recall_estimates
from evaluation.plans.headline_width import UNEVEN, ExpectedQueries, beyond_pool
from evaluation.plans.words import headline_sentences
from pooling.merging.choice import Choice
from pooling.models import Query
from pooling.runs.stored import import_run
from pooling.texts.importing import import_documents, import_queries
from tests.evaluation.plans.test_plans import planned
from tests.testdata import DATA, needs_data
from tests.world import World

CRANFIELD = DATA / "cranfield"
TOP, REACH, DRAWS = 10, 300, 3


def queries(probability: float = 0.1, missed: float = 4.0) -> ExpectedQueries:
    """Fifty alike, of which a run found two relevant documents and missed one, and `missed` below."""
    each = np.full(50, 1.0)
    return ExpectedQueries(2 * each, each, 0 * each, missed * each, probability * each)


def test_more_labels_and_more_queries_narrow_the_headline_and_a_deeper_frame_widens_it() -> None:
    wide, narrow, narrower = (queries(share).width() or 0 for share in (0.05, 0.1, 0.4))
    assert 1 > wide > narrow > narrower > 0
    assert (queries().width(times=4) or 0) == pytest.approx(narrow / 2, rel=0.1)
    # Twice as deep for the same labels: half the share, and more to be missed.
    assert (queries(0.05, 5.0).width() or 0) > narrow


def test_all_judged_leaves_the_choice_of_queries_alone_and_few_finds_the_exact_bound() -> None:
    none = np.zeros(50)
    whole = ExpectedQueries(none + 2, none + 5, none, none, np.full(50, np.nan)).width() or 0
    assert 0 < whole < (queries(0.4).width() or 0)
    assert not queries(0.01).is_macro()
    # A hundred found, fifty missed; two of what was drawn with a hundredth leave more than 200 open.
    assert (queries(0.01).width() or 0) > 100 / 150 - 100 / 350
    few = np.ones(9)
    assert not ExpectedQueries(few, few, 0 * few, few, few).is_macro()


def test_queries_that_differ_more_have_a_wider_headline() -> None:
    for even in (queries(), queries(0.05, 5.0)):
        assert (even.width(shape=UNEVEN) or 0) > (even.width() or 0) > (even.width(shape=10.0) or 0)


def test_few_drawn_relevant_documents_leave_open_which_queries_were_asked_as_well() -> None:
    # Nothing is expected of what is drawn, so that no campaign is a mean over queries.
    few = queries(1e-9)
    certain = np.ones(50)
    whole = ExpectedQueries(2 * certain, certain, 0 * certain, 0 * certain, np.nan * certain).width() or 0
    # Of 100 found and 50 missed any number may be missed besides: from 0 to 2/3, and above by half the width.
    assert few.width() == pytest.approx(2 / 3 + whole / 2, abs=1e-3)


@pytest.mark.parametrize(("likely", "is_said"), [(0.2, True), (0.3, False)])
def test_the_upper_end_is_pointed_to_only_where_it_is_not_the_likely_width(
    likely: float, is_said: bool
) -> None:
    headline: Any = {
        "k": 10,
        "reaches": [{"is_whole": False, "documents": 300.0}],
        "has_audit": True,
        "is_macro": True,
        "width": likely,
        "width_low": 0.1,
        "width_high": 0.3,
    }
    (sentence,) = headline_sentences(headline, REACH)
    assert ("Plan with the upper end" in sentence) == is_said


def test_relevant_documents_grow_with_a_root_of_the_frame() -> None:
    sizes, frames = np.array([10.0, 10.0, 0.0]), np.array([40.0, 10.0, 0.0])
    assert beyond_pool(np.array([3.0, 3.0, 0.0]), sizes, frames, 0.5).tolist() == [3.0, 0.0, 0.0]


def measured(base: Ground, drawn: int) -> float:
    """The mean width of the headline's interval over a few campaigns and all runs."""
    widths = []
    for seed in range(1, DRAWS + 1):
        for found in recall_estimates(static(base, drawn, seed), base.places, [K]).values():
            headline = found[f"recall@{K}"]["headline"]
            assert headline["low"] is not None
            assert headline["high"] is not None
            widths.append(headline["high"] - headline["low"])
    return float(np.mean(widths))


@needs_data
@pytest.mark.anywhere
@pytest.mark.slow
def test_the_expected_width_is_that_of_campaigns_on_cranfield(world: World) -> None:
    base = ground("cranfield")
    collection = world.collection
    collection.queries.all().delete()
    asked = set(base.ordered["query_id"])
    lines = (CRANFIELD / "queries.jsonl").read_text().split("\n")
    path = world.folder / "queries.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines if line and json.loads(line)["_id"] in asked))
    import_queries(collection, path)
    import_documents(collection, CRANFIELD / "corpus.jsonl")
    runs = [import_run(collection, one).name for one in sorted((CRANFIELD / "runs").iterdir())]
    in_pool = base.relevant.join(base.ordered, on=["query_id", "document_id"], how="semi").height
    truth = {"relevant_share": in_pool / base.ordered.height}
    settings: dict[str, Any] = {"runs": runs, "depth": 10, "strategy": "rrf"}
    frames = pl.concat([base.ordered["query_id"], base.beyond["query_id"]]).value_counts()["count"]
    for drawn in (10, 20):
        budget, share = base.queries * (TOP + drawn), drawn / (TOP + drawn)
        chosen = {**settings, "budget": budget, "audit_share": share, "reach": REACH}
        width = measured(base, drawn)
        told, unknown = (planned(world, **chosen, **more)["headline"] for more in (truth, {}))
        pool, reach = told["reaches"]
        # Within a quarter of the width that is; nobody knows how much is relevant, and the range holds it.
        assert told["width"] == pytest.approx(width, rel=0.25)
        assert unknown["width_low"] < width < unknown["width_high"]
        assert reach["documents"] == pytest.approx(frames.median(), rel=0.15)
        assert (pool["reach"], reach["reach"]) == (None, REACH)
        # What a reach costs: wider for the same budget.
        (row,) = [row for row in told["budgets"] if row["is_planned"]]
        assert row["budget"] == budget
        assert row["widths"][0]["width"] < row["widths"][1]["width"] == pytest.approx(told["width"])


FRAME, ASKED = 400, 40


def uneven_runs() -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Three runs whose queries have from one to some hundred relevant documents, and these."""
    random = np.random.default_rng(3)
    names, documents = [f"u{at:02}" for at in range(ASKED)], [f"d{at:03}" for at in range(FRAME)]
    numbers = np.exp(random.normal(np.log(10), 1.0, ASKED)).round().clip(1, FRAME // 2)
    relevant = random.random((ASKED, FRAME)).argsort(axis=1) < numbers[:, None]
    alike = random.normal(size=relevant.shape)
    pairs = pl.DataFrame({"query_id": np.repeat(names, FRAME), "document_id": np.tile(documents, ASKED)})
    scores = [2 * relevant + 0.7 * alike + 0.7 * random.normal(size=relevant.shape) for _ in range(3)]
    runs = {f"run{at}": pairs.with_columns(score=one.ravel()) for at, one in enumerate(scores)}
    return runs, pairs.filter(relevant.ravel())


@pytest.mark.anywhere
@pytest.mark.slow
def test_campaigns_on_queries_that_differ_much_are_no_wider_than_the_upper_end(world: World) -> None:
    runs, relevant = uneven_runs()
    base = ground_of(runs, relevant, Choice(TOP, reach=FRAME, audit_share=0.5))
    asked = relevant["query_id"].unique()
    Query.objects.bulk_create(Query(collection=world.collection, external_id=one, text=one) for one in asked)
    for name, run in runs.items():
        path = world.folder / f"{name}.run"
        lines = run.select(pl.format("{} Q0 {} 0 {} x", "query_id", "document_id", "score")).to_series()
        path.write_text("\n".join(lines) + "\n")
        import_run(world.collection, path)
    in_pool = relevant.join(base.ordered, on=["query_id", "document_id"], how="semi").height
    for drawn in (5, 10, 20):
        headline = planned(
            world,
            runs=list(runs),
            depth=TOP,
            budget=ASKED * (TOP + drawn),
            audit_share=drawn / (TOP + drawn),
            reach=FRAME,
            relevant_share=in_pool / base.ordered.height,
        )["headline"]
        assert headline["width_low"] < measured(base, drawn) < headline["width_high"] < 1
        assert headline["sentences"][0].endswith("which allows for queries that differ much.")
