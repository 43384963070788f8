"""What commands write to, and the progress of long work on a terminal; silent in a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from pooling.interface.progress import Progress

Task = TypeVar("Task")


class Writer(Protocol):
    """A stream of text: the standard ones, or Django's around them."""

    def write(self, text: str, /) -> Any: ...

    def isatty(self) -> bool: ...


def tracked(title: str, tasks: Sequence[Task], errors: Writer) -> Iterable[Task]:
    """The tasks, with a progress bar when there are several and `errors` is a terminal."""
    if len(tasks) < 2 or not errors.isatty():
        return tasks
    from rich.console import Console
    from rich.progress import track

    return track(tasks, description=title, console=Console(stderr=True), transient=True)


@contextmanager
def progress_bar(title: str) -> Iterator[Progress]:
    """A bar on stderr, moved by `progress(share, detail)` as the domain functions call it."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(title, total=1.0, detail="")
        yield lambda share, detail: bars.update(task, completed=share, detail=detail)
