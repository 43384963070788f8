"""The demo's facts: imported, put into a queue, and judged in part by the simulated annotators."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from random import Random
from uuid import UUID

from django.contrib.auth.models import User

from labeling.fact_pages.claims import claim_item
from labeling.fact_pages.opening import FactQueueOptions, open_fact_queue
from labeling.fact_pages.showing import page_for
from labeling.fact_pages.storing import FactPage, FactVerdict, store_page
from labeling.facts.importing import FactImport, import_facts
from labeling.models import FactItem, Queue
from pooling.formats.facts.reading import read_facts, read_supports_of
from pooling.formats.facts.records import support_records
from pooling.formats.facts.writing import WORDS
from pooling.models import Collection, Pool
from soundings.demo.annotators import SimulatedAnnotators

QUEUE_NAME = "Facts of the answers"
# Of the documents; the rest waits for people who open the site.
JUDGED_SHARE = 0.7
ERROR, SECONDS_A_FACT = 0.03, 2.2

Supports = Mapping[tuple[str, str, str], tuple[str, tuple[int, int] | None]]


def bring_facts(collection: Collection, examples: Path, user: User) -> FactImport:
    return import_facts(collection, examples / "facts.jsonl", user=user)


def open_facts(pool: Pool, seed: int, user: User) -> Queue:
    return open_fact_queue(pool, FactQueueOptions(audit_share=0.05, seed=seed), name=QUEUE_NAME, user=user)


def judge_facts(queue: Queue, people: SimulatedAnnotators, examples: Path) -> tuple[int, int]:
    """Judge most documents of the queue, page by page; facts judged, and documents left."""
    supports = _supports(examples)
    wanted = round(JUDGED_SHARE * queue.fact_items.count())
    made = 0
    for place in range(wanted):
        user = people.users[place % len(people.users)]
        item = claim_item(queue, user)
        if item is None:
            break
        made += _judge(item, user, supports, people)
    return made, queue.fact_items.filter(is_open=True).count()


def _supports(examples: Path) -> Supports:
    facts = read_facts(examples / "facts.jsonl").facts
    supports, _ = read_supports_of(facts, examples / "supports.jsonl")
    return {one[:3]: (WORDS[one.weight], one.span) for one in support_records(supports)}


def _judge(item: FactItem, user: User, supports: Supports, people: SimulatedAnnotators) -> int:
    chance = Random(f"{people.seed}\0{item.query.external_id}\0{item.document.external_id}")  # noqa: S311
    made, left = 0, 1
    while left:
        offer = page_for(item.queue, user, item)
        verdicts = []
        for fact in offer["facts"]:
            key = (item.query.external_id, fact["id"], item.document.external_id)
            verdict, span = supports.get(key, ("no", None))
            if chance.random() < ERROR:
                verdict, span = ("no" if verdict == "supports" else "supports"), None
            verdicts.append(FactVerdict(fact["id"], fact["version"], verdict, span))
        spent = timedelta(seconds=SECONDS_A_FACT * len(verdicts) * chance.uniform(0.6, 1.6))
        people.clock.pass_time(spent / len(people.users))
        page = FactPage(
            UUID(int=chance.getrandbits(128)),
            offer["document_version"],
            verdicts,
            round(1000 * spent.total_seconds()),
        )
        left = store_page(item.queue, user, item, page).left
        made += len(verdicts)
    return made
