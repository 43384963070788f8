"""`simulate QRELS RUN… --depth N`: strategies replayed on labels one already has, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluation.plans.replay_command import HELP, add_arguments, run
from pooling.interface.commands import InputCommand


class Command(InputCommand):
    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        run(options, self.stdout, self.stderr)
