"""Records of files of facts, and the rules that hold for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, NamedTuple

from pooling.formats.errors import excerpt
from pooling.formats.sources import Source
from pooling.formats.wording import counted
from pooling.heavy import pl

Importance = Literal["vital", "okay"]
IMPORTANCES: Final = ("vital", "okay")
#: What a verdict on a fact and a document counts; None is pooled, not judged.
VERDICTS: Final[dict[str, float | None]] = {"supports": 1.0, "partly": 0.5, "no": 0.0, "cannot": None}
#: The same verdicts as nuggetizer writes them.
ASSIGNMENTS: Final = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
#: A fact has this many characters at most.
LONGEST_FACT: Final = 2_000


class FactRecord(NamedTuple):
    """One fact that an answer needs. text: "" with ids alone. group: the part of the question, or ""."""

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


#: What makes a pair of a fact and a document, among the columns of a frame of supports.
PAIR: Final = ("query_id", "fact_id", "document_id")
AT_ONCE = 100_000


def support_frame(supports: Iterable[SupportRecord] = ()) -> pl.DataFrame:
    """Supports as columns: PAIR, weight, line, span_start, span_end. Few of them are objects at a time."""
    schema = {
        **dict.fromkeys(PAIR, pl.String),
        "weight": pl.Float64,
        **dict.fromkeys(("line", "span_start", "span_end"), pl.Int64),
    }
    rows, chunks = iter(supports), [pl.DataFrame(schema=schema)]
    while some := [(*one[:5], *(one.span or (None, None))) for one in islice(rows, AT_ONCE)]:
        chunks.append(pl.DataFrame(some, schema=schema, orient="row"))
    return pl.concat(chunks)


def support_records(frame: pl.DataFrame) -> Iterator[SupportRecord]:
    for query, fact, document, weight, line, start, end in frame.iter_rows():
        yield SupportRecord(query, fact, document, weight, line, None if start is None else (start, end))


@dataclass(frozen=True)
class FactFile:
    """Facts in the order of the file, each once, and a frame of the supports that the same file holds.
    has_ids: without ids they are numbered as they come, and the same number is another fact in another file.
    """

    facts: tuple[FactRecord, ...]
    supports: pl.DataFrame
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


def unique_supports(source: Source, supports: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The supports, each once, and notes; FormatError for two verdicts on one fact and document."""
    repeated = supports.height - supports.select(PAIR).n_unique()
    if not repeated:
        return supports, ()
    kept = supports.unique(PAIR, keep="first", maintain_order=True)
    both = supports.join(kept.select(*PAIR, first="weight", first_line="line"), on=PAIR)
    others = both.filter(pl.col("weight").ne_missing(pl.col("first"))).sort("line")
    for one in others.head(1).iter_rows(named=True):
        fact, document = f"fact {excerpt(one['fact_id'])}", excerpt(one["document_id"])
        problem = f"{fact}, document {document} has another verdict here than on line {one['first_line']}"
        raise source.error(one["line"], problem, "Keep one of the two.")
    return kept, (f"{counted(repeated, 'repeated support')} with the same verdict skipped.",)
