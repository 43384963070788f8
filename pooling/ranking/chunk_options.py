"""Options of commands for runs of chunks; loads nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pooling.ranking.chunks import Chunks, read_chunk_map


def add_chunk_arguments(add_argument: Callable[..., Any]) -> None:
    add_argument(
        "--collapse-chunks",
        metavar="SEPARATOR",
        help="collapse chunks to documents: the document id is the part before the last SEPARATOR, the "
        "score is that of the best chunk",
    )
    add_argument(
        "--chunk-map",
        metavar="FILE",
        type=Path,
        help="the same with a TSV file of chunk ids and document ids",
    )


def chunks_of(separator: str | None, path: Path | None) -> Chunks | None:
    """Chunks by two options of a command; None where both are absent, ValueError where both are given."""
    if separator is not None and path is not None:
        raise ValueError("--collapse-chunks and --chunk-map are two ways to map chunks; use one of them.")

    if path is not None:
        return read_chunk_map(path)
    return None if separator is None else Chunks(separator)
