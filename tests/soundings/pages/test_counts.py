"""Every place that prints a count prints the same one, over a campaign in which everything happens."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.test import APIClient

from evaluation.estimates.views import pool_finds
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.state import order_by_query
from labeling.adjudication.settling import adjudicate
from labeling.gold.options import GoldOptions
from labeling.gold.quarantine import impose, lift
from labeling.gold.questions import NewQuestion, add_question
from labeling.judging.leases import claim
from labeling.judging.submissions import Submission
from labeling.judging.verdicts import skip, undo
from labeling.models import Item, Judgment, Queue, Verdict
from labeling.progress.counts import queue_progress
from labeling.progress.judged_share import judged_share
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import read_release, release_qrels
from labeling.queues.opening import open_queue
from pooling.pools.building import build_pool
from tests.ground import made_once
from tests.labeling.helpers import judge
from tests.world import World

GOLD = GoldOptions(gold_first_share=0.3, gold_share=0.3, practice_questions=0, repeat_share=0.2)


def numbers(page: str, words: str) -> list[int]:
    """The whole numbers that a page shows in place of `{}` in `words`, whatever tags are between."""
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    found = re.search(re.escape(words).replace(r"\ ", r"\s*").replace(r"\{\}", r"([\d,]+)"), text)
    assert found, f"“{words}” is not on the page."
    return [int(number.replace(",", "")) for number in found.groups()]


def verdict_of(person: str, query: str, step: int) -> str:
    """Of the third query, Ben and Cleo disagree always."""
    if query == "q3":
        return "relevant" if person == "ben" else "not_relevant"
    return "cannot_judge" if step % 5 == 0 else ("relevant", "not_relevant")[step % 3 == 0]


@made_once
def judged_once(world: World) -> Queue:
    """Ben and Cleo judge an adaptive queue with a budget: with skips, undos, ties, gold questions of the pool
    and from elsewhere, imported labels; Cleo is paused and restored."""
    add_question(world.collection, NewQuestion(query="q1", document="d1", answer="relevant"))
    add_question(world.collection, NewQuestion(query="q2", document="d5", answer="not_relevant"))
    path = world.folder / "known.qrels"
    path.write_text("q3 0 d3 1\nq3 0 d2 -1\n")
    import_qrels(world.collection, path, user=world.ada)
    pool = build_pool(
        world.collection,
        name="pool",
        runs=world.import_runs(),
        depth=3,
        strategy="learned",
        audit_share=0.3,
        budget=9,
    )
    queue = open_queue(pool, judgments_per_item=2, seed=1, adaptive=AdaptiveOptions(budget=9), gold=GOLD)
    step = 0
    for round_of in range(12):
        person = (world.ben, world.cleo)[round_of % 2]
        for lease in claim(queue, person, 3).leases:
            step += 1
            query = lease.item.query.external_id
            if step % 7 == 0 and query != "q3":
                skip(queue, person, lease.item_id)
                continue
            said = verdict_of(person.username, query, step)
            reason = {"reason": "other"} if said == "cannot_judge" else {}
            judge(queue, person, lease.item_id, said, key=f"step-{step}", **reason)
            if step % 4 == 0 and query != "q3":
                undo(queue, person, f"step-{step}")
    for question in queue.items.filter(state=Item.State.GOLD):
        judge(queue, world.cleo, question.pk, "relevant")
    tied = queue.items.filter(state=Item.State.ADJUDICATION).order_by("pk")
    assert tied.count() >= 2
    adjudicate(queue, world.ada, Submission(tied[0].pk, "", "relevant"))
    impose(queue, world.cleo, by=world.ada)
    lift(queue, world.cleo, by=world.ada)
    return queue


@pytest.fixture(params=["judged", "paused", "released"])
def queue(request: pytest.FixtureRequest, world: World, judged_once: Queue) -> Queue:
    """The queue of `campaign`: as it is, with one person paused, and after a release was made."""
    made = Queue.objects.get(pk=judged_once.pk)
    if request.param == "paused":
        impose(made, world.cleo, by=world.ada)
    if request.param == "released":
        release_qrels(world.collection, name="first")
    return made


def over_http(world: World, address: str) -> Any:
    api = APIClient()
    api.force_authenticate(world.ada)
    return api.get(address).json()


def test_states_add_up_and_the_page_the_call_and_the_command_agree(
    world: World, client: Client, queue: Queue
) -> None:
    told = over_http(world, f"/api/queues/{queue.pk}/progress/")
    said = io.StringIO()
    call_command("queue_status", "harbour", queue.name, "--format", "json", stdout=said)
    client.force_login(world.ada)
    page = client.get(f"/queues/{queue.pk}/").content.decode()

    assert {key: json.loads(said.getvalue())[key] for key in ("items", "open_items", "judgments")} == {
        key: told[key] for key in ("items", "open_items", "judgments")
    }
    items, waiting = told["items"], told["open_items"]
    assert items["total"] == items["open"] + items["done"] + items["adjudication"]
    assert items["open"] == waiting["free"] + waiting["leased"] + waiting["second_opinion"]
    shown = numbers(
        page,
        "Free {} Held by an annotator {} Waiting for another opinion {} In adjudication {} Settled {} All {}",
    )
    assert shown == [
        *(waiting[key] for key in ("free", "leased", "second_opinion")),
        *(items[key] for key in ("adjudication", "done", "total")),
    ]
    closed = items["done"] + items["adjudication"]
    assert numbers(page, "Pairs judged {} of {}; {} of the {} judgments that they need, from any queue") == [
        *(closed, items["total"], told["judgments"]["done"], told["judgments"]["needed"]),
    ]
    assert f"{closed} of {items['total']} pairs closed" in " ".join(overview(client).split())


def overview(client: Client) -> str:
    return client.get("/collections/harbour/").content.decode()


def test_what_the_budget_went_to_is_the_same_in_the_sentence_and_query_by_query(
    world: World, client: Client, queue: Queue
) -> None:
    order = queue_progress(queue)["order"]
    selection = order_by_query(queue)
    client.force_login(world.ada)
    page = client.get(f"/queues/{queue.pk}/").content.decode()

    assert selection is not None
    assert sum(row["judged"] for row in selection["queries"]) == order["settled"]
    assert numbers(page, "{} of 9 pairs used, {} of them settled") == [order["used"], order["settled"]]
    assert f"{order['used']} used, {order['settled']} of them settled" in order["sentences"][0]
    known = queue.items.filter(order_key__gt=0, state__in=("gold", "aside")).count()
    assert order["settled"] == queue_progress(queue)["items"]["done"] - known
    assert order["used"] <= 9


def test_the_labels_of_a_release_are_the_sum_of_where_they_come_from(
    world: World, client: Client, queue: Queue
) -> None:
    release = release_qrels(world.collection, name="second")
    client.force_login(world.ada)
    page = client.get(f"/collections/harbour/qrels/{release.pk}/").content.decode()

    counts = release.sidecar["counts"]
    told = [("From annotators {}", "human"), ("By adjudication {}", "adjudicated")]
    told += [("From gold questions {}", "gold"), ("Imported {}", "imported")]
    shown = {key: numbers(page, words)[0] for words, key in told if counts[key]}
    assert sum(shown.values()) == counts["pairs"] == numbers(page, "Labels {}")[0]
    assert counts["relevant"] + counts["not_relevant"] + counts["pooled_not_judged"] == counts["pairs"]


def test_what_has_a_label_is_counted_alike_on_the_pool_in_judged_at_k_and_in_a_release(
    world: World, queue: Queue
) -> None:
    rows = read_release(release_qrels(world.collection, name="second")).rows()
    labelled = {(query, document) for query, document, relevance in rows if relevance >= 0}
    names = dict(queue.pool.pool_runs.values_list("index", "run__name"))
    entries = queue.pool.entries.values_list("query__external_id", "document__external_id", "found_by")

    finds = pool_finds(queue.pool)

    assert finds is not None
    assert finds["labelled"] == len(labelled & {entry[:2] for entry in entries})
    for row in judged_share(queue):
        top = [
            entry[:2] for entry in entries for run, rank in entry[2] if names[run] == row["run"] and rank <= 3
        ]
        assert row["now"] == pytest.approx(len(labelled & set(top)) / len(top))


def test_the_answers_of_somebody_restored_are_all_accounted_for(
    world: World, client: Client, judged_once: Queue
) -> None:
    queue = judged_once
    client.force_login(world.ada)

    page = client.get(f"/queues/{queue.pk}/gold/cleo/").content.decode()

    answers = Judgment.objects.filter(is_gold=True, annotator=world.cleo, event__queue=queue)
    assert answers.count() > 0
    assert numbers(page, "Counted answers {}") == [0]
    assert numbers(page, "Before the last restore {}") == [answers.count()]
    assert page.count("not counted: before the last restore") == answers.count()


def test_every_annotator_s_verdicts_are_told_once_by_kind(world: World, queue: Queue) -> None:
    told = over_http(world, f"/api/queues/{queue.pk}/progress/")["annotators"]
    given = Judgment.objects.filter(event__queue=queue, is_adjudication=False)
    by_kind = Counter(given.values_list("annotator__username", "verdict"))
    assert {"ben", "cleo"} <= {row["username"] for row in told}
    for row in told:
        assert {kind: row[kind] for kind in Verdict.values} == {
            kind: by_kind[row["username"], kind] for kind in Verdict.values
        }
        assert row["judged"] == sum(row[kind] for kind in Verdict.values)
