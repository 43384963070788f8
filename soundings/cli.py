"""Entry point of `manage.py X` and `soundings X`, and the overview that `help` prints."""

import ast
import gc
import os
import re
import select
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import NoReturn, TextIO

from pooling.interface.terminal import not_installed, readable, refuse_odd_arguments
from soundings import __version__

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("pooling", "labeling", "evaluation", "soundings")
WORK = {
    "Files, without a site": "read_log draw_queries drift pool simulate evaluate check_vectors "
    "carry_labels find_duplicates interleave judge_interleaving score_clicks",
    "The site": "demo serve migrate create_user reset_password add_member delete_account "
    "purge_deleted trail backup restore",
    "Runs and pools": "import_collection import_run search_run index_texts plan build_pool export_pool",
    "Judging": "import_gold open_queue order_queue queue_status quality "
    "import_judgments export_judgments draft_facts import_facts",
    "Pre-labels by a model": "prelabel_key prelabel prelabel_pass import_prelabels export_prelabels "
    "draw_sample draw_audit prelabel_quality prelabel_use",
    "Labels and reports": "import_qrels withdraw_labels release_qrels export_qrels measure decide canary",
}


def overview(program: str) -> str:
    """A line for each command; Django's own, which `help --commands` lists, are left out."""
    lines = [f"usage: {program} COMMAND …", f"       {program} COMMAND --help"]
    for heading, names in WORK.items():
        lines += ["", heading, *(f"  {name:<20}{_purpose(name)}" for name in names.split())]
    return "\n".join(lines)


def _purpose(name: str) -> str:
    """The docstring of its module, behind the usage."""
    paths = (ROOT / package / "management" / "commands" / f"{name}.py" for package in PACKAGES)
    path = next(path for path in paths if path.exists())
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.sub(r"^`[^`]+`: |(, without a database)?\.$", "", docstring.splitlines()[0])


# Commands that touch files only, and their modules: they need no settings, no database and no data folder,
# and start at once.
FILE_COMMANDS = {
    "evaluate": "evaluation.command_line",
    "pool": "pooling.command_line",
    "simulate": "evaluation.plans.replay_command",
}
OURS = ("soundings", "pooling", "labeling", "evaluation")
# Exit code where nobody reads on, as in `soundings evaluate … | head -1`: that of programs that SIGPIPE ends.
# 1 would say that a threshold was not met, and 0 that all was written.
UNREAD = 141
NEW_DATABASE = (
    "If it is new or of an earlier version, run migrate (serve and demo do so); otherwise check DATABASE_URL."
)


class OneLineParser(ArgumentParser):
    """A parser whose errors are one line; the usage is for `--help`."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def run_on_files(arguments: list[str]) -> None:
    """One of FILE_COMMANDS without loading Django; an option that it does not know may be Django's own."""
    from importlib import import_module

    name = arguments[1]
    command = import_module(FILE_COMMANDS[name])
    parser = OneLineParser(prog=f"{os.path.basename(arguments[0])} {name}", description=command.HELP)
    command.add_arguments(parser)
    options, others = parser.parse_known_intermixed_args(arguments[2:])
    if others:
        package = FILE_COMMANDS[name].partition(".")[0]
        of_django = import_module(f"{package}.management.commands.{name}")
        of_django.Command().run_from_argv(arguments)
        return
    keep_freed_memory()
    try:
        refuse_odd_arguments(vars(options))
        code = command.run(vars(options), sys.stdout, sys.stderr)
    except BrokenPipeError:
        raise
    except (ValueError, OSError) as error:
        _refuse(readable(error))
    sys.exit(code)


def keep_freed_memory() -> None:
    """Let the C library reuse large blocks of memory instead of handing each back to the system at once.

    Getting them again costs more than what is computed in them, and threads wait for each other meanwhile.
    """
    # What NumPy reads when it is loaded: no huge pages, which a busy system must first make room for, and
    # one thread for linear algebra, as starting others takes longer than what they would do.
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import ctypes

    trim_threshold, mmap_threshold = -1, -3  # as <malloc.h> numbers them
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # another C library
    set_option(mmap_threshold, 1 << 26)
    set_option(trim_threshold, 1 << 28)


def open_missing_streams() -> None:
    """Put nothing where a caller closed a standard stream: reading finds the end, writing leaves no trace."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  open as long as the program runs


def main() -> None:
    """Run the command that is named; one line says which library is missing."""
    # A thousand modules are loaded, none of which is garbage: looking for it takes a fifth of the start.
    gc.set_threshold(50_000, 20, 50)
    open_missing_streams()
    try:
        try:
            run_command()
        finally:
            _flush()
    except ModuleNotFoundError as error:
        if "--traceback" in sys.argv or (error.name or "").partition(".")[0] in OURS:
            raise
        _refuse(not_installed(error))
    except BrokenPipeError:
        unread = [stream for stream in (sys.stdout, sys.stderr) if not _has_reader(stream)]
        if not unread:
            raise  # of a connection to elsewhere
        for stream in unread:
            _put_nowhere(stream)
        sys.exit(UNREAD)


def _flush() -> None:
    """Write what is left now, where it can still be told that it cannot be written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _put_nowhere(sys.stdout)
        _refuse(readable(error))


def _put_nowhere(stream: TextIO) -> None:
    """Nothing more is written, not even at the end of the program."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _has_reader(stream: TextIO) -> bool:
    """False for a pipe whose other end is closed."""
    poll = select.poll()
    poll.register(stream, 0)
    return not poll.poll(0)


def run_command() -> None:
    """Run the command that is named; settings or a database that cannot be used are reported in one line."""
    if len(sys.argv) > 1 and sys.argv[1] in FILE_COMMANDS:
        run_on_files(sys.argv)
        return
    if sys.argv[1:] in ([], ["help"], ["--help"], ["-h"]):
        print(overview(os.path.basename(sys.argv[0])))
        return
    if sys.argv[1:] in (["version"], ["--version"]):  # Django would tell its own
        print(__version__)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "soundings.settings")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.db import OperationalError, ProgrammingError

    from soundings.commands import Commands  # Cut: files are read without Django

    try:
        for name in settings.UNREAD_VARIABLES:  # reads the settings before anything rests on them
            print(
                f"{name} is set and is no setting; the guide's page Settings names them all.", file=sys.stderr
            )
        Commands(sys.argv).execute()
    except (ImproperlyConfigured, ValueError) as error:
        if "--traceback" in sys.argv or settings.configured:
            raise
        _refuse(f"The settings are not valid: {error}")
    except (OperationalError, ProgrammingError) as error:
        if "--traceback" in sys.argv:
            raise
        read_only = _on_disk_that_is_read_only()
        _refuse(read_only or f"The database cannot be used. {NEW_DATABASE} It said: {error}")


def _on_disk_that_is_read_only() -> str:
    """The sentence on a database of SQLite that cannot be written; empty where that is not the reason."""
    from django.conf import settings

    from soundings.installation.data_folder import why_read_only  # Cut: files are read without Django

    database = settings.DATABASES["default"]
    if not str(database["ENGINE"]).endswith("sqlite3"):
        return ""
    path = Path(database["NAME"])
    variable = "SOUNDINGS_DATA" if path.parent == settings.DATA_DIR else "DATABASE_URL"
    why = why_read_only(path)
    return f"{variable}: cannot write to {path.parent}: {why}" if why else ""


def _refuse(problem: str) -> NoReturn:
    print(" ".join(problem.split()), file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
