"""Common to commands: an error of input is one readable line on stderr and exit code 2."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from pooling.interface.terminal import readable, refuse_odd_arguments


class OneLineParser(CommandParser):
    """A parser whose errors are one line; the usage is for `--help`. Options may stand between arguments."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        return self.parse_intermixed_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            super().error(message)
        self.exit(2, f"{self.prog}: {message}\n")


class InputCommand(BaseCommand):
    """A command that reads what people give it; wrong input ends it with one line and exit code 2.

    Subclasses write `handle` as usual and let ValueError (FormatError among them) and OSError through.
    """

    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = OneLineParser  # Django names its own class in the middle of the method
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            refuse_odd_arguments(options)
            return super().execute(*args, **options)
        except BrokenPipeError:
            raise
        except (ValueError, OSError) as error:
            refusal = CommandError(readable(error), returncode=2)
            if options.get("traceback") or not self._called_from_command_line:  # type: ignore[attr-defined]
                raise refusal from error
        # Django would put the name of the exception's class before the sentence.
        self.stderr.write(str(refusal))
        sys.exit(refusal.returncode)
