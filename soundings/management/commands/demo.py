"""`demo`: the whole way on the example collection, told step by step; then the site to look at it."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from rich.console import Console
from rich.table import Table

from evaluation.scoring.wording import decimal, interval, percent
from pooling.interface.commands import InputCommand
from soundings.demo.steps import TABLE_K, Demo, DemoRow, report_rows, run_demo
from soundings.installation.first_use import DEMO_ADMIN, DEMO_ANNOTATOR
from soundings.management.commands.serve import add_address_arguments, prepare
from soundings.serving.processes import require_free_port, serve_site, served_once


class Command(InputCommand):
    """Make the collection `demo` from examples/, show the table, and serve."""

    help = "Take the example collection from run files to Recall@K, then serve the site."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-serve", action="store_true", help="stop after the table")
        add_address_arguments(parser)

    def handle(self, *args: Any, no_serve: bool, host: str, port: int, workers: int, **options: Any) -> None:
        with nullcontext() if no_serve else served_once(host, port):
            if not no_serve:
                require_free_port(host, port)
            self._show(host, port, served=not no_serve)
            if not no_serve:
                serve_site(host, port, workers)

    def _show(self, host: str, port: int, *, served: bool) -> None:
        console = _console()
        prepare(self)
        demo = run_demo(Steps(console))
        show_table(console, demo)
        show_people(console, demo, host, port, served=served)


class Steps:
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
    title = f"Recall@{TABLE_K} of the whole collection, and of what was found so far"
    table = Table(title=title, title_justify="left")
    table.add_column("run")
    for heading in ("estimate", "95 % interval", "truth", "found so far", f"judged@{TABLE_K}"):
        table.add_column(heading, justify="right")
    rows = report_rows(demo.report)
    for row in rows:
        table.add_row(row["run"], *_cells(row))
    best, relevant = rows[0], demo.report.result["answer"]["found"]["relevant"]
    estimate = best["estimate"]
    console.print()
    console.print(table)
    lines = (
        f"Recall@{TABLE_K} of {best['run']} is {decimal(estimate['value'])}{interval(estimate)} of the whole "
        "collection, by an audit of documents drawn from all of it; the interval covers queries and labels.",
        f"The truth is {decimal(best['truth'])}: the labels in examples/ are complete, as they never are "
        "elsewhere.",
        f"Of the {relevant} relevant documents found so far it is {decimal(best['found']['mean'])}, which is "
        "what other tools print.",
        f"{best['run']}, found so far: {best['found']['line']}",
    )
    for line in lines:
        console.print(line, markup=False, highlight=False)


def _cells(row: DemoRow) -> list[str]:
    estimate = row["estimate"]
    return [
        decimal(estimate["value"]),
        interval(estimate).strip().replace("[", r"\["),
        decimal(row["truth"]),
        decimal(row["found"]["mean"]),
        percent(row["judged"]),
    ]


def show_people(console: Console, demo: Demo, host: str, port: int, *, served: bool) -> None:
    console.print()
    console.print("Sign in as (created for this demo, shown only once):", highlight=False)
    may = {DEMO_ADMIN: "sees everything in this collection", DEMO_ANNOTATOR: "judges the remaining pairs"}
    for name, what in may.items():
        line = f"  {name:<15} password {demo.passwords[name]}   {what}"
        console.print(line, markup=False, highlight=False)
    if not served:
        console.print(f"The site: {Path(sys.argv[0]).name} serve", highlight=False)
    console.print()
