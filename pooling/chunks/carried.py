"""Carried labels as files: qrels, next to them the rule of each, and a table of what people must judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pooling.chunks.carrying import Carrying
from pooling.formats.cells import table_lines
from pooling.formats.errors import excerpt
from pooling.formats.registry import format_of, writing
from pooling.formats.sources import without_gz
from pooling.formats.wording import counted, in_a_row, plural
from pooling.formats.writing import write_pieces, write_qrels
from pooling.heavy import pl

REVIEW_COLUMNS = (
    "query_id",
    "chunk_id",
    "document_id",
    "start",
    "end",
    "overlap",
    "relevance",
    "from_chunks",
    "why",
)
IN_WORDS = {
    "identical": "of an identical chunk",
    "evidence": "by evidence",
    "contains": "as they contain a relevant chunk",
    "covered": "as chunks that are not relevant cover them",
}


def rules_path(output: Path) -> Path:
    """The file with the rule of each label: `new.qrels.rules.jsonl` for `new.qrels` and `new.qrels.gz`."""
    return output.with_name(f"{without_gz(output.name)}.rules.jsonl")


def write_labels(carrying: Carrying, output: Path) -> None:
    """The labels in the format that the name says, TREC where it says none, and then their rules."""
    frame = pl.DataFrame(
        [(one.query_id, one.place.chunk_id, one.relevance) for one in carrying.labels],
        schema={"query_id": pl.String, "document_id": pl.String, "relevance": pl.Int32},
        orient="row",
    )
    named = format_of(without_gz(output.name)).name
    write_qrels(frame, output, format=named if named in writing("qrels") else "trec")
    write_pieces(rules_path(output), (line.encode() for line in _rules(carrying)))


def _rules(carrying: Carrying) -> Iterator[str]:
    for one in carrying.labels:
        row = {
            "query_id": one.query_id,
            "chunk_id": one.place.chunk_id,
            "relevance": one.relevance,
            "rule": one.rule,
            "overlap": round(one.overlap, 4),
            "from": [
                {"chunk_id": source.place.chunk_id, "relevance": source.relevance} for source in one.sources
            ],
        }
        yield json.dumps(row, ensure_ascii=False) + "\n"


def write_review(carrying: Carrying, path: Path) -> None:
    """The proposals as TSV, those that share most first; `relevance` is the highest of `from_chunks`."""
    rows = (
        (
            one.query_id,
            one.place.chunk_id,
            one.place.document_id,
            one.place.start,
            one.place.end,
            f"{one.overlap:.4f}",
            max(source.relevance for source in one.sources),
            ", ".join(f"{one.place.chunk_id} ({one.relevance})" for one in one.sources),
            one.why,
        )
        for one in carrying.proposals
    )
    write_pieces(path, (line.encode() for line in table_lines(REVIEW_COLUMNS, rows, "\t")))


def outcome_lines(carrying: Carrying) -> list[str]:
    """How many labels each rule carried, and what became of the relevant ones."""
    counts = {rule: count for rule, count in carrying.counts().items() if count}
    by_rule = [f"{count:,} {IN_WORDS[rule]}" for rule, count in counts.items()]
    reached, proposed = carrying.reached, carrying.proposed
    lost = carrying.relevant - reached - proposed
    return [
        f"{counted(len(carrying.labels), 'label')} carried: {in_a_row(by_rule or ['none'])}.",
        f"Of {counted(carrying.relevant, 'relevant label')}, {reached:,} {plural(reached, 'is', 'are')} "
        f"carried, {proposed:,} {plural(proposed, 'leads', 'lead')} to proposals alone, and {lost:,} "
        "nowhere.",
    ]


def notes_on(carrying: Carrying, old: str, new: str) -> list[str]:
    """Sentences on what was left out, each with an example."""
    notes = []
    if carrying.unjudged:
        notes.append(f"{counted(carrying.unjudged, 'pair')} with a relevance below 0 left out: not judged.")
    if carrying.strangers:
        query, chunk = carrying.strangers[0]
        notes.append(
            f"{len(carrying.strangers):,} of {counted(carrying.given, 'label')} left out, of chunks that are "
            f"not in {old}, such as {excerpt(chunk)} of query {excerpt(query)}."
        )
    if carrying.homeless:
        lost = counted(sum(carrying.homeless.values()), "label")
        notes.append(
            f"{counted(len(carrying.homeless), 'document')} with {lost} not in {new}, such as "
            f"{excerpt(next(iter(carrying.homeless)))}."
        )
    if carrying.changed:
        notes.append(
            f"{counted(len(carrying.changed), 'document')} with another text at the same offsets, such as "
            f"{excerpt(carrying.changed[0])}: only chunks with the same text got its labels."
        )
    if carrying.unbound:
        count = len(carrying.unbound)
        notes.append(
            f"{counted(count, 'excerpt')} {plural(count, 'is', 'are')} not in chunks labelled relevant, such "
            f"as {carrying.unbound[0]} of query {excerpt(carrying.unbound[0].query_id)}; "
            f"{plural(count, 'it carries', 'they carry')} nothing."
        )
    if carrying.partly:
        notes.append(
            f"{counted(carrying.partly, 'pair')} of a query and a new chunk not labelled: only partly in "
            "chunks that are not relevant."
        )
    return notes
