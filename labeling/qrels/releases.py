"""Qrels releases: labels frozen under a name with rule, counts, provenance and checksum; reading, export."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from labeling.adaptive.facts import FrozenOrder
from labeling.adaptive.state import frozen_orders
from labeling.facts.releasing import (
    FACT_FORMATS,
    Frozen,
    FrozenFacts,
    frozen_facts,
    released_facts,
    store_facts,
)
from labeling.models import ImportedLabel, Item, Judgment, PrelabelSeen, QrelsRelease, Queue
from labeling.qrels.labels import Labels, current_labels
from labeling.qrels.registry import EXPORTS
from pooling.formats import read_qrels
from pooling.formats.errors import FormatError
from pooling.formats.registry import Format, writing
from pooling.formats.writing import qrels_content
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.people.activity_log import record_action
from pooling.storage.storing import checked_name, disk_errors_named

SCHEMA_VERSION = 1
# What is written next to a release, and can be had alone as well.
SIDECAR = Format("sidecar", title="Sidecar (JSON)", suffix=".meta.json", media_type="application/json")
# What `export_release` writes.
OWN_FORMATS = {**writing("qrels"), SIDECAR.name: SIDECAR, **FACT_FORMATS}
# And what `labeling.qrels.downloads` writes with the texts that belong to the labels.
FORMATS: dict[str, Format] = {**OWN_FORMATS, **EXPORTS}

# The items of a queue that are its pairs: no hidden checks, and nothing that was never asked.
OF_THE_POOL = Q(items__order_key__gt=0) & ~Q(items__state=Item.State.WITHDRAWN)


class Header(TypedDict):
    schema_version: int
    collection: str
    release: str
    rule: str
    format: str
    sha256: str
    released_at: str
    released_by: str | None


class QueueFacts(TypedDict):
    name: str
    pool: str
    pool_version: int
    judgments_per_item: int
    most_judgments_per_item: int | None
    items: int
    state: str


class ImportFacts(TypedDict):
    file: str
    sha256: str
    labels: int


class CompleteFile(TypedDict):
    """A file that was declared complete for its queries: documents that no label names are not relevant."""

    file: str
    sha256: str
    queries: list[str]


class SeenVerdicts(TypedDict):
    """Verdicts given with a model's answer on screen, and those changed once it was revealed."""

    before: int
    after: int


class Provenance(TypedDict):
    """Sources of the labels: queues with their pools, imported files, numbers of verdicts by annotator."""

    queues: list[QueueFacts]
    imports: list[ImportFacts]
    complete: list[CompleteFile]
    annotators: dict[str, int]
    prelabel_seen: SeenVerdicts
    in_quarantine: int
    judged_from: str | None
    judged_until: str | None
    guidelines_sha256: str


class PoolFacts(TypedDict):
    name: str
    version: int
    strategy: str
    depth: int
    budget: int | None
    audit_share: float
    seed: int
    depths: dict[str, int]
    provenance: Mapping[str, Any]
    extends: str | None
    built_at: str


class Audits(TypedDict):
    """Needs of an estimate from the labels: how each pool was drawn, and which pairs [query id, document id]
    ended without a label."""

    pools: list[PoolFacts]
    cannot_judge: list[list[str]]


class Sidecar(Header, Provenance, Audits):
    """The file next to a release; `counts` as in `labeling.qrels.labels.Labels`."""

    counts: Mapping[str, int]
    selections: list[FrozenOrder]
    facts: FrozenFacts | None


def release_qrels(
    collection: Collection, *, name: str, rule: str = "majority", user: User | None = None
) -> QrelsRelease:
    """Freeze the labels of a collection under a name that is not taken.

    The file is TREC qrels, sorted bytewise by query, then document; where an id holds what TREC cannot
    write, it is JSON lines. Judged pairs that are not relevant are in it, and so are imported negatives.
    `InputError` when the name exists or there is no label yet.
    """
    name = free_name(collection, name)
    with transaction.atomic():
        labels = current_labels(collection, rule)
        provenance, audits = _provenance(collection), _audits(collection, labels)
        orders = frozen_orders(collection)
        frozen = frozen_facts(collection, rule)
    if labels.frame.is_empty():
        raise no_labels(collection)
    content, format = _frozen(labels.frame)
    release = QrelsRelease(
        collection=collection,
        name=name,
        rule=rule,
        sha256=hashlib.sha256(content).hexdigest(),
        pair_count=labels.counts["pairs"],
        relevant_count=labels.counts["relevant"],
        query_count=labels.counts["queries"],
        released_by=user,
        released_at=timezone.now(),
    )
    sidecar: Sidecar = {
        **_header(release, format),
        "counts": labels.counts,
        **provenance,
        **audits,
        "selections": orders,
        "facts": None if frozen is None else frozen.described,
    }
    release.sidecar = sidecar
    return _stored(release, content, format, frozen)


def free_name(collection: Collection, name: str) -> str:
    """The name of a new release, trimmed; `InputError` when it is taken, empty or too long."""
    name = checked_name(name, "release")
    if collection.releases.filter(name=name).exists():
        raise _name_exists(name)
    return name


def no_labels(collection: Collection) -> InputError:
    return InputError(f"“{collection.slug}” has no final labels yet. Judge some pairs, or import labels.")


def take_back(release: QrelsRelease, *, by: User | None = None) -> None:
    """Remove a release that nothing rests on yet: the step that made it came to nothing."""
    with transaction.atomic():
        release.delete()
        record_action(release.collection, by, "release taken back", release.name)
    for file in (release.file, release.facts, release.supports):
        if file.name:
            default_storage.delete(str(file.name))


def read_release(release: QrelsRelease) -> pl.DataFrame:
    """Labels of a release (query_id, document_id, relevance), sorted bytewise; `InputError` if altered."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"release{FORMATS[_format_of(release)].suffix}"
        path.write_bytes(_content(release))
        return read_qrels(path).frame


def complete_files(release: QrelsRelease) -> list[CompleteFile]:
    files: list[CompleteFile] = release.sidecar["complete"]
    return files


def export_release(release: QrelsRelease, format: str = "trec") -> bytes:
    """The release as a file of `format`, or its `sidecar`. `InputError` for an unknown format."""
    if format not in OWN_FORMATS:
        problem = f"There is no format “{format}”. Choose one of {', '.join(FORMATS)}."
        raise InputError(problem, field="format")
    if format in FACT_FORMATS:
        return released_facts(release, format)
    if format == "sidecar":
        return as_json(release.sidecar)
    if format == _format_of(release):
        return _content(release)
    return qrels_content(read_release(release), release_file_name(release, format), format)


def release_file_name(release: QrelsRelease, format: str) -> str:
    """A file name for the release in `format`, of letters that every file system takes."""
    from django.utils.text import slugify

    words = slugify(f"{release.collection.slug}-{release.name}") or f"release-{release.pk}"
    return words[:120] + FORMATS[format].suffix


def release_named(collection: Collection, name: str) -> QrelsRelease:
    """The release of this name; `InputError` when there is none."""
    release = collection.releases.filter(name=name).first()
    if release is None:
        problem = f"There is no release “{name}” in “{collection.slug}”."
        raise InputError(problem, field="release", missing=True)
    return release


def newest_release(collection: Collection) -> QrelsRelease:
    """The release made last; `InputError` when there is none."""
    release = collection.releases.listed().first()
    if release is None:
        raise InputError(f"“{collection.slug}” has no qrels release yet. Make one first.", missing=True)
    return release


def as_json(sidecar: Mapping[str, Any]) -> bytes:
    """A sidecar as the bytes of a file."""
    # Sorted, because PostgreSQL hands the keys back in its own order.
    return (json.dumps(sidecar, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def _name_exists(name: str) -> InputError:
    problem = f"Release “{name}” already exists, and releases do not change. Choose another name."
    return InputError(problem, field="name", conflict=True)


def _frozen(frame: pl.DataFrame) -> tuple[bytes, str]:
    """The file's bytes and format: TREC, or JSON lines where an id holds a blank or the like."""
    try:
        return qrels_content(frame, "release", "trec"), "trec"
    except FormatError:
        return qrels_content(frame, "release", "jsonl"), "jsonl"


def _audits(collection: Collection, labels: Labels) -> Audits:
    unanswered = labels.undecided.filter(labels.undecided["outcome"] == "cannot_judge")
    return {
        "pools": [
            {
                "name": pool.name,
                "version": pool.version,
                "strategy": pool.strategy,
                "depth": pool.depth,
                "budget": pool.budget,
                "audit_share": pool.audit_share,
                "seed": pool.seed,
                "depths": pool.depths,
                "provenance": pool.provenance,
                "extends": pool.extends.name if pool.extends else None,
                "built_at": pool.built_at.isoformat(),
            }
            for pool in collection.pools.select_related("extends")
        ],
        "cannot_judge": [list(pair) for pair in unanswered.select("query_id", "document_id").rows()],
    }


def _stored(release: QrelsRelease, content: bytes, format: str, frozen: Frozen | None = None) -> QrelsRelease:
    """Write the files, then the row; they go again when the row cannot be written."""
    place = f"qrels/{release.collection.slug}/{uuid4().hex}{FORMATS[format].suffix}"
    with disk_errors_named():
        try:
            release.file.name = default_storage.save(place, ContentFile(content))
            if frozen is not None:
                store_facts(release, frozen)
            with transaction.atomic():
                release.save()
                facts = {"rule": release.rule, "pairs": release.pair_count, "sha256": release.sha256}
                by = release.released_by
                record_action(release.collection, by, "labels released", release.name, **facts)
        except BaseException as error:
            for name in (release.file.name or place, release.facts.name, release.supports.name):
                if name:
                    default_storage.delete(str(name))
            others = release.collection.releases.filter(name=release.name)
            if isinstance(error, IntegrityError) and others.exists():
                raise _name_exists(release.name) from None
            raise
    return release


def _format_of(release: QrelsRelease) -> str:
    return str(release.sidecar.get("format", "trec"))


def _content(release: QrelsRelease) -> bytes:
    with release.file.open("rb") as file:
        content: bytes = file.read()
    if hashlib.sha256(content).hexdigest() != release.sha256:
        raise InputError(f"The file of release “{release.name}” was changed: its checksum does not match.")
    return content


def _header(release: QrelsRelease, format: str) -> Header:
    user = release.released_by
    return {
        "schema_version": SCHEMA_VERSION,
        "collection": release.collection.slug,
        "release": release.name,
        "rule": release.rule,
        "format": format,
        "sha256": release.sha256,
        "released_at": release.released_at.isoformat(),
        "released_by": user.get_username() if user else None,
    }


def _provenance(collection: Collection) -> Provenance:
    everything = Judgment.objects.filter(collection=collection).order_by()
    judgments = everything.counted()
    span = judgments.aggregate(
        first=Min("judged_at"),
        last=Max("judged_at"),
        before=Count("pk", filter=Q(event__prelabel_seen=PrelabelSeen.BEFORE)),
        after=Count("pk", filter=Q(event__prelabel_seen=PrelabelSeen.AFTER)),
    )
    annotators = judgments.values_list("annotator__username").annotate(verdicts=Count("pk"))
    imports = ImportedLabel.objects.filter(collection=collection).order_by("source_name", "sha256")
    return {
        "queues": [
            {
                "name": queue.name,
                "pool": queue.pool.name,
                "pool_version": queue.pool.version,
                "judgments_per_item": queue.judgments_per_item,
                "most_judgments_per_item": queue.most_judgments_per_item,
                "items": queue.item_count,
                "state": queue.state,
            }
            for queue in Queue.everything.filter(collection=collection)
            .select_related("pool")
            .annotate(item_count=Count("items", filter=OF_THE_POOL))
        ],
        "imports": [
            {"file": file, "sha256": sha256, "labels": labels}
            for file, sha256, labels in imports.values_list("source_name", "sha256").annotate(
                labels=Count("pk")
            )
        ],
        "complete": [
            {"file": file.name, "sha256": file.sha256, "queries": list(file.complete_for)}
            for file in collection.label_files.filter(withdrawn_at=None).order_by("pk")
            if file.complete_for
        ],
        "annotators": dict(annotators.order_by("annotator__username")),
        "prelabel_seen": {"before": span["before"], "after": span["after"]},
        "in_quarantine": everything.filter(quarantine__isnull=False).count(),
        "judged_from": span["first"].isoformat() if span["first"] else None,
        "judged_until": span["last"].isoformat() if span["last"] else None,
        "guidelines_sha256": hashlib.sha256(collection.guidelines.encode()).hexdigest(),
    }
