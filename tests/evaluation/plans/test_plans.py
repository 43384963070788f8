"""Plans: figures by hand on the harbour collection, through page, HTTP interface and command."""

from __future__ import annotations

import html
import io
import json
import re
import socket
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluation.measures.significance import queries_needed
from evaluation.plans.words import width_words
from labeling.models import Queue
from pooling.jobs.running import end_abandoned_jobs
from pooling.merging.choice import usual_choice
from pooling.models import Job, Pool
from pooling.pools import diagnosis_rows
from tests.evaluation.cast import make_release
from tests.evaluation.reports.test_report_api import client_of
from tests.world import World, run_text

pytestmark = pytest.mark.anywhere

PAGE = "/collections/harbour/plan/"
API = f"/api{PAGE}"
ADAPTIVE = {"adaptive": True, "strategy": "learned"}
#: The pool alone, in an order that is there before any label.
ALONE = {"strategy": "rrf", "audit_share": 0}


def planned(world: World, **settings: Any) -> Any:
    """The figures; without an audit unless `settings` have one."""
    answer = client_of(world.ada).get(API, {**ALONE, **settings})
    assert answer.status_code == 200, answer.json()
    return answer.json()


def test_the_pool_is_told_before_it_is_built(world: World) -> None:
    world.import_runs()
    plan = planned(world, depth=2)
    assert plan["pool"] == {
        "pairs": 8,
        "chosen": 8,
        "audit": 0,
        "labelled": 0,
        "to_judge": 8,
        "queries": 3,
        "size_by_depth": [6, 8, 12],
    }
    # Of two runs, each with six pairs to depth 2, four pairs are the same.
    assert plan["runs"] == [
        {"run": name, "pairs": 6, "alone": 2, "relevant_alone": None} for name in ("alpha", "beta")
    ]
    assert plan["overlap"] == [[1, pytest.approx(2 / 3)], [pytest.approx(2 / 3), 1]]
    assert plan["sizes"]["bins"] == [[2, 2, 1], [3, 3, 2]]
    assert plan["thin"] == {"below": 2, "count": 0, "queries": [], "without": 0}


def test_of_many_runs_a_plan_shows_the_overlap_of_some_and_its_call_has_all(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis_rows, "MOST_RUNS", 1)
    world.import_runs()
    client.force_login(world.ada)
    asked = {**ALONE, "depth": 2, "depths.beta": 3}
    page = client.get(PAGE, asked, headers={"HX-Request": "true"}).content.decode()
    assert 'title="beta"' in page
    assert 'title="alpha"' not in page
    assert "get the 1 other from" in page
    call = html.unescape(page.partition('<a class="mono" href="')[2].partition('"')[0])
    every = client_of(world.ada).get(call).json()
    assert every["settings"]["depths"] == {"beta": 3}
    assert [row["alone"] for row in every["runs"]] == [0, 3]


def test_what_a_reach_draws_is_told_before_it_is_drawn(world: World, client: Client) -> None:
    world.import_runs()
    plan = planned(world, depth=2, budget=15, audit_share=0.5, reach=100)
    # Five judgments of each query, and an audit of three among six documents. Of the two or three in its pool
    # one in two is expected to be drawn, 1 or 1.5; what the pool does not take is drawn from beyond, 3 or 2.
    assert (plan["pool"]["chosen"], plan["pool"]["audit"]) == (15, (1 + 3) + 2 * (1.5 + 2))
    with_reach = {**ALONE, "depth": 2, "audit_share": 0.5, "reach": 100}
    client.force_login(world.ada)
    part = client.get(PAGE, with_reach, headers={"HX-Request": "true"})
    assert "Pairs down to the depth</dt><dd>8<" in part.content.decode()


def test_a_run_with_a_depth_of_its_own_is_counted_to_it(world: World, client: Client) -> None:
    world.import_runs()
    asked = {**ALONE, "depth": 1, "depths.alpha": 3}
    plan = planned(world, **asked)
    # Alpha's nine pairs; beta's first documents are among them, the second of q2 and q3 and third of q1 not.
    assert plan["pool"]["pairs"] == 9
    assert plan["pool"]["size_by_depth"] == [9, 11, 12]
    assert [row["pairs"] for row in plan["runs"]] == [9, 3]
    assert plan["settings"]["k"] == 1
    assert "among the runs" in client_of(world.ada).get(API, {"depths.gamma": 2}).json()["detail"]
    client.force_login(world.ada)
    part = client.get(PAGE, asked, headers={"HX-Request": "true"})
    assert "Pairs in the pool</dt><dd>9<" in part.content.decode()
    assert "depths.alpha=3" in part["HX-Push-Url"]
    assert 'class="marked"' in part.content.decode()
    begun = client_of(world.ada).post(
        API, {**ALONE, "name": "own", "depth": 1, "depths": {"alpha": 3}}, format="json"
    )
    assert begun.json()["pairs"] == 9
    assert Pool.objects.get().depths == {"alpha": 3}
    told = io.StringIO()
    call_command("plan", "harbour", "--depth", "1", "--run-depth", "alpha=3", stdout=told)
    assert "9 pairs of 3 queries to depth 1 (alpha 3)" in told.getvalue()


@pytest.mark.database
def test_cost_and_days_by_number_of_annotators(world: World) -> None:
    world.import_runs()
    plan = planned(
        world,
        depth=2,
        judgments_per_item=2,
        most_judgments_per_item=3,
        tie_share=0.25,
        price_per_judgment=0.1,
        overhead=0.2,
        seconds_per_judgment=45,
        hours_per_week=7,
        annotators=3,
    )
    # Eight pairs judged twice and a quarter of them a third time; an hour a day each.
    assert (plan["work"]["judgments_needed"], plan["work"]["for_ties"]) == (18, 2)
    by_people = {row["annotators"]: row for row in plan["work"]["by_annotators"]}
    assert list(by_people) == [1, 2, 3, 5, 10, 20]
    assert by_people[2]["judgments"] is by_people[2]["end_date"] is None
    assert by_people[3]["cost"] == pytest.approx(18 * 0.1 * 1.2)
    assert by_people[3]["days"] == pytest.approx(6 * 45 / 3600)
    assert by_people[3]["hours_each"] == pytest.approx(6 * 45 / 3600)


def test_what_is_supposed_says_on_what_ground(world: World) -> None:
    world.import_runs()
    found = {row["name"]: row for row in planned(world, depth=2, relevant_share=0.5)["supposed"]}
    assert (found["seconds_per_judgment"]["value"], found["seconds_per_judgment"]["basis"]) == (20, "assumed")
    assert found["relevant_share"]["basis"] == "given"
    assert "gold" not in found


def test_pairs_with_a_label_are_not_planned_again(world: World) -> None:
    world.import_runs()
    make_release(world, "q1 0 d1 1\nq2 0 d2 1\nq3 0 d6 0\n")
    plan = planned(world, depth=2)
    assert (plan["pool"]["labelled"], plan["pool"]["to_judge"]) == (2, 6)
    # d2 of q2 is in alpha's top two alone, and relevant.
    assert [row["relevant_alone"] for row in plan["runs"]] == [1, 0]


def test_everything_judged_leaves_nothing_uncertain_and_half_a_budget_without_audit_everything(
    world: World,
) -> None:
    world.import_runs()
    assert planned(world, depth=2)["recall_interval"]["mean_width"] == 0
    alone = planned(world, depth=3, budget=6)["recall_interval"]
    assert alone["mean_width"] is None
    assert "Set an audit share" in alone["sentence"]
    drawn = planned(world, depth=3, budget=6, audit_share=0.5, relevant_share=0.3)["recall_interval"]
    assert 0 < drawn["mean_width"] <= 1


def wide_runs(world: World, queries: int = 30, documents: int = 20) -> dict[str, Any]:
    """Two runs over queries of their own; what a plan over them alone is asked for."""
    from pooling.models import Query
    from pooling.runs.stored import import_run

    names = [f"w{number:02}" for number in range(queries)]
    Query.objects.bulk_create(Query(collection=world.collection, external_id=one, text=one) for one in names)
    for run, step in (("wide", 1), ("wider", 2)):
        path = world.folder / f"{run}.run"
        path.write_text(run_text({name: [f"x{step * n}" for n in range(documents)] for name in names}))
        import_run(world.collection, path)
    return {"runs": ["wide", "wider"], "depth": documents, "budget": 300, "audit_share": 0.3}


@pytest.mark.database
def test_while_nobody_knows_how_much_is_relevant_the_width_is_a_range_and_a_pilot_is_offered(
    world: World, client: Client
) -> None:
    asked = wide_runs(world)
    plan = planned(world, **asked, price_per_judgment=0.1, overhead=0.5, judgments_per_item=2)
    width = plan["recall_interval"]
    assert width["mean_width"] is width["relevant"] is plan["settings"]["relevant_share"] is None
    # Five per cent relevant leaves more than twice the width of forty.
    assert 0 < 2 * width["width_low"] < width["width_high"] <= 1
    assert f"{width['width_low']:.3f} to {width['width_high']:.3f} wide on average" in width["sentence"]
    assert {row["width"] for row in width["by_run"]} == {None}
    (told,) = [row for row in plan["supposed"] if row["name"] == "relevant_share"]
    assert (told["value"], told["basis"]) == (None, "assumed")
    assert "for 5 to 40 % relevant" in told["sentence"]
    # A hundred pairs, judged once, of 20 seconds and 0.15 each.
    pilot = plan["pilot"]
    assert (pilot["pairs"], pilot["minutes"], pilot["cost"]) == (
        100,
        pytest.approx(100 / 3),
        pytest.approx(15),
    )
    assert pilot["sentence"].startswith("Judge 100 drawn pairs first: 33 minutes and 15.00 ")
    ends = [planned(world, **asked, relevant_share=share)["recall_interval"] for share in (0.4, 0.05)]
    assert [one["mean_width"] for one in ends] == pytest.approx([width["width_low"], width["width_high"]])
    assert planned(world, **asked, relevant_share=0.4)["pilot"] is None
    text = io.StringIO()
    call_command("plan", "harbour", "--runs", "wide", "--budget", "120", "--audit-share", "0.3", stdout=text)
    assert "Judge 100 drawn pairs first: 33 minutes." in text.getvalue()


@pytest.mark.database
def test_the_offered_pilot_is_planned_and_begun_and_its_labels_make_the_width_one_number(
    world: World, client: Client
) -> None:
    from labeling.qrels.imported import import_qrels

    asked = wide_runs(world)
    client.force_login(world.ada)
    page = client.get(PAGE, asked).content.decode()
    assert "Judge 100 drawn pairs first" in page
    link = html.unescape(re.search(r'<a href="([^"]*)">Plan this pilot', page)[1])  # type: ignore[index]
    pilot = client.get(link).content.decode()
    assert "To judge</dt><dd>100<" in pilot
    assert 'value="Pilot"' in pilot
    assert "Judge 100 drawn pairs first" not in pilot
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', pilot))
    client.post(PAGE, {**fields, "runs": ["wide", "wider"], "name": "Pilot"})
    drawn = Pool.objects.get(name="Pilot").entries.filter(in_audit=True)
    assert drawn.count() == 100
    path = world.folder / "pilot.qrels"
    path.write_text(
        "".join(
            f"{query} 0 {document} {int(position <= 6)}\n"
            for query, document, position in drawn.values_list(
                "query__external_id", "document__external_id", "position"
            )
        )
    )
    import_qrels(world.collection, path, user=world.ada)
    plan = planned(world, **asked)
    width = plan["recall_interval"]
    assert plan["pilot"] is None
    assert width["width_low"] < width["mean_width"] < width["width_high"]
    assert "as far as 100 labels show how much is relevant" in width["sentence"]
    # Six of about thirty documents of each query.
    assert plan["settings"]["relevant_share"] == pytest.approx(0.2, abs=0.08)


def test_power_is_a_range_until_labels_tell_the_spread(world: World) -> None:
    world.import_runs()
    power = planned(world, depth=2)["power"]
    assert (power["deviation"], power["queries_needed"]) == (None, [38, 114])
    assert "Not known yet" in power["sentence"]


def test_power_comes_from_the_spread_of_labelled_queries(world: World) -> None:
    from labeling.qrels.imported import import_qrels
    from pooling.models import Query
    from pooling.runs.stored import import_run

    names = [f"p{number}" for number in range(5)]
    for name in names:
        Query.objects.create(collection=world.collection, external_id=name, text=name)
    # The first document of one run is relevant in four of five queries, that of the other in one.
    for run, document in (("first", "d1"), ("second", "d2")):
        path = world.folder / f"{run}.run"
        path.write_text(run_text({name: [document] for name in names}))
        import_run(world.collection, path)
    labels = world.folder / "spread.qrels"
    labels.write_text("".join(f"{name} 0 {'d2' if name == 'p4' else 'd1'} 1\n" for name in names))
    import_qrels(world.collection, labels, user=world.ada)
    power = planned(world, depth=1, runs=["first", "second"])["power"]
    # Differences 1, 1, 1, 1, -1: mean 0.6, variance (4 · 0.16 + 2.56) / 4 = 0.8.
    assert power["deviation"] == pytest.approx(0.8**0.5)
    assert power["queries_needed"] == [queries_needed(0.8**0.5, measured=5)] * 2
    assert "by the spread of 5 labelled queries" in power["sentence"]


def test_a_query_that_no_run_answers_is_counted(world: World) -> None:
    from pooling.models import Query

    world.import_runs()
    assert planned(world)["thin"]["without"] == 0
    Query.objects.create(collection=world.collection, external_id="q4", text="lighthouse")
    assert planned(world)["thin"]["without"] == 1


def test_what_will_not_do_is_one_sentence_beside_its_field(world: World, client: Client) -> None:
    world.import_runs()
    for asked, field in [
        ({"depth": 0}, "depth"),
        ({"strategy": "none"}, "strategy"),
        ({"runs": "gamma"}, "runs"),
        ({"k": 11}, "k"),
        ({"gold_share": 0.9}, "gold_share"),
        ({"hours_per_week": 0}, "hours_per_week"),
        (
            {"hours_per_week": 1e-320},
            "hours_per_week",
        ),  # of which a campaign takes more days than can be told
        ({"seconds_per_judgment": 0}, "seconds_per_judgment"),
        ({"adaptive": True, "strategy": "rrf"}, "adaptive"),
        ({"budget_floor": 2}, "budget_floor"),
        ({**ADAPTIVE, "budget": 6, "budget_floor": 3}, "budget_floor"),
        ({**ADAPTIVE, "budget_rule": "greedy"}, "budget_rule"),
        ({**ADAPTIVE, "audit_share": 0, "stop_missing": 0.1}, "stop_missing"),
        ({"judgments_per_item": 3, "most_judgments_per_item": 2}, "most_judgments_per_item"),
        ({"audit_share": 0.1, "reach": 9}, "reach"),
    ]:
        refused = client_of(world.ada).get(API, asked)
        assert refused.status_code == 400
        assert field in refused.json()["fields"]
        client.force_login(world.ada)
        page = client.get(PAGE, asked).content.decode()
        assert 'role="alert"' in page
        assert "Cost and days" not in page


def test_without_runs_there_is_nothing_to_plan(world: World, client: Client) -> None:
    client.force_login(world.ada)
    assert "A plan needs runs" in client.get(PAGE).content.decode()
    assert "has none yet" in client_of(world.ada).get(API).json()["detail"]


def test_the_address_holds_the_plan_and_htmx_gets_the_figures_alone(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    page = client.get(PAGE, {"depth": 2, "runs": "beta", "budget": ""}).content.decode()
    assert "<h1>" in page
    assert "Pairs down to the depth</dt><dd>6<" in page
    part = client.get(PAGE, {"depth": 1, "runs": "beta", "budget": ""}, headers={"HX-Request": "true"})
    assert "<h1>" not in part.content.decode()
    assert "Pairs down to the depth</dt><dd>3<" in part.content.decode()
    again = client.get(part["HX-Push-Url"]).content.decode()
    assert "budget" not in part["HX-Push-Url"]
    assert "Pairs down to the depth</dt><dd>3<" in again


def test_one_button_builds_the_pool_and_opens_the_queue_as_planned(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    asked = {
        "name": "spring",
        "depth": 2,
        "runs": ["alpha", "beta"],
        "budget": 6,
        "audit_share": 0.5,
        "judgments_per_item": 2,
        "most_judgments_per_item": 3,
        "price_per_judgment": 0.25,
    }
    plan = planned(world, **{name: value for name, value in asked.items() if name != "name"})
    answer = client.post(PAGE, asked)
    queue, pool = Queue.objects.get(), Pool.objects.get()
    assert answer["Location"] == queue.get_absolute_url()
    assert (pool.name, pool.depth, pool.budget, pool.audit_share) == ("spring", 2, 6, 0.5)
    assert (queue.name, queue.bounds, float(queue.price_per_judgment)) == ("spring", (2, 3), 0.25)
    assert (plan["pool"]["pairs"], plan["pool"]["chosen"]) == (pool.pair_count, pool.chosen_count)
    again = client.post(PAGE, asked)
    assert "Pool “spring” already exists" in again.content.decode()
    assert Pool.objects.count() == 1


def test_a_plan_starts_from_the_pool_that_a_site_usually_builds(world: World, client: Client) -> None:
    """Page, call and command alike; what is shown is what is built."""
    world.import_runs()
    usual = usual_choice({"depth": 10})
    of_pool = ("strategy", "audit_share", "reach")
    plan = client_of(world.ada).get(API).json()
    assert [plan["settings"][name] for name in of_pool] == [getattr(usual, name) for name in of_pool]
    # No larger than the reach: what a query's audit draws from is the collection.
    pool, reach = plan["headline"]["reaches"]
    assert (pool["reach"], pool["documents"], reach["is_whole"]) == (None, 4, True)
    assert reach["documents"] == world.collection.documents.count()
    client.force_login(world.ada)
    shown = client.get(PAGE).content.decode()
    assert 'name="reach" value="1000"' in shown
    assert 'name="audit_share" value="0.2"' in shown
    fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', shown))
    client.post(PAGE, {**fields, "name": "spring"})
    client_of(world.ada).post(API, {"name": "by call"}, format="json")
    for built in Pool.objects.all():
        assert [getattr(built, name) for name in of_pool] == [getattr(usual, name) for name in of_pool]
        assert built.chosen_count == plan["pool"]["chosen"]
    # An audit that is asked for by its share alone draws from the pool, and a sample has none.
    assert client_of(world.ada).get(API, {"audit_share": 0.3}).json()["settings"]["reach"] is None
    sampled = client.get(PAGE, {"strategy": "sampling", "audit_share": 0.2, "reach": 1000}).content.decode()
    assert 'role="alert"' not in sampled


def test_the_reach_that_a_plan_offers_is_never_less_than_its_depth(world: World, client: Client) -> None:
    world.import_runs()
    client.force_login(world.ada)
    asked = [({"depth": 1_500}, 1_500), ({"depths.alpha": 2_000}, 2_000), ({"depth": 20}, 1_000)]
    for depths, reach in [*asked, ({"depth": "deep"}, 1_000)]:
        shown = client.get(PAGE, depths)
        assert shown.context["form"]["reach"].value() == f"{reach}"
        assert ('role="alert"' in shown.content.decode()) == ("deep" in depths.values())
    for depths, reach in asked:
        assert client_of(world.ada).get(API, depths).json()["settings"]["reach"] == reach


def test_a_plan_without_an_audit_says_what_its_headline_will_be(world: World) -> None:
    world.import_runs()
    headline = planned(world, budget=6)["headline"]
    assert (headline["has_audit"], headline["width_low"]) == (False, None)
    assert "only tell recall of the relevant documents found so far" in headline["sentences"][0]
    asked = wide_runs(world)
    told = [planned(world, **asked, **more)["headline"] for more in ({}, {"relevant_share": 0.4})]
    assert "of the pool alone" in told[0]["sentences"][0]
    # Within what nobody knows lies what is known.
    assert told[0]["width"] is None
    assert told[0]["width_low"] <= told[1]["width"] <= told[0]["width_high"]


def test_no_width_is_planned_where_queries_get_no_pair(world: World, client: Client) -> None:
    runs = world.import_runs()
    gap = "The budget has fewer pairs than there are queries: 1 of 3 queries gets none"
    of = {"depth": 2, "budget": 2, "audit_share": 0.5, "relevant_share": 0.4}
    plan = planned(world, **of)
    assert plan["headline"]["sentences"] == [f"{gap}, and no estimate is about it."]
    assert plan["headline"]["width_high"] is plan["recall_interval"]["width_high"] is None
    assert "With fewer than 3 pairs recall" in plan["recall_interval"]["sentence"]
    # The form, the page of the pool and the command that builds it count them as well.
    client.force_login(world.ada)
    form = client.get(
        "/collections/harbour/pools/new/",
        {**of, "strategy": "rrf", "runs": [run.pk for run in runs]},
        headers={"HX-Request": "true"},
    )
    assert "<dt>Queries without a pair</dt><dd>1 " in form.content.decode()
    errors = io.StringIO()
    options = ("--depth", "2", "--budget", "2")
    call_command("build_pool", "harbour", "--name", "p", *options, stdout=io.StringIO(), stderr=errors)
    assert gap in errors.getvalue()
    assert gap in client.get(Pool.objects.get().get_absolute_url()).content.decode()


def test_the_row_of_the_planned_budget_has_the_width_that_the_sentence_tells(world: World) -> None:
    world.import_runs()
    wide_runs(world)
    asked = {"depth": 5, "reach": 20, "audit_share": 0.3, "relevant_share": 0.4}
    for budget in ({}, {"budget": 200}):
        headline = planned(world, **asked, **budget)["headline"]
        (row,) = [row for row in headline["budgets"] if row["is_planned"]]
        assert [one["reach"] for one in headline["reaches"]] == [None, 20]
        assert f"about {width_words(row['widths'][1])} wide" in headline["sentences"][0]


@pytest.mark.database
def test_an_adaptive_plan_says_what_it_spends_and_what_nobody_can_tell(world: World, client: Client) -> None:
    world.import_runs()
    assert planned(world)["order"] is None
    equal = planned(world, **ADAPTIVE, depth=3, budget=7)["order"]
    assert equal["sentences"][0] == "Each query gets the same number of pairs: 2 to 3."
    assert equal["sentences"][1] == "A query ends by its budget, at the end of its pool, or by hand."
    assert "uses no model's scores" in equal["sentences"][-1]
    # q1 and q2 have four pairs each, q3 as many: the floor of two leaves one pair of seven open.
    greedy = planned(world, **ADAPTIVE, depth=3, budget=7, budget_rule="greedy", budget_floor=2)
    assert (greedy["order"]["open"], greedy["pool"]["chosen"]) == (1, 7)
    assert "Only labels can decide which queries get the other" in greedy["order"]["sentences"][0]
    bound = {"stop_missing": 0.9, "stop_looks": 1, "stop_over": "queue", "audit_share": 0.5}
    looked = planned(world, **ADAPTIVE, depth=3, relevant_share=0.5, **bound)["order"]
    # The look comes after two of four pairs of each query: one of them drawn, the other reached.
    look = looked["best_look"]
    assert (look["remainder"], look["sampled"]) == (9, 3)
    # P(Binomial(M, 1/3) = 0) is above 0.05 up to M = 7, so all six that were not drawn may be relevant.
    assert look["at_most_missing"] == 6
    assert look["missing_share"] == pytest.approx(6 / (6 + look["found"]))
    assert look["may_stop"]
    assert "when depends on what the audit shows" in looked["sentences"][1]
    client.force_login(world.ada)
    page = client.get(PAGE, {**ADAPTIVE, "depth": 3, **bound, "stop_missing": 0.05}).content.decode()
    assert "Plan a larger audit share" in page


def test_the_queue_of_an_adaptive_plan_spends_and_stops_as_planned(world: World) -> None:
    world.import_runs()
    asked = {**ADAPTIVE, "name": "live", "depth": 3, "budget": 7, "audit_share": 0.4, "budget_rule": "share"}
    stop = {"budget_floor": 1, "stop_missing": 0.2, "stop_looks": 2, "stop_over": "queue"}
    begun = client_of(world.ada).post(API, {**asked, **stop}, format="json")
    assert begun.status_code == 201, begun.json()
    selection = Queue.objects.get().selection
    told = {name: getattr(selection, name) for name in (*stop, "budget", "budget_rule")}
    assert told == {**stop, "budget": 7, "budget_rule": "share"}


@pytest.mark.database
def test_a_large_campaign_is_begun_by_the_worker(
    world: World, settings: Settings, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    settings.BACKGROUND_POOL_PAIRS = 1
    world.import_runs()
    client = client_of(world.ada)
    with django_capture_on_commit_callbacks(execute=True):
        started = client.post(API, {"name": "large", "depth": 3}, format="json")
    assert started.status_code == 202
    job = client.get(f"/api/jobs/{started.json()['job']}/").json()
    assert (job["state"], job["result"]["queue"]) == ("done", Queue.objects.get().pk)


@pytest.mark.database
def test_a_campaign_whose_server_was_killed_goes_on_from_its_pool(
    world: World,
    client: Client,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.BACKGROUND_POOL_PAIRS = 1
    world.import_runs()
    body = {"name": "large", "depth": 3, "judgments_per_item": 2}

    def killed(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("evaluation.plans.launch.open_queue", killed)
        with pytest.raises(KeyboardInterrupt), django_capture_on_commit_callbacks(execute=True):
            client_of(world.ada).post(API, body, format="json")
    job = Job.objects.get()
    Job.objects.update(worker=f"{socket.gethostname()}:{2**22 + 1}")
    assert end_abandoned_jobs() == 1
    client.force_login(world.ada)
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert "Pool “large” is built, and its queue is not open yet." in page
    assert "Resume" in page
    assert "Nothing was saved" not in page
    again = client_of(world.ada).post(API, body, format="json").json()["detail"]
    assert "open a queue on that pool's page: it has none" in again
    client.force_login(world.vera)
    assert client.post(f"/jobs/{job.pk}/resume/").status_code == 403
    client.force_login(world.ada)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"/jobs/{job.pk}/resume/")
    queue = Queue.objects.get()
    assert (queue.name, queue.pool, queue.judgments_per_item) == ("large", Pool.objects.get(), 2)
    assert client_of(world.ada).post(f"/api/jobs/{job.pk}/resume/").status_code == 409
    assert "See the job that resumed it" in client.get(f"/jobs/{job.pk}/").content.decode()


def test_nothing_is_built_for_a_queue_that_cannot_be_opened(world: World) -> None:
    world.import_runs()
    make_release(world)  # every pair has a label
    refused = client_of(world.ada).post(API, {"name": "none", "depth": 2}, format="json")
    assert refused.status_code == 400
    assert not Pool.objects.exists()


def test_the_command_prints_the_same_figures(world: World) -> None:
    world.import_runs()
    told = io.StringIO()
    options = ["--depth", "2", "--seconds", "30", "--annotators", "3"]
    call_command("plan", "harbour", *options, "--format", "json", stdout=told)
    same = client_of(world.ada).get(API, {"depth": 2, "seconds_per_judgment": 30, "annotators": 3})
    assert json.loads(told.getvalue()) == same.json()
    table = io.StringIO()
    call_command("plan", "harbour", *options, stdout=table)
    assert "8 pairs of 3 queries to depth 2" in table.getvalue()
    assert "Pairs by depth: 6 at 1, 12 at 3." in table.getvalue()
