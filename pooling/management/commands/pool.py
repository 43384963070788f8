"""`pool RUN… --depth N`: the pairs to judge, from run files to a TSV, without a database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pooling.commands import InputCommand

if TYPE_CHECKING:
    import polars as pl

    from pooling.streaming import Choice

CHOICE = ("depth", "strategy", "budget", "audit_share", "seed", "ties", "scores")
PROGRESS = {"SplitRun": "Reading runs", "CountPart": "Counting", "PoolPart": "Pooling"}
TIES = ("docid", "docid-asc", "file", "rank")
SCORES = ("float64", "float32")


class Command(InputCommand):
    help = "Merge the tops of runs into one list of pairs to judge."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="one or more run files")
        add_choice_arguments(parser)
        parser.add_argument(
            "--engine", choices=("local", "spark"), default="local", help="where the work is done"
        )
        parser.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        from pooling.formats.writing import write_text
        from pooling.streaming import Choice, named_paths, pool_as_tsv

        choice = Choice(**{name: options[name] for name in CHOICE})
        choice.check()
        named = named_paths(options["runs"])
        if options["engine"] == "local":
            tops = self.read_tops(named, choice)
            if tops is not None:
                text = pool_as_tsv(choice.pool(tops))
                if options["output"]:
                    write_text(options["output"], text)
                else:
                    self.stdout.write(text, ending="")
                return
        self.pool_in_parts(list(named.values()), choice, options)

    def read_tops(self, named: dict[str, Path], choice: Choice) -> dict[str, pl.DataFrame] | None:
        """The first documents of each run; None when they are too many for memory."""
        from pooling.streaming import MOST_ROWS, read_top

        tops: dict[str, pl.DataFrame] = {}
        said: list[str] = []
        for name, path in with_progress("Reading runs", list(named.items())):
            top, notes = read_top(path, choice)
            tops[name] = top.drop("position")
            said += [f"{path.name}: {note}" for note in notes]
            if sum(frame.height for frame in tops.values()) > MOST_ROWS:
                return None
        self.warn(said)
        return tops

    def pool_in_parts(self, paths: list[Path], choice: Choice, options: dict[str, Any]) -> None:
        from pooling.formats.writing import write_pieces
        from pooling.streaming import pool_in_parts

        engine: Any = in_turn
        if options["engine"] == "spark":
            from pooling.spark import spark_map as engine
        with TemporaryDirectory(prefix="soundings-pool-") as folder:
            pieces, notes = pool_in_parts(paths, choice, Path(folder), engine)
            self.warn(notes)
            if options["output"]:
                write_pieces(options["output"], pieces)
            else:
                for piece in pieces:
                    self.stdout.write(piece.decode(), ending="")

    def warn(self, notes: list[str]) -> None:
        for note in notes:
            self.stderr.write(self.style.WARNING(note))


def in_turn(function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
    """The engine of one machine: each task is spread over its cores."""
    return map(function, with_progress(PROGRESS.get(type(function).__name__, "Working"), tasks))


def add_choice_arguments(parser: ArgumentParser) -> None:
    """The options of every command that builds a pool: what is merged, and what of it is judged first."""
    parser.add_argument("--depth", metavar="N", type=count, required=True, help="ranks taken from each run")
    parser.add_argument("--strategy", metavar="S", default="rrf", help="the order of judging (default: rrf)")
    parser.add_argument(
        "--budget", metavar="B", type=count, help="pairs to judge in all (default: every pair)"
    )
    parser.add_argument(
        "--audit-share", metavar="F", type=share, default=0.0, help="part of the budget drawn at random"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the audit (default: 0)")
    parser.add_argument("--ties", choices=TIES, default="docid", help="what settles equal scores")
    parser.add_argument("--scores", choices=SCORES, default="float64", help="precision of comparisons")


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


def with_progress(what: str, tasks: Sequence[Any]) -> Iterable[Any]:
    """The tasks, with a progress bar on a terminal when there are several."""
    if len(tasks) < 2 or not sys.stderr.isatty():
        return tasks
    from rich.console import Console
    from rich.progress import track

    return track(tasks, description=what, console=Console(stderr=True), transient=True)
