"""`evaluate QRELS RUN…`: Recall@K and its companions from files, without a database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from evaluation.command_line import HELP, add_arguments, run
from pooling.interface.commands import InputCommand


class Command(InputCommand):
    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 when a mean is below its threshold."""
        if code := run(options, self.stdout, self.stderr):
            sys.exit(code)
