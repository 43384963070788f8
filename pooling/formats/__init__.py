"""Every file format in and out; errors name the file, the line, what is wrong and what to do.

Each name is loaded on first use: not every way of reading needs Polars, which is dear to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pooling.formats.errors import FormatError
    from pooling.formats.qrels import QrelsFile, read_qrels
    from pooling.formats.records import DocumentRecord, QueryRecord, iterate_documents, read_queries
    from pooling.formats.registry import name_of
    from pooling.formats.runs import RunFile, read_run
    from pooling.formats.sources import DEFAULT_MAX_BYTES
    from pooling.formats.writing import write_qrels, write_run

__all__ = [
    "DEFAULT_MAX_BYTES",
    "DocumentRecord",
    "FormatError",
    "QrelsFile",
    "QueryRecord",
    "RunFile",
    "iterate_documents",
    "name_of",
    "read_qrels",
    "read_queries",
    "read_run",
    "write_qrels",
    "write_run",
]

_HOMES = {
    "errors": ("FormatError",),
    "qrels": ("QrelsFile", "read_qrels"),
    "records": ("DocumentRecord", "QueryRecord", "iterate_documents", "read_queries"),
    "registry": ("name_of",),
    "runs": ("RunFile", "read_run"),
    "sources": ("DEFAULT_MAX_BYTES",),
    "writing": ("write_qrels", "write_run"),
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
