"""Facts and supports from a file: checked against the collection, then stored whole or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model
from django.urls import reverse
from django.utils import timezone

from labeling.facts.editing import LONGEST_FACT_ID, folded
from labeling.facts.items import follow_facts
from labeling.facts.labels import FACT_IDS
from labeling.models import Fact, FactVersion, GoldSupport, ImportedSupport
from pooling.formats.errors import FormatError, excerpt
from pooling.formats.facts.reading import read_facts, read_supports_of
from pooling.formats.facts.records import FactFile, FactRecord
from pooling.formats.facts.writing import in_words
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.interface.results import PAGE_ONLY, Imported, Progress
from pooling.models import Collection
from pooling.people.activity_log import record_action
from pooling.storage.frames import rows_frame
from pooling.storage.imports import importer
from pooling.storage.storing import (
    disk_errors_named,
    insert_frame,
    keys_of,
    sha256_of,
    tell_the_planner,
    upsert_frame,
)
from pooling.texts.by_text import QueryLookup
from pooling.texts.importing import lock

BATCH = 1000
_FACT = ["query_id", "fact_id"]


@dataclass(frozen=True)
class FactImport(Imported):
    """What an import of facts did."""

    created: int
    changed: int
    unchanged: int
    supports: int
    left_out: Annotated[int, "Supports of documents that are not in the collection."] = 0
    to_confirm: Annotated[int, "Confirmed facts that the file changed: they are proposals again."] = 0
    # They wait for somebody to confirm them.
    drafts: Annotated[bool, PAGE_ONLY] = False
    by_text: Annotated[bool, PAGE_ONLY] = False
    words = "Facts"

    def __str__(self) -> str:
        parts = [counted(self.created, "new proposal") if self.drafts else f"{self.created:,} new"]
        if self.changed:
            parts.append(f"{self.changed:,} changed")
        if self.to_confirm:
            parts.append(f"{self.to_confirm:,} to confirm again")
        parts.append(f"{self.unchanged:,} {'matched by text' if self.by_text else 'as before'}")
        if self.supports:
            parts.append(counted(self.supports, "support"))
        if self.left_out:
            parts.append(f"{counted(self.left_out, 'support')} of documents not in the collection left out")
        return ", ".join(parts)


def import_facts(
    collection: Collection,
    path: Path,
    *,
    supports: Path | None = None,
    file_name: str | None = None,
    user: User | None = None,
    proposed: bool = False,
) -> FactImport:
    """Store the facts of a file, in any format of `read_facts`, and the supports that it holds.

    Facts are confirmed, since somebody vouches for them by importing them; with `proposed` they wait for
    that. A fact of the same id takes over text, importance and group, as another version where the text
    differs, and is a proposal again where text or importance do. In a file without ids a fact that the query
    has in the same words stays as it is, and any other is a proposal. FormatError with file and line for an
    unknown query. Supports of documents that the collection does not have are left out and counted.
    """
    path = Path(path)
    place = file_name or path.name
    file = read_facts(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES)
    file = _of_our_queries(collection, file, place)
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        ids = {} if file.has_ids else _ids_by_text(collection, file.facts)
        is_proposed = proposed or not file.has_ids
        facts = tuple(one._replace(fact_id=ids.get(one[:2], one[1])) for one in file.facts)
        named = replace(file, facts=facts)
        created, changed, to_confirm = _stored_facts(collection, named, place, user, is_proposed=is_proposed)
        digest = sha256_of(path)
        stored, left_out = _stored_supports(collection, _named(file.supports, ids), (place, digest), user)
        if supports is not None:
            more, _ = read_supports_of(file.facts, supports, max_bytes=settings.MAX_UPLOAD_BYTES)
            origin = (supports.name, sha256_of(supports))
            also = _stored_supports(collection, _named(more, ids), origin, user)
            stored, left_out = stored + also[0], left_out + also[1]
        queries = collection.queries.filter(external_id__in={fact.query_id for fact in file.facts})
        follow_facts(queries.values_list("pk", flat=True))
        record_action(
            collection, user, "facts imported", place, facts=len(file.facts), supports=stored, sha256=digest
        )
    return FactImport(
        created,
        changed,
        len(file.facts) - created - changed,
        stored,
        left_out,
        to_confirm,
        drafts=is_proposed,
        by_text=not file.has_ids,
        page=_page(collection),
    )


def import_supports(
    collection: Collection, path: Path, *, file_name: str | None = None, user: User | None = None
) -> FactImport:
    """Store supports of facts that the collection has: JSON lines of our own, or TREC diversity qrels."""
    path = Path(path)
    place = file_name or path.name
    supports, _ = _supports_in(collection, path, place)
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        stored, left_out = _stored_supports(collection, supports, (place, sha256_of(path)), user)
        record_action(collection, user, "supports imported", place, supports=stored)
    return FactImport(0, 0, 0, stored, left_out, page=_page(collection))


def import_gold_supports(
    collection: Collection, path: Path, *, file_name: str | None = None, user: User | None = None
) -> FactImport:
    """Store supports as known answers, labels of their pairs; `cannot` is no answer and is left out."""
    path = Path(path)
    place = file_name or path.name
    supports, _ = _supports_in(collection, path, place)
    with disk_errors_named(), transaction.atomic():
        lock(collection)
        stored, left_out = _stored(
            GoldSupport,
            collection,
            supports.drop_nulls("weight"),
            verdict="answer",
            created_by=user,
            created_at=timezone.now(),
        )
        record_action(collection, user, "gold supports imported", place, supports=stored)
    left_out += supports["weight"].null_count()
    return FactImport(0, 0, 0, stored, left_out, page=_page(collection))


def _page(collection: Collection) -> str:
    return reverse("facts", args=[collection.slug])


def _supports_in(collection: Collection, path: Path, place: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    facts = [
        FactRecord(query, fact)
        for query, fact in collection.facts.values_list("query__external_id", "external_id")
    ]
    return read_supports_of(facts, path, file_name=place, max_bytes=settings.MAX_UPLOAD_BYTES)


@importer("facts", title="Importing facts", begins_at="facts_import")
def _facts(
    collection: Collection,
    path: Path,
    *,
    progress: Progress,
    of: str = "facts",
    proposed: bool = False,
    **origin: Any,
) -> FactImport:
    if of == "facts":
        return import_facts(collection, path, proposed=proposed, **origin)
    store = import_supports if of == "supports" else import_gold_supports
    return store(collection, path, **origin)


def _of_our_queries(collection: Collection, file: FactFile, place: str) -> FactFile:
    """The file with ids for queries that it names by their text; FormatError for one that is not there."""
    queries = QueryLookup(collection, place)
    ids: dict[str, str] = {}
    for fact in file.facts:
        if fact.query_id in ids:
            continue
        if len(fact.fact_id) > LONGEST_FACT_ID:
            problem = f"the fact id {excerpt(fact.fact_id)} has more than {LONGEST_FACT_ID} characters"
            raise FormatError(place, fact.line, problem, "Shorten it.")
        if fact.query_id in queries.by_id:
            ids[fact.query_id] = fact.query_id
            continue
        match = queries.with_text(fact.query_id, fact.line)
        if match is None:
            problem = f"there is no query {excerpt(fact.query_id)} in the collection"
            raise FormatError(place, fact.line, problem, "Import the queries first.")
        ids[fact.query_id] = match[0]
    return replace(
        file,
        facts=tuple(fact._replace(query_id=ids[fact.query_id]) for fact in file.facts),
        supports=file.supports.with_columns(pl.col("query_id").replace(ids)),
    )


def _ids_by_text(collection: Collection, records: Sequence[FactRecord]) -> dict[tuple[str, str], str]:
    """Query and number in a file -> the id of the fact in the same words, each taken once, or a free one."""
    facts: dict[tuple[str, str], list[str]] = defaultdict(list)
    taken: dict[str, set[str]] = defaultdict(set)
    # By state: of facts in the same words the confirmed one is matched first.
    rows = collection.facts.order_by("state", "position")
    for query, fact, text in rows.values_list("query__external_id", "external_id", "text"):
        facts[query, folded(text)].append(fact)
        taken[query].add(fact)
    ids = {}
    for one in records:
        left, used = facts[one.query_id, folded(one.text)], taken[one.query_id]
        name = left.pop(0) if left else _free_id(one.fact_id, used)
        ids[one.query_id, one.fact_id] = name
        used.add(name)
    return ids


def _free_id(wanted: str, used: set[str]) -> str:
    number = len(used)
    while wanted in used:
        number += 1
        wanted = str(number)
    return wanted


def _named(supports: pl.DataFrame, ids: dict[tuple[str, str], str]) -> pl.DataFrame:
    """The supports of a file without ids under these; others as they are."""
    if not ids:
        return supports
    names = pl.DataFrame(
        [(*fact, name) for fact, name in ids.items()],
        schema=dict.fromkeys((*_FACT, "name"), pl.String),
        orient="row",
    )
    rows = supports.join(names, on=_FACT, how="left", maintain_order="left")
    return rows.with_columns(fact_id=pl.coalesce("name", "fact_id")).drop("name")


def _stored_facts(
    collection: Collection, file: FactFile, place: str, user: User | None, *, is_proposed: bool
) -> tuple[int, int, int]:
    """Facts created, changed, and of these the ones that were confirmed and are to be again."""
    records = file.facts
    queries = keys_of(collection.queries, (one.query_id for one in records))
    for one in records:
        if one.query_id not in queries:
            problem = f"the query {excerpt(one.query_id)} was deleted"
            raise FormatError(place, one.line, problem, "Restore it first.")
    stored = {
        (fact.query_id, fact.external_id): fact
        for fact in Fact.objects.filter(collection=collection, query__in=set(queries.values()))
    }
    last: dict[int, int] = {}
    for fact in stored.values():
        last[fact.query_id] = max(last.get(fact.query_id, 0), fact.position)
    new, changed, versions, to_confirm = [], [], [], 0
    for one in records:
        query = queries[one.query_id]
        earlier = stored.get((query, one.fact_id))
        if earlier is None:
            last[query] = last.get(query, 0) + 1
            text, group = one.text or one.fact_id, one.group[:300]
            new.append((query, one.fact_id, text, one.importance, group, last[query]))
        elif file.has_ids and (_is_another(earlier, one) or earlier.group != one.group[:300]):
            if earlier.state == Fact.State.CONFIRMED and _is_another(earlier, one):
                earlier.state, to_confirm = Fact.State.PROPOSED, to_confirm + 1
            if one.text and earlier.text != one.text:
                earlier.text, earlier.version = one.text, earlier.version + 1
                earlier.meaning = earlier.version
                versions.append(
                    FactVersion(fact=earlier, version=earlier.version, text=one.text, changed_by=user)
                )
            earlier.importance, earlier.group = one.importance, one.group[:300]
            changed.append(earlier)
    _insert_facts(collection, new, user, is_proposed=is_proposed)
    FactVersion.objects.bulk_create(versions, batch_size=BATCH)
    fields = ["text", "version", "meaning", "importance", "group", "state"]
    Fact.objects.bulk_update(changed, fields, batch_size=200)
    tell_the_planner(Fact, len(new))
    return len(new), len(changed), to_confirm


def _insert_facts(
    collection: Collection, new: Sequence[tuple[Any, ...]], user: User | None, *, is_proposed: bool
) -> None:
    """Insert facts, and the first version of each. new: query, id, text, importance, group, position."""
    texts = dict.fromkeys(("external_id", "text", "importance", "group"), pl.String)
    frame = pl.DataFrame(new, schema={"query_id": pl.Int64, **texts, "position": pl.Int64}, orient="row")
    now = timezone.now()
    constants = _constants(
        Fact,
        collection=collection,
        version=1,
        meaning=1,
        edited=False,
        origin=Fact.Origin.IMPORTED,
        state=Fact.State.PROPOSED if is_proposed else Fact.State.CONFIRMED,
        created_by=user,
        created_at=now,
        confirmed_by=None if is_proposed else user,
        confirmed_at=None if is_proposed else now,
    )
    insert_frame(Fact, frame.with_columns(**constants))
    keys = rows_frame(collection.facts.order_by(), fact_id="pk", query_id="query", external_id="external_id")
    versions = frame.join(keys, on=["query_id", "external_id"]).select("fact_id", "text")
    constants = _constants(FactVersion, version=1, same_meaning=False, changed_by=user, changed_at=now)
    insert_frame(FactVersion, versions.with_columns(**constants))


def _is_another(earlier: Fact, one: FactRecord) -> bool:
    return (earlier.text, earlier.importance) != (one.text or earlier.text, one.importance)


def _stored_supports(
    collection: Collection, supports: pl.DataFrame, file: tuple[str, str], user: User | None
) -> tuple[int, int]:
    """Supports stored, and those of documents that are not there. `file`: name and SHA-256."""
    return _stored(
        ImportedSupport,
        collection,
        supports,
        verdict="verdict",
        spans=("span_start", "span_end"),
        source_name=file[0][-300:],
        sha256=file[1],
        imported_by=user,
        imported_at=timezone.now(),
    )


def _stored(
    model: type[Model],
    collection: Collection,
    supports: pl.DataFrame,
    *,
    verdict: str,
    spans: tuple[str, ...] = (),
    **origin: Any,
) -> tuple[int, int]:
    """Rows stored, and those of documents that are not there; each in place of what the pair had."""
    if supports.is_empty():
        return 0, 0
    documents = keys_of(collection.documents, supports["document_id"].unique())
    facts = rows_frame(collection.facts.order_by(), **{"fact": "pk", **FACT_IDS})
    keys = pl.DataFrame(
        {"document_id": list(documents), "document": list(documents.values())},
        schema={"document_id": pl.String, "document": pl.Int64},
    )
    rows = supports.join(facts, on=_FACT).select("fact", "document_id", "weight", *spans)
    rows = rows.join(keys, on="document_id").drop("document_id").sort("fact", "document")
    frame = rows.select(
        fact_id="fact",
        document_id="document",
        **{verdict: in_words()},
        **{name: pl.col(name) for name in spans},
        **_constants(model, collection=collection, **origin),
    )
    upsert_frame(model, frame, unique=("fact_id", "document_id"))
    tell_the_planner(model, len(frame))
    return len(frame), supports.height - len(frame)


def _constants(model: type[Model], **values: Any) -> dict[str, pl.Expr]:
    """What all rows of an import have in common, by column, as the database takes it."""
    constants = {}
    for name, value in values.items():
        field: Any = model._meta.get_field(name)
        plain = field.get_db_prep_save(getattr(value, "pk", value), connection)
        constants[field.column] = pl.lit(str(plain) if isinstance(plain, datetime) else plain)
    return constants
