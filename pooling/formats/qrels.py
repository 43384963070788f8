"""Reading judgments in any format: one relevance per pair, conflicting ones refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pooling.formats import trec
from pooling.formats.bytes.lines import QRELS
from pooling.formats.errors import excerpt
from pooling.formats.pairs import PAIR, alike_notes, hashes, repeated_rows
from pooling.formats.registry import source_of
from pooling.formats.runs import column_notes, comment_notes, line_of
from pooling.formats.sources import Source
from pooling.formats.tables import read_table
from pooling.formats.values import INT32
from pooling.formats.wording import counted, plural
from pooling.heavy import pl

SUBTOPICS = (
    "The second column has subtopics: a document has its highest relevance for any of them. "
    "Measures of subtopics take the file as --facts."
)


@dataclass(frozen=True)
class QrelsFile:
    """Judgments as their file tells them; a negative relevance means pooled, not judged, and is kept."""

    frame: pl.DataFrame
    notes: tuple[str, ...]


def read_qrels(
    source: Path | str, *, file_name: str | None = None, max_bytes: int | None = None
) -> QrelsFile:
    """Read qrels: columns query_id, document_id, relevance (Int32), rows in file order.

    A pair that comes twice with the same relevance is kept once, with a note. Raises FormatError for two
    different values of one pair, for a relevance that is no whole number (`1.0` counts as 1) and for a
    malformed line.
    """
    file = source_of(source, file_name, max_bytes, "qrels")
    frame, notes = read_pairs(file)
    frame, merged = merge_repeated(file, frame)
    return QrelsFile(frame.select(*PAIR, pl.col("value").cast(pl.Int32).alias("relevance")), notes + merged)


def read_pairs(file: Source) -> tuple[pl.DataFrame, tuple[str, ...]]:
    if file.format != "trec":
        frame = read_table(file, "qrels")
        return frame.with_columns(hashes()), column_notes(file) + alike_notes(frame)
    read = trec.read_trec(file, QRELS)
    value = read.frame["value"]
    if not bool(((value == value.round(0)) & (value.abs() < INT32)).all()):
        read = trec.read_careful(file, QRELS, need_rank=False)
    notes = comment_notes(file, read.comments, QRELS)
    return read.frame, notes + (() if read.ascii else alike_notes(read.frame))


def merge_repeated(file: Source, frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    repeated = repeated_rows(frame)
    if not repeated.height:
        return frame, ()
    if file.format == "trec" and has_subtopics(file):
        best = frame.filter(pl.col("value") == pl.col("value").max().over(PAIR))
        return best.filter(pl.struct(PAIR).is_first_distinct()), (SUBTOPICS,)
    refuse_conflict(file, frame, repeated)
    kept = frame.filter(pl.struct(PAIR).is_first_distinct())
    count = frame.height - kept.height
    rows = counted(count, "row repeats", "rows repeat")
    return kept, (f"{rows} a pair with the same relevance and {plural(count, 'was', 'were')} skipped.",)


def has_subtopics(file: Source) -> bool:
    """The second column tells rows of the same pair apart, as in qrels of TREC's diversity tasks."""
    seen: set[tuple[str, ...]] = set()
    seconds: set[str] = set()
    for _, line in file.text_lines():
        fields = line.split()
        if len(fields) != QRELS.fields or line.startswith("#"):
            continue
        if tuple(fields[:3]) in seen:
            return False
        seen.add(tuple(fields[:3]))
        seconds.add(fields[1])
    return len(seconds) > 1


def refuse_conflict(file: Source, frame: pl.DataFrame, repeated: pl.DataFrame) -> None:
    first_of_pair = repeated.with_columns(
        first=pl.col("row").first().over(PAIR), first_value=pl.col("value").first().over(PAIR)
    )
    conflicts = first_of_pair.filter(pl.col("value") != pl.col("first_value"))
    if not conflicts.height:
        return
    conflict = conflicts.row(0, named=True)
    earlier = line_of(file, frame, conflict["first"])
    place = "" if earlier is None else f" on line {earlier}"
    raise file.error(
        line_of(file, frame, conflict["row"]),
        f"query {excerpt(conflict['query_id'])}, document {excerpt(conflict['document_id'])} has relevance "
        f"{conflict['value']:.0f} here and {conflict['first_value']:.0f}{place or ' before'}",
        "Keep one of the two.",
    )
