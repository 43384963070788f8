"""`pool RUN… --depth N`: the pairs to judge, from run files to a TSV, without a database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pooling.commands import InputCommand

if TYPE_CHECKING:
    import polars as pl

TIES = ("docid", "docid-asc", "file", "rank")
SCORES = ("float64", "float32")


class Command(InputCommand):
    help = "Merge the tops of runs into one list of pairs to judge."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", metavar="RUN", nargs="+", type=Path, help="one or more run files")
        add_choice_arguments(parser)
        parser.add_argument("--engine", choices=("local",), default="local", help="where the work is done")
        parser.add_argument("--output", metavar="FILE", type=Path, help="default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        from pooling.formats.writing import write_text
        from pooling.merging import build_pool
        from pooling.strategies import strategy_named

        strategy_named(options["strategy"])
        names = ("depth", "strategy", "budget", "audit_share", "seed", "ties", "scores")
        tops = self.read_tops(options)
        text = pool_as_tsv(build_pool(tops, finders=False, **{name: options[name] for name in names}))
        if options["output"]:
            write_text(options["output"], text)
        else:
            self.stdout.write(text, ending="")

    def read_tops(self, options: dict[str, Any]) -> dict[str, pl.DataFrame]:
        """The first documents of each run; it is cut right after reading, so memory stays small."""
        from pooling.formats import name_of, read_run
        from pooling.ranking import order_run

        tops: dict[str, pl.DataFrame] = {}
        order = {name: options[name] for name in ("ties", "scores", "depth")}
        for path in with_progress(options["runs"]):
            name = name_of(path)
            if name in tops:
                raise ValueError(f"{path}: there is a run called {name!r} already. Rename one of the files.")
            run = read_run(path, with_rank=options["ties"] == "rank")
            for note in run.notes:
                self.stderr.write(self.style.WARNING(f"{path.name}: {note}"))
            tops[name] = order_run(run.frame, **order).drop("position")
        return tops


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


def with_progress(paths: list[Path]) -> Any:
    """The paths, with a progress bar on a terminal when there are several."""
    if len(paths) < 2 or not sys.stderr.isatty():
        return paths
    from rich.console import Console
    from rich.progress import track

    return track(paths, description="Reading runs", console=Console(stderr=True), transient=True)


def pool_as_tsv(pooled: pl.DataFrame) -> str:
    """The pooled pairs, header first, one tab between; π is empty where there is none."""
    import polars as pl

    from pooling.formats.writing import delimitable, shortest_decimals

    columns = pooled.with_columns(
        pl.col("in_audit").cast(pl.UInt8),
        shortest_decimals(pooled["rrf"]),
        shortest_decimals(pooled["inclusion_probability"]),
    )
    return delimitable("the pool", columns).write_csv(separator="\t", quote_style="never", null_value="")
