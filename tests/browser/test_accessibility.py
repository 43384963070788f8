"""axe-core finds nothing on the main pages and on the judging page, in light, dark and on a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from evaluation.canaries import hooks
from evaluation.canaries.alerts import News
from evaluation.canaries.deliveries import tell
from evaluation.canaries.measuring import measured, stored
from evaluation.canaries.watching import Alerts
from evaluation.reports.making import ReportInput, create_report
from evaluation.scoring.conventions import Conventions
from labeling.judging import views as judging
from labeling.models import Queue
from labeling.qrels.releases import release_qrels
from labeling.quality.samples import Wanted, open_sample
from labeling.quality.score_audits import AuditDraw, draw_audit
from pooling.models import Membership
from pooling.pools.building import build_pool
from soundings.pages.guide import PAGES
from tests.browser.judging import JUDGMENTS, all_saved, eventually, open_judging, press, ready
from tests.evaluation.canary_cast import make_canary
from tests.evaluation.facts.test_reports import report_of
from tests.evaluation.indexes.test_latency_reports import make_latency_report
from tests.labeling.facts.helpers import bring_proposal, fact_queue
from tests.labeling.helpers import judge, make_prelabels
from tests.pooling.engines.cast import shop
from tests.world import World

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
LOOKS: dict[str, dict[str, Any]] = {"wide": {}, "phone": PHONE}
# What passes is not collected either, and no style sheet is loaded a second time.
ALL_RULES = {"resultTypes": ["violations"], "preload": False}
# The only rule of axe-core whose answer depends on the colours.
COLOURS = {**ALL_RULES, "runOnly": ["color-contrast"]}
RUN = "async (options) => (await axe.run(options)).violations"
# An element's colours depend on what it and all around it are, as style sheets tell elements apart. Marked is
# what no page before had; the answer is what it is.
MARK_NEW = """(seen) => {
    const telling = new RegExp(
        "^(class|id|name|type|value|style|role|scope|rows|hidden|open|disabled|checked)$|^data-" +
        "|^aria-(?!label|describedby|controls|owns)"
    );
    const kinds = new Map();
    const kind = (element) => {
        if (!element) return "";
        if (!kinds.has(element)) {
            const told = [...element.attributes].filter((one) => telling.test(one.name));
            const text = told.map((one) => `${one.name}=${one.value.replace(/\\d+/g, "")}`).join(" ");
            kinds.set(element, `${kind(element.parentElement)} > ${element.tagName} ${text}`);
        }
        return kinds.get(element);
    };
    const known = new Set(seen);
    const fresh = [...document.body.querySelectorAll("*")].filter((element) => !known.has(kind(element)));
    const names = [...new Set(fresh.map(kind))];
    fresh.forEach((element) => element.setAttribute("data-new", ""));
    return names;
}"""
RUN_NEW = "async (options) => (await axe.run('[data-new]', options)).violations"
WITHOUT_COLOURS = {**ALL_RULES, "rules": {"color-contrast": {"enabled": False}}}
# A page whose document has come may still wait for its style sheets.
IS_STYLED = "document.styleSheets.length === document.querySelectorAll('link[rel=stylesheet]').length"
IS_WIDER = "document.documentElement.scrollWidth > innerWidth"
# The first so many of the pages below: the collection and what it has, a queue, a release and a report.
MAIN_PAGES = 12
# Longer than the line of a phone.
LONG_BODY = '{"q": "{{query}}", "size": {{k}}, "fields": ["title", "text", "headings", "keywords"]}'


def violations(page: Page, seen: set[str] | None = None) -> list[str]:
    """What axe-core finds on the page as it is now, in light and in dark: rule and element.

    With `seen`, which grows, colours are looked at where no page before had such an element in such a place.
    """
    eventually(page, lambda: bool(page.evaluate(IS_STYLED)))
    page.evaluate(AXE_SCRIPT)
    found, colours = page.evaluate(RUN, ALL_RULES if seen is None else WITHOUT_COLOURS), RUN
    if seen is not None:
        new = page.evaluate(MARK_NEW, list(seen))
        seen |= set(new)
        colours = RUN_NEW if new else "() => []"
        found += page.evaluate(colours, COLOURS)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += page.evaluate(colours, COLOURS)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    return [f"{rule['id']}: {node['html'][:150]}" for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("look", ["wide", pytest.param("phone", marks=pytest.mark.way)])
def test_the_judging_page(look: str, page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    world.collection.documents.update(text="A night bus, or none. " * 120)
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, queue)
    for key in "jfs":
        press(page, key)
    assert violations(page) == []
    for opens, closes in (("d", "d"), ("x", "Escape"), ("n", "Escape"), ("?", "Escape"), ("p", "p")):
        ready(page)
        page.keyboard.press(opens)
        assert (opens, violations(page)) == (opens, [])
        page.keyboard.press(closes)


@pytest.mark.parametrize("look", LOOKS)
def test_the_judging_page_when_something_is_up(
    look: str,
    page_of: Callable[..., Page],
    world: World,
    queue: Queue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "BREAK_ITEMS", 2)
    world.collection.documents.update(text="")
    world.collection.guidelines = "# Rules\n\n- A timetable answers."
    world.collection.save()
    page = page_of(world.ben, **LOOKS[look])
    open_judging(page, queue)
    found = {}
    page.keyboard.press("q")
    found["no text, stops after this query"] = violations(page)
    press(page, "j")
    press(page, "f")
    expect(page.locator("[data-part=break]")).to_be_visible()
    found["break"] = violations(page)
    page.keyboard.press("Enter")
    all_saved(page)
    page.route(JUDGMENTS, lambda route: route.abort())
    press(page, "s")
    press(page, "j")
    expect(page.locator("[data-part=save_state]")).to_contain_text("1 waiting, trying again")
    found["trouble"] = violations(page)
    page.unroute(JUDGMENTS)
    all_saved(page)
    page.keyboard.press("?")
    page.get_by_role("button", name="Relevant: J.").click()
    found["choosing a key"] = violations(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.route(JUDGMENTS, lambda route: route.fulfill(json={"results": []}))
    ready(page)
    page.keyboard.press("f")
    expect(page.get_by_role("alert")).to_contain_text("could not be saved: the server refused it.")
    found["refused"] = violations(page)
    page.unroute(JUDGMENTS)
    expect(page.locator("[data-part=break]")).to_be_visible()
    page.keyboard.press("Enter")
    ready(page)
    Membership.objects.filter(user=world.ben).delete()
    page.keyboard.press("j")  # a claim may have been told already
    expect(page.locator("[data-part=stopped]")).to_be_visible()
    found["stopped"] = violations(page)
    assert {state: problems for state, problems in found.items() if problems} == {}


def test_pages_without_a_document(page_of: Callable[..., Page], world: World, queue: Queue) -> None:
    for item in queue.items.order_by("order_key")[:17]:
        judge(queue, world.ben, item.pk)
    page = page_of(world.ben)
    open_judging(page, queue)
    page.context.set_offline(True)
    page.keyboard.press("j")
    expect(page.locator("[data-part=save_state]")).to_contain_text("Offline")
    assert violations(page) == []
    page.context.set_offline(False)
    expect(page.locator("[data-part=empty]")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize(
    ("look", "count"),
    [pytest.param("wide", MAIN_PAGES, marks=pytest.mark.way), ("wide", None), ("phone", None)],
)
def test_the_main_pages(
    look: str, count: int | None, page_of: Callable[..., Page], world: World, queue: Queue
) -> None:
    runs = world.import_runs()
    pool = build_pool(world.collection, name="to audit", runs=runs, depth=3, user=world.ada)
    prelabeler = make_prelabels(world)
    audit = draw_audit(pool, prelabeler, AuditDraw(pool.pair_count, strata=1), by=world.ada)
    *_, last = audit.pool.provenance["drawn"][0]
    for one in (queue, audit):
        waiting = one.items.filter(done=0).exclude(query__external_id=last[0], document__external_id=last[1])
        for place, item in enumerate(waiting):
            judge(one, world.ben, item.pk, "relevant" if place % 2 else "not_relevant")
    release = release_qrels(world.collection, name="first", user=world.ada)
    report = create_report(
        world.collection,
        ReportInput(release=release, runs=runs, k=(1, 2), measures=("recall",), conventions=Conventions()),
        user=world.ada,
    )
    open_sample(prelabeler, Wanted("half_width", 0.1), Wanted("half_width", 0.1), by=world.ada)
    page = page_of(world.ada, **LOOKS[look])
    slug = f"/collections/{world.collection.slug}/"
    collection_pages = ["", "runs/", f"runs/{runs[0].pk}/", "pools/", "pools/new/", "qrels/", "members/"]
    others = ["/", "/guide/", f"/queues/{queue.pk}/", release.get_absolute_url(), report.get_absolute_url()]
    for name in ("where/", "queries/", "queries/detail/?query=q1"):
        others.append(f"{report.get_absolute_url()}{name}")
    canary = make_canary(world, Alerts(0.9, mail_to=["ops@example.org"]), tag="", measure="recall@2")
    for run in runs:
        stored(measured(canary, canary.stretches.get(), run, runs))
    tell([News(canary, canary.values.first(), ("below",))])
    hook, _ = hooks.create_hook(
        world.collection, "https://example.org", ["report.made"], by=world.ada, site=""
    )
    hooks.test_hook(hook)
    others += [f"{slug}webhooks/", f"{slug}webhooks/new/", f"/webhooks/{hook.pk}/"]
    others += [canary.get_absolute_url(), make_latency_report(world).get_absolute_url()]
    others += [f"{slug}prelabels/", f"/prelabelers/{prelabeler.pk}/", f"/queues/{queue.pk}/prelabels/"]
    with shop(world, body=LONG_BODY) as (engine, _):
        others += [f"{slug}engines/", f"{slug}engines/new/?preset=elasticsearch", engine.get_absolute_url()]
    others += [f"{slug}judgments/import/", f"/queues/{queue.pk}/prelabels/import/", pool.get_absolute_url()]
    asked = f"pool={pool.pk}&prelabeler={prelabeler.pk}&pairs=1&strata=1&judgments_per_item=1"
    others += [f"{slug}audits/", f"{slug}audits/?{asked}", audit.pool.get_absolute_url()]
    assert report.result["estimates"]["audit_by_scores"]["status"] == "estimated"
    found, seen = {}, set[str]()
    # What `make test` looks at, `make slow` does not again.
    first = MAIN_PAGES if look == "wide" and count is None else 0
    for address in [*(slug + name for name in collection_pages), *others][first:count]:
        page.goto(address, wait_until="domcontentloaded")
        found[address] = violations(page, seen)
        if page.evaluate(IS_WIDER):
            found[address].append("wider than the window")
    page.context.clear_cookies()
    page.goto("/sign-in/")
    found["sign-in"] = violations(page)
    assert {address: problems for address, problems in found.items() if problems} == {}


def test_the_guide(page_of: Callable[..., Page], world: World) -> None:
    page = page_of(world.ada, **LOOKS["phone"])
    found, seen = {}, set[str]()
    for name in PAGES:
        page.goto(f"/guide/{name}/", wait_until="domcontentloaded")
        found[name] = violations(page, seen)
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.parametrize("look", LOOKS)
def test_facts_on_every_page(look: str, page_of: Callable[..., Page], world: World) -> None:
    report = report_of(world)
    bring_proposal(world)
    queue = fact_queue(world)
    page, seen = page_of(world.ada, **LOOKS[look]), set[str]()
    for address in (
        "/collections/harbour/facts/",
        "/collections/harbour/facts/query/?query=q1",
        "/collections/harbour/facts/import/",
        "/collections/harbour/facts/queue/",
        f"/queues/{queue.pk}/facts/",
        f"/queues/{queue.pk}/facts/judge/",
        f"/reports/{report.pk}/facts/?run=alpha&k=1&against=beta",
        f"/reports/{report.pk}/ceiling/?stage1=alpha&k=1",
        f"/reports/{report.pk}/documents/",
    ):
        page.goto(address)
        assert (address, violations(page, seen)) == (address, [])
        assert not page.evaluate(IS_WIDER), address
