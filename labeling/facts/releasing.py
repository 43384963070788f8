"""The facts of a release: confirmed facts and the labels of judged pairs, frozen with their checksums."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db.models import Min

from labeling.facts.labels import support_labels
from labeling.models import Fact, QrelsRelease, Queue
from pooling.formats.errors import FormatError
from pooling.formats.facts.records import PAIR, VERDICTS, FactRecord
from pooling.formats.facts.writing import diversity_lines, facts_lines, supports_lines
from pooling.formats.registry import Format
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.storage.copies import local_path
from pooling.storage.storing import sha256_of

JSON_LINES: Final = "application/x-ndjson"
FACT_FORMATS: Final = {
    one.name: one
    for one in (
        Format("facts", title="Facts (JSON lines)", suffix=".facts.jsonl", media_type=JSON_LINES),
        Format("supports", title="Supports (JSON lines)", suffix=".supports.jsonl", media_type=JSON_LINES),
        Format("diversity", title="TREC diversity qrels", suffix=".diversity.txt"),
    )
}
#: Rules that weigh people need more than a queue of facts has; these are taken by the majority.
WEIGHING: Final = ("weighted", "dawid-skene")


class FrozenFacts(TypedDict):
    """What a sidecar says of facts. covered_by: the smallest number of supports from which a queue asked no
    more, so that measures of repetition are not defined; None where every pair was asked."""

    rule: str
    counts: dict[str, int]
    covered_by: int | None
    facts_sha256: str
    supports_sha256: str


@dataclass(frozen=True)
class Frozen:
    facts: bytes
    supports: bytes
    described: FrozenFacts


def frozen_facts(collection: Collection, rule: str = "majority") -> Frozen | None:
    """The confirmed facts as they are; None where there are none."""
    if not Fact.objects.filter(collection=collection, state=Fact.State.CONFIRMED).exists():
        return None
    rule = "majority" if rule in WEIGHING else rule
    labels = support_labels(collection, rule)
    facts, supports = facts_lines(labels.facts), supports_lines(labels.supports)
    covering = Queue.everything.filter(collection=collection, covered_by__isnull=False)
    covered_by = covering.aggregate(least=Min("covered_by"))["least"]
    return Frozen(
        facts,
        supports,
        {
            "rule": rule,
            "counts": labels.counts.to_dict(),
            "covered_by": covered_by,
            "facts_sha256": hashlib.sha256(facts).hexdigest(),
            "supports_sha256": hashlib.sha256(supports).hexdigest(),
        },
    )


def store_facts(release: QrelsRelease, frozen: Frozen) -> None:
    """Write the files and name them in the release, which is not saved here."""
    stem = f"qrels/{release.collection.slug}/{uuid4().hex}"
    for name, content in (("facts", frozen.facts), ("supports", frozen.supports)):
        place = stem + FACT_FORMATS[name].suffix
        getattr(release, name).name = default_storage.save(place, ContentFile(content))


def has_facts(release: QrelsRelease) -> bool:
    return bool(release.facts.name)


def released_frames(release: QrelsRelease) -> tuple[Sequence[FactRecord], pl.DataFrame]:
    """The facts of a release, and its supports as a frame: query_id, fact_id, document_id, weight. Faster
    than reading them one by one: the checksum says that we wrote them. `InputError` where the release has
    none, or a file was changed."""
    facts = _records(release, "facts", FactRecord._fields[:-1])
    records = [FactRecord(*one) for one in facts.collect().iter_rows()]
    weight = pl.col("verdict").replace_strict(VERDICTS, return_dtype=pl.Float64)
    supports = _records(release, "supports", (*PAIR, "verdict")).select(*PAIR, weight=weight)
    return records, supports.collect(engine="streaming")


def released_facts(release: QrelsRelease, form: str) -> bytes:
    """A release's facts in one of FACT_FORMATS; `InputError` as above, for unfit ids, for an empty file."""
    if form != "facts" and has_facts(release) and not release.sidecar["facts"]["counts"]["pairs"]:
        problem = f"Nobody said for release “{release.name}” which documents support its facts, so the file"
        raise InputError(f"{problem} would be empty. Judge facts, and make another release.", field="format")
    if form != "diversity":
        return _checked(release, form).read_bytes()
    try:
        return diversity_lines(*released_frames(release))
    except FormatError as error:
        raise InputError(str(error), field="format") from error


def facts_in_words(release: QrelsRelease, form: str) -> str:
    counts = release.sidecar["facts"]["counts"]
    if form == "facts":
        return counted(counts["facts"], "fact")
    words = f"{counted(counts['pairs'], 'pair')} of fact and document"
    partly = counts["partly"] if form == "diversity" else 0
    return f"{words}, {partly:,} supported in part as 0," if partly else words


def _records(release: QrelsRelease, name: str, columns: Sequence[str]) -> pl.LazyFrame:
    path, schema = _checked(release, name), dict.fromkeys(columns, pl.String)
    return pl.scan_ndjson(path, schema=schema) if path.stat().st_size else pl.LazyFrame(schema=schema)


def _checked(release: QrelsRelease, name: str) -> Path:
    if not has_facts(release):
        problem = f"The release “{release.name}” has no facts. Confirm some, and make another release."
        raise InputError(problem, field="format")
    path = local_path(getattr(release, name).name)
    if sha256_of(path) != release.sidecar["facts"][f"{name}_sha256"]:
        raise InputError(f"The {name} of release “{release.name}” were changed: the checksum does not match.")
    return path
