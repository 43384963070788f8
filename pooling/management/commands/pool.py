"""`pool RUN… --depth N`: the pairs to judge, from run files to a TSV, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.command_line import HELP, add_arguments, run
from pooling.interface.commands import InputCommand


class Command(InputCommand):
    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        run(options, self.stdout, self.stderr)
