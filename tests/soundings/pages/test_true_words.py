"""What pages say of recall, in a campaign whose relevant documents are all known."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluation.models import Report
from evaluation.reports.making import ReportRequest, create_requested
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import claim
from labeling.models import Item, Queue
from labeling.qrels.releases import release_qrels
from labeling.queues.opening import open_queue
from pooling.models import Pool, Query, Run
from pooling.pools.building import build_pool
from pooling.pools.versions import extend_pool
from pooling.runs.stored import import_run
from pooling.texts.importing import import_documents
from tests.ground import made_once
from tests.labeling.helpers import judge
from tests.world import World, run_text, signed_in

pytestmark = pytest.mark.anywhere

QUERIES, DEPTH = ("q1", "q2", "q3"), 4
#: What the first run has, best first, and what else the collection holds; relevant are those of even number.
FIRST = [f"d{number:02}" for number in range(10)]
OTHERS = [f"d{number:02}" for number in range(10, 34)]


def is_relevant(document: str) -> bool:
    return int(document[1:]) % 2 == 0


class Campaign:
    """One run over a collection of which half is relevant, and Ada who judges as that is."""

    def __init__(self, world: World, run: Run, client: Client) -> None:
        self.world, self.run, self.client = world, run, client
        client.force_login(world.ada)

    def open(self, name: str, **options: object) -> tuple[Pool, Queue]:
        chosen = {"depth": DEPTH, "strategy": "rrf", "audit_share": 0.0, "reach": None, **options}
        pool = build_pool(self.world.collection, name=name, runs=[self.run], **chosen)
        return pool, open_queue(pool, name=name, user=self.world.ada)

    def judge(self, queue: Queue, at_most: int = 1_000, by: User | None = None) -> int:
        """How many pairs were handed out and judged, gold questions aside; without `by`, by Ben."""
        by, judged = by or self.world.ben, 0
        while leases := claim(queue, by, min(5, at_most)).leases if at_most else []:
            at_most -= len(leases)
            for lease in leases:
                judged += lease.item.state == Item.State.OPEN
                name = lease.item.document.external_id
                judge(queue, by, lease.item_id, "relevant" if is_relevant(name) else "not_relevant")
        return judged

    def measure(self, name: str, *k: int) -> Report:
        release_qrels(self.world.collection, name=name, user=self.world.ada)
        runs = list(self.world.collection.runs.order_by("pk").values_list("name", flat=True))
        return create_requested(self.world.collection, ReportRequest(runs=runs, k=k or [DEPTH]))

    def truth(self, ranking: list[str]) -> float:
        """Recall of a run that has this ranking for every query, at the depth of the first pool."""
        there = self.world.collection.documents.values_list("external_id", flat=True)
        return sum(map(is_relevant, ranking[:DEPTH])) / sum(map(is_relevant, there))

    def read(self, address: str, by: User | None = None) -> str:
        """The words of a page; without `by`, as Ada reads it."""
        client = self.client if by is None else signed_in(by)
        page = client.get(address, follow=True).content.decode()
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.partition("<main")[2])).split())


@made_once
def first_run(world: World) -> Run:
    corpus = world.folder / "corpus.jsonl"
    rows = (f'{{"_id": "{name}", "title": "", "text": "page {name}"}}\n' for name in [*FIRST, *OTHERS])
    corpus.write_text("".join(rows))
    import_documents(world.collection, corpus)
    path = world.folder / "first.run"
    path.write_text(run_text(dict.fromkeys(QUERIES, FIRST)))
    return import_run(world.collection, path, user=world.ada)


@pytest.fixture
def campaign(world: World, first_run: Run, client: Client) -> Campaign:
    return Campaign(world, first_run, client)


def test_every_page_says_what_its_recall_is_of(campaign: Campaign) -> None:
    _, pilot = campaign.open("pilot")
    campaign.judge(pilot)
    report = campaign.measure("one")
    overview, page = campaign.read("/collections/harbour/"), campaign.read(report.get_absolute_url())
    for text in (overview, page):
        assert "Recall@4 of first 1.000 of the 6 relevant documents found so far" in text
        assert "at least" not in text, "no floor where nothing tells of the rest"


def test_a_report_without_an_audit_offers_to_estimate_the_rest(campaign: Campaign) -> None:
    _, pilot = campaign.open("pilot")
    campaign.judge(pilot)
    report = campaign.measure("one")

    page = campaign.client.get(report.get_absolute_url()).content.decode()
    button = re.search(r'href="([^"]+)">Estimate the rest: (\d+) judgments', page)
    assert button
    form = campaign.client.get(unescape(button[1])).context["form"]
    filled = {name: form[name].value() for name in ("depth", "strategy", "audit_share", "reach", "runs")}
    assert filled == {
        "depth": "4",
        "strategy": "rrf",
        "audit_share": "1",
        "reach": "1000",
        "runs": [campaign.run.pk],
    }
    _, queue = campaign.open("rest", depth=4, audit_share=1.0, reach=1_000)
    assert queue.items.filter(state="open").count() == int(button[2]), "what was judged is not asked again"
    campaign.judge(queue)
    estimated = campaign.measure("two")
    assert estimated.result["answer"]["basis"] == "estimate"
    page = campaign.read(estimated.get_absolute_url())
    assert "of the whole collection" in page
    assert "Estimate the rest" not in page


def test_where_ties_keep_an_estimate_back_report_and_overview_say_to_decide_them(campaign: Campaign) -> None:
    pool, _ = campaign.open("once", audit_share=0.6, reach=1_000, budget=3 * 10, seed=2)
    queue = open_queue(pool, name="twice", judgments_per_item=2)
    for person in (campaign.world.ben, campaign.world.cleo):
        for lease in claim(queue, person, 30).leases:
            name = lease.item.document.external_id
            verdict = is_relevant(name) or (name in OTHERS and person == campaign.world.cleo)
            judge(queue, person, lease.item_id, "relevant" if verdict else "not_relevant")
    tied = f"{queue.items.filter(state=Item.State.ADJUDICATION).count()} pairs"
    assert f"“twice” is judged, and {tied} wait for a decision." in campaign.read("/collections/harbour/")
    report = campaign.measure("one")
    assert report.result["estimates"]["queries"]["not_estimated"]
    assert f"Decide {tied} without a majority" in campaign.read(report.get_absolute_url())


def test_where_depth_is_missing_report_overview_and_home_say_to_go_deeper(campaign: Campaign) -> None:
    _, pilot = campaign.open("pilot", depth=2)
    campaign.judge(pilot)
    report = campaign.measure("one", 2, DEPTH)
    for address in (report.get_absolute_url(), "/collections/harbour/", "/"):
        assert "Go deeper: the pool ends at depth 2, which says little of Recall@4." in campaign.read(address)

    extend_pool(Pool.objects.get(), name="deeper", depth=DEPTH)
    for address in ("/collections/harbour/", "/"):
        assert "Go deeper" not in campaign.read(address)


def test_of_a_queue_that_nobody_began_the_pairs_left_are_told_and_no_share_judged(campaign: Campaign) -> None:
    _, pilot = campaign.open("pilot", depth=2)
    campaign.judge(pilot)
    campaign.measure("one")
    campaign.open("more")
    page = campaign.read("/collections/harbour/")
    assert "Left to judge: 6 of 12 pairs of “more”." in page
    assert "50 % of “more” is judged" not in page


def test_scored_queries_are_counted_out_of_all_and_the_rest_are_named(campaign: Campaign) -> None:
    _, pilot = campaign.open("pilot")
    campaign.judge(pilot, at_most=DEPTH)  # query by query
    report = campaign.measure("one")
    Query.objects.create(collection=campaign.world.collection, external_id="later", text="Imported later.")
    page = campaign.read(report.get_absolute_url())
    assert page.count("1 of 3 queries scored") == 2, "in the head and on the card"
    assert re.search(r"2 of the collection's 3 queries have no label in this release .*: q\d q\d", page)
    assert "later" not in page


FRAME = {"audit_share": 0.2, "reach": 1_000}
LIVE = {"adaptive": "on"}
COUNTED = {
    "a fixed order": ({}, {}),
    "with an audit of the collection": (FRAME, {}),
    "by two people": ({}, {"judgments_per_item": 2}),
    "a live order without a budget": ({"strategy": "hybrid", **FRAME}, LIVE),
    "a live order by two people": ({"strategy": "hybrid", **FRAME}, {**LIVE, "judgments_per_item": 2}),
    "as many for each query": ({"strategy": "hybrid", "depth": 10}, {**LIVE, "budget": 11}),
    "the budget of the pool": ({"strategy": "hybrid", "depth": 10, "budget": 12, **FRAME}, LIVE),
    "the same share": ({"strategy": "hybrid"}, {**LIVE, "budget": 10, "budget_rule": "share"}),
    "where relevant documents turn up": (
        {"strategy": "hybrid", "depth": 10},
        {**LIVE, "budget": 13, "budget_rule": "greedy", "budget_floor": 2},
    ),
    "a budget beyond the pool": (
        {"strategy": "hybrid", "depth": 8},
        {**LIVE, "budget": 1_000, "budget_rule": "greedy", "budget_floor": 3},
    ),
}


@pytest.mark.parametrize("known", [False, True], ids=["nothing known", "some known"])
@pytest.mark.parametrize("case", COUNTED)
def test_form_list_pages_and_annotator_count_a_queue_alike(
    campaign: Campaign, case: str, known: bool
) -> None:
    of_pool, of_queue = COUNTED[case]
    if known:
        _, before = campaign.open("before", depth=1)
        campaign.judge(before)
        add_question(campaign.world.collection, NewQuestion("q1", FIRST[2], "relevant"))
    chosen = {"depth": DEPTH, "strategy": "rrf", "audit_share": 0.0, "reach": None, **of_pool}
    pool = build_pool(campaign.world.collection, name="pool", runs=[campaign.run], **chosen)
    address = "/collections/harbour/queues/new/"
    form = campaign.client.get(address).context["form"]
    filled = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    sent = {**filled, "pool": pool.pk, "name": "counted", "seed": 1, **of_queue}
    told = campaign.client.get(address, sent, headers={"HX-Request": "true"}).content.decode()
    words = " ".join(re.sub(r"<[^>]+>", " ", told).split())
    found = re.search(r"Pairs to judge (\d+) .*Judgments (\d+)", words)
    assert found, words
    pairs, judgments = map(int, found.groups())

    campaign.client.post(address, sent)
    queue = Queue.objects.get(name="counted")
    address = queue.get_absolute_url()
    listed, shown, overview = (
        re.search(r"(\d+) of (\d+) pairs (?:judged|left)|Pairs judged (\d+) of (\d+)", campaign.read(where))
        for where in ("/collections/harbour/queues/?q=counted", address, "/collections/harbour/")
    )
    assert listed
    assert shown
    assert overview
    judged, total = shown.groups()[2:]
    assert listed.groups()[:2] == (judged, total)
    assert int(total) - int(judged) == int(overview[1]) == pairs
    assert f"Left for you {pairs}" in campaign.read(address, by=campaign.world.cleo)

    assert sum(campaign.judge(queue, by=by) for by in (campaign.world.ben, campaign.world.cleo)) == judgments
    assert f"Pairs judged {total} of {total}" in campaign.read(address)


def test_half_judged_says_of_which_queries_it_speaks_and_finished_says_the_number(
    campaign: Campaign,
) -> None:
    _, queue = campaign.open("deep", audit_share=0.5, reach=1_000, budget=3 * 16, seed=2)
    campaign.judge(queue, at_most=20)
    half = campaign.measure("half")
    campaign.judge(queue)
    whole = campaign.measure("whole")
    answer = whole.result["answer"]
    truth = campaign.truth(FIRST)

    in_part = campaign.read(half.get_absolute_url())
    assert "of the whole collection, in the only query of 3 whose audit is answered" in in_part
    assert "2 of 3 queries scored" in in_part
    assert answer["basis"] == "estimate"
    assert answer["low"] <= truth <= answer["high"]
    for report in (half, whole):
        page, shown = campaign.read(report.get_absolute_url()), report.result["answer"]
        assert f"of the {shown['found']['relevant']} relevant documents found so far" in page
    for page in (campaign.read("/collections/harbour/"), campaign.read(whole.get_absolute_url())):
        first = f"{answer['recall']:.3f} [{answer['low']:.3f}, {answer['high']:.3f}]"
        assert f"Recall@4 of first {first}" in page, "the true number comes first"
        assert "of the whole collection" in page
        assert "whose audit is answered" not in page


SECOND = ["d10", "d02", "d13", "d14", "d16", "d18", "d21", "d00"]


@pytest.mark.slow
def test_extending_leaves_no_worse_sentence_and_every_page_agrees_with_the_truth(campaign: Campaign) -> None:
    """By depth, then by a run: before anything new is judged, half-way, and at the end."""
    collection, rankings = campaign.world.collection, {"first": FIRST}
    pool, queue = campaign.open("deep", audit_share=0.5, reach=1_000, budget=3 * 16, seed=2)
    campaign.judge(queue)
    before = said(campaign, campaign.measure("finished"), queue, rankings)

    deeper = extend_pool(pool, name="deeper", depth=2 * DEPTH)
    queue = open_queue(deeper, name="deeper", user=campaign.world.ada)
    waiting = said(campaign, campaign.measure("waiting"), queue, rankings)
    assert waiting == before, "what nobody judged changes nothing"
    campaign.judge(queue, at_most=4)
    assert said(campaign, campaign.measure("begun"), queue, rankings) == before
    campaign.judge(queue)
    further = said(campaign, campaign.measure("further"), queue, rankings)
    assert width(further, "first") < width(before, "first")

    path = campaign.world.folder / "second.run"
    path.write_text(run_text(dict.fromkeys(QUERIES, SECOND)))
    second = import_run(collection, path, user=campaign.world.ada)
    rankings["second"] = SECOND
    new = said(campaign, campaign.measure("with a run"), queue, rankings)
    assert new["first"] == further["first"]
    widest = extend_pool(deeper, name="widest", runs=[second])
    queue = open_queue(widest, name="widest", user=campaign.world.ada)
    assert said(campaign, campaign.measure("run pooled"), queue, rankings) == new
    campaign.judge(queue, at_most=5)
    assert said(campaign, campaign.measure("run begun"), queue, rankings) == new
    campaign.judge(queue)
    last = said(campaign, campaign.measure("run judged"), queue, rankings)
    # The limits over queries reach further towards a half; those of the labels alone, before, do not.
    assert width(last, "first") < 1.35 * width(new, "first")
    assert width(last, "second") < width(new, "second") / 1.5


def width(estimates: dict[str, tuple[float, float, float]], run: str) -> float:
    return estimates[run][2] - estimates[run][1]


def said(
    campaign: Campaign, report: Report, queue: Queue, rankings: dict[str, list[str]]
) -> dict[str, tuple[float, float, float]]:
    """The estimate of each run with its ends, after every page was read and found to agree with the truth."""
    answer, told = report.result["answer"], {}
    for run, ranking in rankings.items():
        figure = report.result["runs"][run][f"recall@{DEPTH}"]
        value, low, high = (figure["estimate"][name] for name in ("value", "low", "high"))
        assert low <= campaign.truth(ranking) <= high
        assert figure["bounds"][0] <= figure["mean"] <= figure["bounds"][1]
        told[run] = value, low, high
    assert answer["basis"] == "estimate"
    assert told[answer["run"]] == (answer["recall"], answer["low"], answer["high"])
    relevant = report.result["estimates"]["relevant"]
    there = sum(map(is_relevant, campaign.world.collection.documents.values_list("external_id", flat=True)))
    assert relevant["low"] <= len(QUERIES) * there <= relevant["high"]

    page, overview = campaign.read(report.get_absolute_url()), campaign.read("/collections/harbour/")
    first = f"{answer['recall']:.3f} [{answer['low']:.3f}, {answer['high']:.3f}]"
    for text in (page, overview):
        assert (
            f"Recall@{DEPTH} of {answer['run']} {first} over all relevant documents at once, of the whole"
            in text
        )
    assert (
        f"{answer['found']['recall']:.3f} of the {answer['found']['relevant']} relevant documents found"
        in page
    )
    seen = (
        f"{relevant['seen']} seen of about {relevant['value']:.0f} relevant documents of the whole collection"
    )
    assert seen in page
    judged = re.search(r"Pairs judged (\d+) of (\d+)", campaign.read(queue.get_absolute_url()))
    assert judged
    assert f"{int(judged[2]) - int(judged[1])} of " in overview.partition("Judging ")[2][:10]
    return told
