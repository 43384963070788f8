"""Output of commands, their errors in one line, and the progress of long work; silent in a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pooling.formats.bytes.storable import is_storable
from pooling.interface.results import Progress

Task = TypeVar("Task")
# Library -> the extra that brings it; the others come with every installation.
EXTRAS = {"django": "site", "altair": "charts", "vl_convert": "charts", "reportlab": "pdf"}

#: Arguments that name a file to write.
OUTPUTS = ("output", "review", "run", "clear_queries", "per_query", "html", "junit", "job_summary", "chart")


#: What commands write and none reads.
REPORTS = (".html", ".htm", ".xml", ".svg", ".png", ".md")


class Writer(Protocol):
    """A stream of text: the standard ones, or Django's around them."""

    def write(self, text: str, /) -> Any: ...
    def isatty(self) -> bool: ...


def readable(error: Exception) -> str:
    """The error in one line; an error of the system names its file."""
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    return " ".join(str(error).split())


def refuse_odd_arguments(options: Mapping[str, Any]) -> None:
    """ValueError for an argument that is not UTF-8, for “-” as a file, and for writing what is read."""
    for name, value in options.items():
        texts = value if isinstance(value, list | tuple) else [value]
        if Path("-") in texts:
            problem = "“-” does not stand for standard input or output here. Give the name of a file."
            raise ValueError(f"argument {name.replace('_', '-')}: {problem}")
        if any(isinstance(text, str) and not is_storable(text) for text in texts):
            raise ValueError(f"argument {name.replace('_', '-')}: this is not text in UTF-8. Type it again.")
    _refuse_one_file_twice(options)


def _refuse_one_file_twice(options: Mapping[str, Any]) -> None:
    files = {name: _files(value) for name, value in options.items()}
    outputs = {name: files[name][0] for name in OUTPUTS if files.get(name)}
    inputs = [path for name in files.keys() - outputs.keys() for path in files[name]]
    for output in outputs.values():
        if output.exists() and not output.is_file():
            continue  # a device or a pipe takes everything
        if any(is_same_file(output, one) or _is_data_of(one, output) for one in inputs):
            raise ValueError(f"{output} is read, so it is not written over; name another file.")
        same = [f"--{one.replace('_', '-')}" for one, path in outputs.items() if is_same_file(output, path)]
        if len(same) > 1:
            raise ValueError(f"{' and '.join(same)} are one file; name two.")


def _files(value: Any) -> list[Path]:
    """Those of an argument; of NAME=FILE both readings."""
    given = [one for one in (value if isinstance(value, list | tuple) else [value]) if isinstance(one, Path)]
    return [*given, *(Path(file) for one in given if (file := str(one).partition("=")[2]))]


def is_same_file(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)  # takes links that lead in a circle too


def _is_data_of(folder: Path, file: Path) -> bool:
    """Whether a folder that is read has the file, and it may be data: a report of an earlier call is none."""
    if not (folder.is_dir() and file.is_file()) or file.suffix in REPORTS:
        return False
    return file.resolve().is_relative_to(folder.resolve())


def not_installed(error: ModuleNotFoundError) -> str:
    """A sentence on what to install.

    >>> not_installed(ModuleNotFoundError(name="scipy.stats"))
    'This needs scipy, which is not installed: pip install soundings-ir.'
    """
    name = (error.name or "a library").partition(".")[0]
    what = f"'soundings-ir[{EXTRAS[name]}]'" if name in EXTRAS else "soundings-ir"
    return f"This needs {name}, which is not installed: pip install {what}."


@contextmanager
def whole_installation() -> Iterator[None]:
    """ImportError in a sentence where a dependency was left out."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(not_installed(error)) from error


def tracked(title: str, tasks: Sequence[Task], errors: Writer) -> Iterable[Task]:
    """The tasks, with a progress bar when there are several and `errors` is a terminal."""
    if len(tasks) < 2 or not errors.isatty():
        return tasks
    from rich.console import Console
    from rich.progress import track

    return track(tasks, description=title, console=Console(stderr=True), transient=True)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar on stderr or below a notebook's cell, moved by `progress(share, detail)` of domain functions."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:  # in a build with the least libraries, where nobody looks
        yield lambda share, detail: None
        return
    console = Console(stderr=True)
    if console.is_jupyter:
        yield _bar_of_cell(title)
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(title, total=1.0, detail="")
        yield lambda share, detail: bars.update(task, completed=share, detail=detail)


def _bar_of_cell(title: str) -> Progress:
    """HTML that is replaced in its place: Rich would ask for ipywidgets, which not every notebook has."""
    from IPython.display import display

    def bundle(share: float, detail: str) -> dict[str, str]:
        words = f"{escape(title)} {escape(detail)}"
        return {
            "text/html": f'<progress max="1" value="{share:.3f}"></progress> {words}',
            "text/plain": words,
        }

    handle = display(bundle(0.0, ""), raw=True, display_id=True)
    percents = {0}

    def moved(share: float, detail: str) -> None:
        if round(100 * share) not in percents:  # each is a message to the browser
            percents.add(round(100 * share))
            handle.update(bundle(share, detail), raw=True)

    return moved
