"""TREC diversity qrels: `topic subtopic docno rel`; a subtopic is a fact without its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pooling.formats.bytes.lines import Layout
from pooling.formats.facts.records import PAIR, FactRecord, SupportRecord, support_frame
from pooling.formats.sources import Source
from pooling.formats.trec import read_plain
from pooling.formats.values import INT32, BadValueError, parse_relevance
from pooling.heavy import pl

LAYOUT: Final = Layout("diversity", (*PAIR, "value"), "topic subtopic document label")


def read_diversity(source: Source) -> tuple[list[FactRecord], pl.DataFrame]:
    """Every subtopic of the file, in its order; rel above 0 supports, below 0 is pooled, not judged."""
    supports = _regular(source)
    if supports is None:
        supports = support_frame(_rows(source))
    facts = supports.unique(PAIR[:2], keep="first", maintain_order=True)
    rows = facts.select(*PAIR[:2], "line").iter_rows()
    return [FactRecord(query, fact, line=line) for query, fact, line in rows], supports


def _regular(source: Source) -> pl.DataFrame | None:
    """Straight from the disk, where every line has its four fields; None where some need a closer look."""
    table = read_plain(source, LAYOUT)
    if table is None:
        return None
    value = pl.col("value")
    if not table.frame.select(((value == value.round(0)) & (value.abs() < INT32)).all()).item():
        return None
    return table.frame.select(
        *PAIR,
        pl.when(value >= 0).then((value > 0).cast(pl.Float64)).alias("weight"),
        pl.int_range(1, pl.len() + 1).alias("line"),
        *(pl.lit(None, dtype=pl.Int64).alias(name) for name in ("span_start", "span_end")),
    )


def _rows(source: Source) -> Iterator[SupportRecord]:
    for line, text in source.text_lines():
        fields = text.replace("\t", " ").split(" ")
        fields = [one for one in fields if one]
        if not fields or (fields[0].startswith("#") and len(fields) != 4):
            continue
        if len(fields) != 4:
            problem = f"{len(fields)} fields; diversity qrels have 4: topic, subtopic, document, label"
            raise source.error(line, problem, "Give such a file, or facts as JSON lines.")
        query, fact, document, label = fields
        try:
            relevance = parse_relevance(label)
        except BadValueError as bad:
            raise source.error(line, bad.problem, bad.remedy) from bad
        yield SupportRecord(query, fact, document, None if relevance < 0 else float(relevance > 0), line)
