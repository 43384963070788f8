"""A few facts on the harbour's queries, as files and in the database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from uuid import uuid4

from django.contrib.auth.models import User

from labeling.fact_pages.claims import hold_item
from labeling.fact_pages.opening import FactQueueOptions, open_fact_queue
from labeling.fact_pages.storing import FactPage, FactVerdict, PageOutcome, store_page
from labeling.facts.importing import FactImport, import_facts
from labeling.models import Fact, FactItem, Queue
from tests.labeling.helpers import make_pool
from tests.world import World

FACTS = [
    ("q1", "lines", "Night buses run on lines N1 to N4.", "vital", "When buses run"),
    ("q1", "often", "Night buses come every thirty minutes.", "okay", "When buses run"),
    ("q2", "kept", "Lost property is kept for six weeks.", "vital", ""),
]


def json_lines(folder: Path, name: str, records: Iterable[dict[str, object]]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def facts_file(world: World, facts: Sequence[tuple[str, ...]] = FACTS, name: str = "facts.jsonl") -> Path:
    names = ("query_id", "fact_id", "text", "importance", "group")
    return json_lines(world.folder, name, [dict(zip(names, fact, strict=True)) for fact in facts])


def bring_facts(world: World, facts: Sequence[tuple[str, ...]] = FACTS) -> FactImport:
    return import_facts(world.collection, facts_file(world, facts), user=world.ada)


def fact(world: World, fact_id: str) -> Fact:
    return Fact.objects.get(collection=world.collection, external_id=fact_id)


def many_facts(world: World, count: int, query: str = "q1") -> None:
    bring_facts(world, [(query, f"n{n}", f"Fact number {n}.", "vital", "") for n in range(1, count + 1)])


def fact_queue(
    world: World, *, needed: int = 1, queries: int = 1, documents: int = 1, **options: object
) -> Queue:
    """A queue of facts over the first documents of the first queries."""
    pool = make_pool(world, queries=queries, documents=documents)
    chosen = FactQueueOptions(judgments_per_item=needed, documents="all", **options)  # type: ignore[arg-type]
    return open_fact_queue(pool, chosen, user=world.ada)


def say(queue: Queue, annotator: User, item: FactItem, **verdicts: str) -> PageOutcome:
    """Hold a document, and store a page with these verdicts by fact id, as the facts are now."""
    hold_item(item, annotator)
    facts = {one.external_id: one for one in Fact.objects.filter(query=item.query_id)}
    said = [FactVerdict(name, facts[name].version, verdict) for name, verdict in verdicts.items()]
    return store_page(queue, annotator, item, FactPage(uuid4(), item.document.version, said))


def bring_proposal(world: World, fact_id: str = "maybe") -> None:
    path = facts_file(
        world, [("q1", fact_id, "Night buses are cheap.", "okay", "What it costs")], "more.jsonl"
    )
    import_facts(world.collection, path, user=world.ada, proposed=True)
