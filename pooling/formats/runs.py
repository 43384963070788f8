"""Reading a run in any format: no pair twice, finite scores, and notes on what looks odd."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pooling.formats import trec
from pooling.formats.bytes.lines import RUN, Layout
from pooling.formats.errors import excerpt
from pooling.formats.pairs import alike_notes, first_repeated, hashes, repeated_rows
from pooling.formats.registry import name_of, source_of
from pooling.formats.sources import Source
from pooling.formats.tables import read_table
from pooling.formats.wording import counted, plural
from pooling.heavy import np, pl


@dataclass(frozen=True)
class RunFile:
    """A run as its file tells it: `frame` in file order, `notes` are warnings for people."""

    name: str
    tag: str
    frame: pl.DataFrame
    notes: tuple[str, ...]


def read_run(
    source: Path | str,
    *,
    name: str | None = None,
    file_name: str | None = None,
    with_rank: bool = False,
    need_rank: bool = True,
    max_bytes: int | None = None,
) -> RunFile:
    """Read a run: columns query_id, document_id, score (and rank), rows in file order.

    With `need_rank=False` the rank is null throughout where the file has none that can be used; otherwise
    that is an error, when the rank is asked for.

    `file_name` is the name a person knows an uploaded file by: its suffix decides the format and errors use
    it. Raises FormatError for a file with any malformed line, a document twice for a query, or a score that
    is not finite.
    """
    file = source_of(source, file_name, max_bytes, "run")
    read = read_trec_run if file.format == "trec" else read_table_run
    frame, notes, tag = read(file, with_rank and need_rank)
    refuse_repeated(file, frame)
    notes += rank_notes(frame)
    columns = [pl.col("query_id"), pl.col("document_id"), pl.col("value").alias("score")]
    columns += [usable_rank(frame)] if with_rank else []
    run_name = name or name_of(file.display_name)
    return RunFile(run_name, tag or run_name, frame.select(columns), notes)


def usable_rank(frame: pl.DataFrame) -> pl.Expr:
    """The ranks where every row has one; a rank for some rows orders nothing."""
    rank = pl.lit(None) if frame["rank"].null_count() else pl.col("rank")
    return rank.cast(pl.Int64).alias("rank")


def read_trec_run(file: Source, need_rank: bool) -> tuple[pl.DataFrame, tuple[str, ...], str]:
    read = trec.read_trec(file, RUN, need_rank=need_rank)
    if need_rank and read.frame["rank"].null_count():
        read = trec.read_careful(file, RUN, need_rank=True)
    notes = comment_notes(file, read.comments, RUN)
    return read.frame, notes + (() if read.ascii else alike_notes(read.frame)), trec.last_tag(file)


def read_table_run(file: Source, need_rank: bool) -> tuple[pl.DataFrame, tuple[str, ...], str]:
    frame = read_table(file, "run")
    if need_rank and frame["rank"].null_count():
        raise file.error(None, "not every row has a rank", "Fill the column rank, or order by score.")
    return frame.with_columns(hashes()), column_notes(file) + alike_notes(frame), ""


def column_notes(file: Source) -> tuple[str, ...]:
    """A note on the columns of a table that has no header."""
    named = [name for name in file.names if name != "_"]
    if not named:
        return ()
    return (f"There is no header: the columns are read as {', '.join(named[:-1])} and {named[-1]}.",)


def comment_notes(file: Source, comments: int, layout: Layout) -> tuple[str, ...]:
    """A note on skipped lines that might have been meant: a commented line can be a query id with `#`."""
    if not comments:
        return ()
    note = comment_sentence(comments)
    for number, line in file.text_lines():
        if line.startswith("#") and trec.reads_as_row(line, layout):
            note += (
                f" Line {number} would be a valid row: ids of queries must not begin with # in this format."
            )
            break
    return (note,)


def comment_sentence(comments: int) -> str:
    lines = f"{comments} {plural(comments, 'line that starts', 'lines that start')}"
    return f"{lines} with # skipped as a comment."


def refuse_repeated(file: Source, frame: pl.DataFrame) -> None:
    repeated = repeated_rows(frame)
    if not repeated.height:
        return
    first, second = first_repeated(repeated)
    query, document = (frame[column][second] for column in ("query_id", "document_id"))
    earlier = also(line_of(file, frame, first))
    raise file.error(
        line_of(file, frame, second),
        f"document {excerpt(document)} appears again for query {excerpt(query)}{earlier}",
        "Keep one row of each document; if these are passages of one document, keep the best.",
    )


def also(line: int | None) -> str:
    return "" if line is None else f" (first on line {line})"


def line_of(file: Source, frame: pl.DataFrame, row: int) -> int | None:
    """The line on which a row stands, found by reading once more; None where the format has no lines."""
    if "line" in frame.columns:
        return int(frame["line"][row]) or None
    return next(islice(trec.numbers_of_rows(file), row, None))


def rank_notes(frame: pl.DataFrame) -> tuple[str, ...]:
    """A note where ranks and scores tell different orders; scores are followed."""
    if frame["rank"].null_count():
        unreadable = frame["rank"].null_count() < frame.height or "line" not in frame.columns
        note = "Some ranks are empty or not whole numbers, so the rank column is not used."
        return (note,) if unreadable else ()
    count = rows_against_rank(frame)
    if not count:
        return ()
    rows = counted(count, "row has", "rows have")
    return (f"{rows} a higher score than the row before by rank: the scores are followed, not the ranks.",)


def rows_against_rank(frame: pl.DataFrame) -> int:
    """Number of rows that score higher than the row just above them by rank, within their query."""
    rank, score = frame["rank"].to_numpy(), frame["value"].to_numpy()
    query = frame["query_hash"].to_numpy()
    same = query[1:] == query[:-1]
    if not bool((same & ((rank[1:] <= rank[:-1]) | (score[1:] > score[:-1]))).any()):
        return 0
    order = np.lexsort((-score, rank, query))
    rank, score, query = rank[order], score[order], query[order]
    against = (query[1:] == query[:-1]) & (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])
    return int(against.sum())
