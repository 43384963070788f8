"""What `pool RUN…` understands and does, without Django; heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pooling.formats.writing import write_pieces, write_text
from pooling.interface.terminal import Writer, tracked
from pooling.merging.choice import Choice
from pooling.options.arguments import add_option_arguments
from pooling.options.option import options_of
from pooling.ranking.chunk_options import add_chunk_arguments, chunks_of

if TYPE_CHECKING:
    import polars as pl

    from pooling.ranking.chunks import Chunks

HELP = "Merge the tops of runs into one list of pairs to judge."

OPTIONS = options_of(Choice)
PROGRESS = {"SplitRun": "Reading runs", "CountPart": "Counting", "PoolPart": "Pooling"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="one or more run files")
    add_option_arguments(parser, OPTIONS.values())
    add_chunk_arguments(parser.add_argument)
    parser.add_argument(
        "--engine", choices=("local", "spark"), default="local", help="engine that does the work"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")


def run(options: Mapping[str, Any], output: Writer, errors: Writer) -> int:
    """Pool the runs and write the table: the exit code. ValueError and OSError for what cannot be done."""
    from pooling.merging.merging import build_pool
    from pooling.merging.streaming import named_paths, pool_as_tsv

    choice = Choice(**{name: options[name] for name in OPTIONS})
    choice.check()
    named = named_paths(options["runs"])
    choice.check(named)
    chunks = chunks_of(options["collapse_chunks"], options["chunk_map"])
    tops = _tops(named, choice, chunks, errors) if options["engine"] == "local" else None
    if tops is None:
        _pool_in_parts(list(named.values()), choice, chunks, options=options, output=output, errors=errors)
        return 0
    text = pool_as_tsv(build_pool(tops, finders=False, **asdict(choice)))
    if options["output"]:
        write_text(options["output"], text)
    else:
        output.write(text)
    return 0


def _tops(
    named: Mapping[str, Path], choice: Choice, chunks: Chunks | None, errors: Writer
) -> dict[str, pl.DataFrame] | None:
    """The first documents of each run; None when they are too many for memory."""
    from pooling.merging.streaming import MOST_ROWS, read_top

    tops: dict[str, pl.DataFrame] = {}
    notes: list[str] = []
    for name, path in tracked("Reading runs", list(named.items()), errors):
        top, said = read_top(path, choice, chunks)
        tops[name] = top.drop("position")
        notes += [f"{path.name}: {note}" for note in said]
        if sum(frame.height for frame in tops.values()) > MOST_ROWS:
            return None
    _warn(notes, errors)
    return tops


def _pool_in_parts(
    paths: Sequence[Path],
    choice: Choice,
    chunks: Chunks | None,
    *,
    options: Mapping[str, Any],
    output: Writer,
    errors: Writer,
) -> None:
    from tempfile import TemporaryDirectory

    from pooling.merging.streaming import pool_in_parts

    def in_turn(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        """The engine of one machine: each task is spread over its cores."""
        return map(function, tracked(PROGRESS.get(type(function).__name__, "Working"), tasks, errors))

    engine: Any = in_turn
    if options["engine"] == "spark":
        from pooling.merging.spark import spark_map as engine  # Cut: for those who ask for Spark alone
    with TemporaryDirectory(prefix="soundings-pool-") as folder:
        pieces, notes = pool_in_parts(paths, choice, folder=Path(folder), engine=engine, chunks=chunks)
        _warn(notes, errors)
        if options["output"]:
            write_pieces(options["output"], pieces)
        else:
            for piece in pieces:
                output.write(piece.decode())


def _warn(notes: Iterable[str], errors: Writer) -> None:
    for note in notes:
        errors.write(f"{note}\n")
