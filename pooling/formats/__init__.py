"""Every file format in and out; errors name the file, the line, what is wrong and what to do."""

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
