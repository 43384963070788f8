"""What `pool RUN…` understands and does, without Django; heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import Action, ArgumentError, ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pooling.interface.terminal import Writer, tracked
from pooling.merging.choice import Choice
from pooling.ranking.chunk_options import add_chunk_arguments, chunks_of

if TYPE_CHECKING:
    import polars as pl

    from pooling.ranking.chunks import Chunks

HELP = "Merge the tops of runs into one list of pairs to judge."

CHOICE = ("depth", "strategy", "budget", "audit_share", "seed", "ties", "scores", "depths")
PROGRESS = {"SplitRun": "Reading runs", "CountPart": "Counting", "PoolPart": "Pooling"}
TIES = ("docid", "docid-asc", "file", "rank")
SCORES = ("float64", "float32")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="one or more run files")
    add_choice_arguments(parser)
    add_chunk_arguments(parser.add_argument)
    parser.add_argument(
        "--engine", choices=("local", "spark"), default="local", help="where the work is done"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")


def add_choice_arguments(parser: ArgumentParser, *, extends: bool = False) -> None:
    """The options of every command that builds a pool: what is merged, and what of it is judged first.

    Where the command may extend a pool, what is not given is None, since the pool may say it.
    """
    given = Choice(depth=0)
    parser.add_argument(
        "--depth", metavar="N", type=count, required=not extends, help="ranks taken from each run"
    )
    add_run_depth_argument(parser)
    parser.add_argument("--strategy", metavar="S", help="the order of judging (default: rrf)")
    parser.add_argument(
        "--budget", metavar="B", type=count, help="pairs to judge in all (default: every pair)"
    )
    parser.add_argument("--audit-share", metavar="F", type=share, help="part of the budget drawn at random")
    parser.add_argument("--seed", metavar="N", type=int, help="seed of the audit (default: 0)")
    parser.add_argument("--ties", choices=TIES, help="what settles equal scores")
    parser.add_argument("--scores", choices=SCORES, help="precision of comparisons")
    if not extends:
        parser.set_defaults(**{name: getattr(given, name) for name in CHOICE if name != "depth"})


class RunDepth(Action):
    """Collects RUN=N in a dictionary."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        run, _, depth = values.rpartition("=")
        try:
            given = {run: count(depth)}
        except ArgumentTypeError:
            given = {}
        if not run or not given:
            raise ArgumentError(self, f"{values!r} is not RUN=N with a whole number of 1 or more")
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), **given})


def add_run_depth_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--run-depth",
        metavar="RUN=N",
        action=RunDepth,
        dest="depths",
        help="a depth of its own for one run, by name; may be repeated",
    )


def count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share between 0 and 1")
    return value


def run(options: Mapping[str, Any], output: Writer, errors: Writer) -> int:
    """Pool the runs and write the table: the exit code. ValueError and OSError for what cannot be done."""
    from pooling.formats.writing import write_text
    from pooling.merging.merging import build_pool
    from pooling.merging.streaming import named_paths, pool_as_tsv

    choice = Choice(**{name: options[name] for name in CHOICE})
    choice.check()
    named = named_paths(options["runs"])
    choice.check(named)
    chunks = chunks_of(options["collapse_chunks"], options["chunk_map"])
    tops = _tops(named, choice, chunks, errors) if options["engine"] == "local" else None
    if tops is None:
        _pool_in_parts(list(named.values()), choice, chunks, options, output, errors)
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
    options: Mapping[str, Any],
    output: Writer,
    errors: Writer,
) -> None:
    from tempfile import TemporaryDirectory

    from pooling.formats.writing import write_pieces
    from pooling.merging.streaming import pool_in_parts

    def in_turn(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        """The engine of one machine: each task is spread over its cores."""
        return map(function, tracked(PROGRESS.get(type(function).__name__, "Working"), tasks, errors))

    engine: Any = in_turn
    if options["engine"] == "spark":
        from pooling.merging.spark import spark_map as engine  # Cut: for those who ask for Spark alone
    with TemporaryDirectory(prefix="soundings-pool-") as folder:
        pieces, notes = pool_in_parts(paths, choice, Path(folder), engine, chunks)
        _warn(notes, errors)
        if options["output"]:
            write_pieces(options["output"], pieces)
        else:
            for piece in pieces:
                output.write(piece.decode())


def _warn(notes: Iterable[str], errors: Writer) -> None:
    for note in notes:
        errors.write(f"{note}\n")
