"""Progress of long work on a terminal; silent in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pooling.jobs import Report


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """A bar on stderr, moved by `report(share, detail)` as the domain functions call it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=1.0, detail="")
        yield lambda share, detail: progress.update(task, completed=share, detail=detail)
