"""Records of files of facts, and the rules that hold for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from pooling.formats.errors import excerpt
from pooling.formats.sources import Source

Importance = Literal["vital", "okay"]
IMPORTANCES: Final = ("vital", "okay")
#: What a verdict on a fact and a document counts; None is pooled, not judged.
VERDICTS: Final[dict[str, float | None]] = {"supports": 1.0, "partly": 0.5, "no": 0.0, "cannot": None}
#: The same verdicts as nuggetizer writes them.
ASSIGNMENTS: Final = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
#: A fact has this many characters at most.
LONGEST_FACT: Final = 2_000


class FactRecord(NamedTuple):
    """One fact that the answer to a query needs. text: "" where the file has ids alone. group: the part of
    the question that it answers, or ""."""

    query_id: str
    fact_id: str
    text: str = ""
    importance: Importance = "vital"
    group: str = ""
    line: int = 0


class SupportRecord(NamedTuple):
    """A document's support of a fact: 1 supports, 0.5 partly, 0 no, None pooled and not judged. span: the
    evidence, half-open, in characters of the document's text."""

    query_id: str
    fact_id: str
    document_id: str
    weight: float | None
    line: int = 0
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class FactFile:
    """Facts in the order of the file, each once, and the supports that the same file holds. has_ids: without
    ids they are numbered as they come, and the same number is another fact in another file."""

    facts: tuple[FactRecord, ...]
    supports: tuple[SupportRecord, ...] = ()
    notes: tuple[str, ...] = field(default=())
    has_ids: bool = True


def unique_facts(source: Source, facts: Iterable[FactRecord]) -> tuple[FactRecord, ...]:
    """The facts; FormatError for an id that comes twice in a query, a long text, and no fact at all."""
    seen: dict[tuple[str, str], int] = {}
    kept = []
    for fact in facts:
        key = (fact.query_id, fact.fact_id)
        if key in seen:
            names = f"the fact {excerpt(fact.fact_id)} of query {excerpt(fact.query_id)}"
            problem = f"{names} is on line {seen[key]} too"
            raise source.error(fact.line, problem, "Give each fact of a query its own id.")
        if len(fact.text) > LONGEST_FACT:
            problem = f"a fact of {len(fact.text):,} characters; the most are {LONGEST_FACT:,}"
            raise source.error(
                fact.line, problem, "A fact is one claim that one passage can support; divide it."
            )
        seen[key] = fact.line
        kept.append(fact)
    if not kept:
        raise source.error(
            None, "there is no fact in this file", "Check that the program writing it has finished."
        )
    return tuple(kept)


def unique_supports(
    source: Source, supports: Iterable[SupportRecord]
) -> tuple[tuple[SupportRecord, ...], tuple[str, ...]]:
    """The supports, each once, and notes; FormatError for two verdicts on one fact and document."""
    seen: dict[tuple[str, str, str], SupportRecord] = {}
    repeated = 0
    for one in supports:
        key = (one.query_id, one.fact_id, one.document_id)
        first = seen.setdefault(key, one)
        if first is one:
            continue
        if first.weight != one.weight:
            problem = (
                f"fact {excerpt(one.fact_id)}, document {excerpt(one.document_id)} has another verdict here "
                f"than on line {first.line}"
            )
            raise source.error(one.line, problem, "Keep one of the two.")
        repeated += 1
    notes = (f"{repeated:,} repeated supports with the same verdict were skipped.",) if repeated else ()
    return tuple(seen.values()), notes
