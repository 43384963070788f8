"""`demo`: the whole way on the example collection, told step by step; then the site to look at it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from rich.console import Console
from rich.table import Table

from evaluation.scoring.wording import percent
from pooling.interface.commands import InputCommand
from soundings.demo.steps import CUTOFFS, Demo, DemoRow, report_rows, run_demo
from soundings.installation.first_use import DEMO_ADMIN, DEMO_ANNOTATOR
from soundings.management.commands.serve import add_address_arguments, prepare
from soundings.serving.processes import require_free_port, serve_site


class Command(InputCommand):
    """Make the collection `demo` from examples/, show the table, and serve."""

    help = "Take the example collection from run files to Recall@K, then serve the site."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="stop after the table")
        add_address_arguments(parser)

    def handle(self, *args: Any, no_serve: bool, host: str, port: int, workers: int, **options: Any) -> None:
        console = _console()
        if not no_serve:
            require_free_port(host, port)
        prepare(self)
        demo = run_demo(Steps(console))
        show_table(console, demo)
        show_people(console, demo, host, port, served=not no_serve)
        if not no_serve:
            serve_site(host, port, workers, lambda sentence: console.print(sentence, highlight=False))


class Steps:
    """Prints each step with its number."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.count = 0

    def __call__(self, sentence: str) -> None:
        self.count += 1
        self.console.print(f"[bold]{self.count:>2}[/bold]  {sentence}", highlight=False)


def _console() -> Console:
    """Colours on a terminal; in a pipe plain text, wide enough not to break the table."""
    console = Console(soft_wrap=True)
    return console if console.is_terminal else Console(width=110, soft_wrap=True)


def show_table(console: Console, demo: Demo) -> None:
    """Recall@K of each run, and for K = 10 its interval, its bounds and how much was judged."""
    table = Table(title="Recall@K, mean over queries", title_justify="left")
    table.add_column("run")
    headings = [*(f"Recall@{k}" for k in CUTOFFS), "95 % interval @10", "bounds @10", "judged@10"]
    for heading in headings:
        table.add_column(heading, justify="right")
    rows = report_rows(demo.report)
    for row in rows:
        table.add_row(row["run"], *_cells(row))
    console.print()
    console.print(table)
    lines = (
        f"{rows[0]['run']}: {rows[0]['recall'][10]['line']}",
        "The interval covers the choice of queries; the bounds cover any labels of the unjudged pairs.",
        "Documents that no run found are not counted: recall is relative to the documents found and judged.",
    )
    for line in lines:
        console.print(line, markup=False, highlight=False)


def _cells(row: DemoRow) -> list[str]:
    at_ten, judged = row["recall"][10], row["judged"][10]
    ranges = [(at_ten["low"], at_ten["high"]), at_ten["bounds"]]
    return [
        *(f"{row['recall'][k]['mean']:.3f}" for k in CUTOFFS),
        *(rf"\[{low:.3f}, {high:.3f}]" for low, high in ranges),
        percent(judged),
    ]


def show_people(console: Console, demo: Demo, host: str, port: int, *, served: bool) -> None:
    """Who can sign in, with passwords that were made just now."""
    console.print()
    console.print("Sign in as (created for this demo, shown only once):", highlight=False)
    for name, what in ((DEMO_ADMIN, "sees everything"), (DEMO_ANNOTATOR, "judges the remaining pairs")):
        line = f"  {name:<15} password {demo.passwords[name]}   {what}"
        console.print(line, markup=False, highlight=False)
    if not served:
        console.print(f"The site: {Path(sys.argv[0]).name} serve", highlight=False)
    console.print()
