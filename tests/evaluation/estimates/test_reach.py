"""Stored pools whose audit reaches deeper than they do: built, extended, judged in fixed and live orders."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluation.estimates.pool_file import design_of_files
from evaluation.estimates.sample import PAIR
from evaluation.estimates.stored_sample import read_sample
from evaluation.reports.making import ReportRequest, create_requested
from labeling.adaptive.next_documents import Course, Entry, History, Planner
from labeling.adaptive.options import AdaptiveOptions
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import claim
from labeling.models import QueryPlan, Queue
from labeling.qrels.releases import read_release, release_qrels
from labeling.queues.opening import open_queue
from pooling.formats.pools import read_pool
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Pool, PoolEntry, Run
from pooling.pools.building import build_pool, pool_lines
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from tests.ground import made_once
from tests.labeling.helpers import judge
from tests.world import World, run_text

#: Of each query the first run has these first; relevant are those of even number.
FIRST = [f"d{number:02}" for number in range(20)]
SECOND = [f"d{number:02}" for number in (1, 0, 3, 2, *range(20, 36))]
QUERIES = ("q1", "q2", "q3")
IDS = ("query__external_id", "document__external_id")


def is_relevant(document: str) -> bool:
    return int(document[1:]) % 2 == 0


@made_once
def runs(world: World) -> list[Run]:
    return [import_one(world, name, ranking) for name, ranking in (("first", FIRST), ("second", SECOND))]


def import_one(world: World, name: str, ranking: list[str]) -> Run:
    path = world.folder / f"{name}.run"
    path.write_text(run_text(dict.fromkeys(QUERIES, ranking)))
    return import_run(world.collection, path, user=world.ada)


def reaching(collection: Collection, runs: list[Run], **options: Any) -> Pool:
    chosen = {"depth": 4, "audit_share": 0.5, "reach": 20, "seed": 3, "strategy": "rrf", **options}
    return build_pool(collection, name="reaching", runs=runs, **chosen)


def judge_all(queue: Queue, annotator: User) -> int:
    count = 0
    while leases := claim(queue, annotator, 5).leases:
        for lease in leases:
            name = lease.item.document.external_id
            judge(queue, annotator, lease.item_id, "relevant" if is_relevant(name) else "not_relevant")
            count += 1
    return count


def test_only_what_is_drawn_has_a_row_and_the_frame_is_counted(world: World, runs: list[Run]) -> None:
    pool = reaching(world.collection, runs, budget=3 * 8)

    texts = world.collection.documents.exclude(text=None).count()
    assert pool.frame == {"sizes": dict.fromkeys(QUERIES, 36 + texts), "text": True}
    assert pool.entries.filter(is_beyond=False).count() == 3 * 4
    assert pool.chosen_count == 3 * 8
    assert pool.pair_count == pool.entries.count() == PoolEntry.everything.filter(pool=pool).count()


def test_an_extension_draws_on_in_one_order_and_stays_one_stratum(world: World, runs: list[Run]) -> None:
    first = reaching(world.collection, runs[:1], budget=3 * 6)
    second = extend_pool(first, runs=runs[1:], depth=6, budget=3 * 12)
    drawn = set(first.entries.filter(in_audit=True).values_list("query", "document"))

    assert second.seed == first.seed
    assert drawn <= set(second.entries.filter(in_audit=True).values_list("query", "document"))
    release = labels_of(world, second)
    sample = read_sample(second, release, read_release(release), 1)
    assert sample.strata["draw"].unique().to_list() == [2]
    assert sample.defined == list(QUERIES)
    assert sample.strata["pairs"].to_list() == [second.frame["sizes"][query] for query in QUERIES]


def test_the_reach_of_an_extension_only_grows(world: World, runs: list[Run]) -> None:
    first = reaching(world.collection, runs[:1], budget=3 * 6)

    with pytest.raises(InputError, match="can only go deeper"):
        extend_pool(first, runs=runs[1:], reach=10, budget=30)


def test_a_file_of_the_pool_tells_what_the_site_tells(world: World, runs: list[Run]) -> None:
    from evaluation import evaluate

    pool = reaching(world.collection, runs, budget=3 * 9)
    release = labels_of(world, pool)
    path = world.folder / "pool.tsv"
    path.write_text("".join(pool_lines(pool)))
    evaluation = evaluate(read_release(release), {"first": world.folder / "first.run"}, [4])

    columns = ["query_id", "pairs", "certain", "remainder", "sampled", "relevant", "hidden"]
    told = design_of_files({"pool": read_pool(path)}, evaluation).audit.strata.select(columns)
    stored = read_sample(pool, release, read_release(release), 1).strata.select(columns)
    assert told.rows() == stored.rows()


@pytest.mark.anywhere
def test_a_report_reads_the_estimate_first(world: World, runs: list[Run]) -> None:
    pool = reaching(world.collection, runs, budget=3 * 24)
    labels_of(world, pool)

    result = create_requested(world.collection, ReportRequest(k=[4, 100])).result

    assert result["answer"]["basis"] == "estimate"
    assert result["answer"]["k"] == 4, "beyond the reach nobody knows anything"
    texts = world.collection.documents.exclude(text=None).count()
    assert result["answer"]["frame"] == {
        "reach": 20,
        "runs": 2,
        "text": True,
        "size": 3 * (36 + texts),
        "whole": True,
    }
    assert result["runs"]["first"]["recall@4"]["estimate"]["value"] < result["answer"]["found"]["recall"]


def test_the_curve_that_comes_first_is_the_estimate_with_a_way_to_what_was_found(
    world: World, runs: list[Run], client: Client
) -> None:
    labels_of(world, reaching(world.collection, runs, budget=3 * 24))
    report = create_requested(world.collection, ReportRequest(k=[2, 4, 100]))
    estimates = {
        (run, k): report.result["runs"][run][f"recall@{k}"]["estimate"]
        for run in ("first", "second")
        for k in (2, 4, 100)
    }
    client.force_login(world.vera)

    names = [one["name"] for one in client.get(f"/api/reports/{report.pk}/charts/").json()]
    chart = client.get(f"/api/reports/{report.pk}/charts/estimated-curve/").json()
    page = client.get(report.get_absolute_url()).content.decode()
    of_precision = client.get(f"{report.get_absolute_url()}?measure=precision").content.decode()

    assert names[:2] == ["estimated-curve", "curve"]
    assert chart["columns"] == ["run", "k", "recall", "low", "high"]
    assert chart["rows"] == [
        [*place, one["value"], one["low"], one["high"]] for place, one in estimates.items() if one is not None
    ]
    assert len(chart["rows"]) >= 4
    assert "/charts/estimated-curve/light.svg?measure=recall" in page
    assert "Recall of the whole collection, as the audit estimates it" in page
    assert f"/reports/{report.pk}/charts/curve/?measure=recall" in page
    assert "over second, by what was found so far" in page or "over first, by what was found so far" in page
    assert "estimated-curve" not in of_precision
    for variant in ("light.svg", "dark-narrow.svg", "light.json"):
        picture = client.get(f"/reports/{report.pk}/charts/estimated-curve/{variant}?measure=recall&k=4")
        assert picture.status_code == 200


def test_finds_of_a_pool_end_at_its_depth(world: World, runs: list[Run], client: Client) -> None:
    pool = reaching(world.collection, runs, budget=3 * 24)
    labels_of(world, pool)
    client.force_login(world.vera)

    page = client.get(reverse("pool_finds", args=["harbour", pool.pk])).content.decode()

    assert pool.entries.filter(best_rank=None).exists()
    assert "12 of 12 pairs down to the depth of the pool have a label" in page


def test_a_live_order_draws_from_its_reserve_and_ends_with_an_estimate(world: World, runs: list[Run]) -> None:
    pool = reaching(world.collection, runs, strategy="learned", audit_share=0.4)
    reserve = PoolEntry.everything.filter(pool=pool).count() - pool.entries.count()
    assert reserve > 0
    queue = open_queue(pool, name="live", judgments_per_item=1, adaptive=AdaptiveOptions(), user=world.ada)

    judged = judge_all(queue, world.ben)

    plans = QueryPlan.objects.filter(selection=queue.pk)
    assert set(plans.values_list("finished_by", flat=True)) == {"pool"}
    beyond = judged - 3 * 4
    assert beyond >= 3, "each query has documents from beyond its pool"
    release = release_qrels(world.collection, name="judged", user=world.ada)
    sample = read_sample(pool, release, read_release(release), 1)
    assert sample.defined == list(QUERIES)
    assert int(sample.strata["certain"].sum()) == 3 * 4
    assert int(sample.strata["sampled"].sum()) == beyond
    assert sample.strata["pairs"].to_list() == list(pool.frame["sizes"].values())


@pytest.mark.anywhere
@pytest.mark.parametrize("is_live", [True, False])
def test_an_estimate_does_not_wait_for_a_document_that_was_deleted(
    world: World, runs: list[Run], is_live: bool
) -> None:
    pool = reaching(world.collection, runs, strategy="learned", audit_share=0.4)
    options = AdaptiveOptions() if is_live else None
    queue = open_queue(pool, name="all", judgments_per_item=1, adaptive=options, user=world.ada)
    judge_all(queue, world.ben)
    whole = release_qrels(world.collection, name="whole", user=world.ada)
    before = read_sample(pool, whole, read_release(whole), 1)
    Document.objects.filter(external_id="d00").update(deleted_at=timezone.now())

    assert read_sample(pool, whole, read_release(whole), 1).strata.equals(before.strata), "it has its label"
    release = release_qrels(world.collection, name="without it", user=world.ada)
    sample = read_sample(pool, release, read_release(release), 1)
    assert (sample.awaited, sample.defined) == (0, list(QUERIES))
    assert sample.strata["pairs"].equals(before.strata["pairs"]), "what was not drawn is not known to be gone"
    assert sample.sample["relevant"].sum() == before.sample["relevant"].sum() - 3


@pytest.mark.parametrize("strategy", ["maxmean", "learned", "hedge"])
@pytest.mark.parametrize("truth", ["ad", "bce", "abcde"])
@pytest.mark.parametrize("known", [5, 4])
def test_over_all_orders_of_a_frame_a_live_order_estimates_without_bias(
    monkeypatch: pytest.MonkeyPatch, strategy: str, truth: str, known: int
) -> None:
    """A pool of two documents in a frame of five, of which four or all have a row; three judgments."""
    total, count = 0.0, 0
    for order in permutations(range(5)):
        total += estimated(monkeypatch, order, strategy, truth, known)
        count += 1

    assert total / count == pytest.approx(len(truth))


def estimated(
    monkeypatch: pytest.MonkeyPatch, order: Iterable[int], strategy: str, truth: str, known: int
) -> float:
    """What a planner's judgments say of the whole frame, for one order of its audit."""
    names = "abcde"
    place = {names[number]: at for at, number in enumerate(order)}
    # Of those beyond the pool, the first in audit order have a row.
    rows = ["a", "b", *sorted("cde", key=place.__getitem__)[: known - 2]]

    def in_order(query: str, documents: list[str], seed: int) -> _Order:
        return _Order(sorted(range(len(documents)), key=lambda number: place[documents[number]]))

    monkeypatch.setattr("labeling.adaptive.next_documents.frame_order", in_order)
    found_by = {"a": [[0, 1], [1, 2]], "b": [[1, 1]]}
    entries = [Entry(names.index(name), name, 0.0, found_by.get(name, []), name not in "ab") for name in rows]
    course = Course("q", strategy, runs=2, depth=2, seed=1, audit_seed=1, audit_share=0.5, frame_size=5)
    reached: list[int] = []
    drawn: list[int] = []
    labels: dict[int, bool] = {}
    for spent in range(3):
        planner = Planner(course, entries)
        state = History(reached=reached, audit=drawn, spent=spent, free=[], labels=labels)
        planner.tell(state)
        batch = planner.batches(state, spent + 1, 1)[0]
        reached += batch.reached
        drawn += batch.joined
        labels |= {document: names[document] in truth for document in batch.handed}
    rest = [document for document in drawn if document not in reached]
    assert rest, "what is left can be estimated after any judgment"
    share = sum(labels[document] for document in rest) / len(rest)
    return sum(labels[document] for document in reached) + (5 - len(reached)) * share


class _Order(list[int]):
    """What the planner takes for an array of numbers."""

    def tolist(self) -> list[int]:
        return list(self)


def labels_of(world: World, pool: Pool) -> Any:
    """Everything that the pool chose, imported as qrels and released."""
    from tests.evaluation.cast import make_release

    chosen = pool.entries.exclude(inclusion_probability=None)
    rows = chosen.values_list("query__external_id", "document__external_id")
    return make_release(world, "".join(f"{q} 0 {d} {int(is_relevant(d))}\n" for q, d in sorted(rows)))


def test_queries_without_a_text_are_drawn_from_the_runs_alone(tmp_path: Path) -> None:
    from pooling.texts.text_ranking import text_ranking

    texts = [("a", "a ferry in the fog"), ("b", "fog"), ("c", "umbrella")]

    ranked = text_ranking({"q": "fog ferry", "nothing": "the"}, texts, 2)

    assert ranked.filter(query_id="q")["document_id"].to_list() == ["a", "b"]
    whole = text_ranking({"q": "fog"}, texts, 3)
    assert set(whole["document_id"]) == {"a", "b", "c"}, "a collection no larger than the reach is the frame"


def test_what_an_earlier_version_drew_and_people_judged_is_still_drawn(world: World, runs: list[Run]) -> None:
    """It was judged because it comes early in the order of the frame, not for a reason of its own."""
    first = reaching(world.collection, runs[:1], budget=3 * 8)
    judge_all(open_queue(first, name="first", judgments_per_item=1, user=world.ada), world.ben)
    drawn = set(first.entries.filter(in_audit=True, is_beyond=True).values_list(*IDS))
    second = extend_pool(first, runs=runs[1:], depth=6, budget=3 * 12)
    judge_all(open_queue(second, name="second", judgments_per_item=1, user=world.ada), world.ben)

    release = release_qrels(world.collection, name="judged", user=world.ada)
    sample = read_sample(second, release, read_release(release), 1)

    weights = sample.sample.filter(pl.col("inclusion_probability") < 1).select(PAIR).rows()
    certain = set(second.entries.filter(inclusion_probability=1).values_list(*IDS))
    assert drawn - certain
    assert drawn - certain <= set(weights)


def test_an_order_that_learned_from_a_draw_takes_nothing_out_of_it(world: World, runs: list[Run]) -> None:
    """A live queue begins with all labels there are, and goes where they lead."""
    pool = reaching(world.collection, runs, budget=3 * 12)
    judge_all(open_queue(pool, name="first", judgments_per_item=1, user=world.ada), world.ben)
    alone = release_qrels(world.collection, name="alone", user=world.ada)
    before = read_sample(pool, alone, read_release(alone), 1)
    other = build_pool(
        world.collection, name="other", runs=runs, depth=20, strategy="learned", audit_share=0.0
    )
    live = AdaptiveOptions(budget=3 * 6)
    queue = open_queue(other, name="live", judgments_per_item=1, adaptive=live, user=world.ada)
    judged = judge_all(queue, world.ben)

    release = release_qrels(world.collection, name="both", user=world.ada)
    after = read_sample(pool, release, read_release(release), 1)

    assert judged == 3 * 6
    assert after.sample.rows() == before.sample.rows()


def test_hidden_gold_has_its_label_and_holds_up_no_estimate(world: World, runs: list[Run]) -> None:
    """The order of a live queue comes to a gold question that the pool's own choice had left out."""
    pool = reaching(world.collection, runs, strategy="learned", budget=3 * 3)
    left_out = pool.entries.filter(is_beyond=False, inclusion_probability=None).select_related(
        "query", "document"
    )
    entry = left_out[0]
    query, document = entry.query.external_id, entry.document.external_id
    answer = "relevant" if is_relevant(document) else "not_relevant"
    add_question(world.collection, NewQuestion(query, document, answer, "History."), user=world.ada)
    options = AdaptiveOptions(budget=3 * 12)
    queue = open_queue(pool, name="live", judgments_per_item=1, adaptive=options, user=world.ada)
    judge_all(queue, world.ben)

    release = release_qrels(world.collection, name="judged", user=world.ada)
    labels = read_release(release)
    assert (query, document) in labels.select(PAIR).rows()
    assert read_sample(pool, release, labels, 1).awaited == 0


def test_what_another_pool_chose_is_known_once_all_of_it_is_judged(world: World, runs: list[Run]) -> None:
    from evaluation import evaluate

    pool = reaching(world.collection, runs, budget=3 * 12)
    other = build_pool(world.collection, name="other", runs=runs, depth=6)
    judge_all(open_queue(pool, name="first", judgments_per_item=1, user=world.ada), world.ben)
    alone = release_qrels(world.collection, name="alone", user=world.ada)
    queue = open_queue(other, name="second", judgments_per_item=1, user=world.ada)
    before = read_sample(pool, alone, read_release(alone), 1)
    for lease in claim(queue, world.ben, 5).leases:
        judge(queue, world.ben, lease.item_id, "not_relevant")
    half = release_qrels(world.collection, name="half", user=world.ada)
    begun = read_sample(pool, half, read_release(half), 1)
    judge_all(queue, world.ben)
    both = release_qrels(world.collection, name="both", user=world.ada)
    known = read_sample(pool, both, read_release(both), 1)

    assert begun.strata.drop("unused").rows() == before.strata.drop("unused").rows()
    chosen = {*other.entries.values_list(*IDS)} | {
        *pool.entries.filter(inclusion_probability=1).values_list(*IDS)
    }
    assert int(known.strata["certain"].sum()) == len(chosen)
    assert known.strata["pairs"].to_list() == list(pool.frame["sizes"].values())
    assert known.left_out == 0
    files = {}
    for one in (pool, other):
        path = world.folder / f"{one.name}.tsv"
        path.write_text("".join(pool_lines(one)))
        files[one.name] = read_pool(path)
    measured = {name: world.folder / f"{name}.run" for name in ("first", "second")}
    told = design_of_files(files, evaluate(read_release(both), measured, [4]))
    columns = ["query_id", "pairs", "certain", "remainder", "sampled", "relevant"]
    assert told.audit.strata.select(columns).rows() == known.strata.select(columns).rows()
