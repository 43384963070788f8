"""What people have in memory, as the files that a site reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any, TypeAlias

from pooling.formats.sources import require_file
from pooling.inputs.given import RunSource, Source
from pooling.inputs.reading import qrels_frame, run_frame

#: The name of a file and the file.
Upload: TypeAlias = "tuple[str, IO[bytes]]"
#: Id -> text, or id -> an object with `text` and more (`title`, `narrative`, `metadata`); or a file's path.
Texts: TypeAlias = "Mapping[str, str | Mapping[str, Any]] | str | Path"


def run_upload(source: RunSource, name: str) -> Upload:
    """A run as a file: a path as it is, anything else that `evaluate` takes as Parquet."""
    if isinstance(source, str | Path):
        return _file(source)
    out = BytesIO()
    run_frame(name, source).write_parquet(out)
    return f"{name}.parquet", out


def qrels_upload(source: Source) -> Upload:
    """Labels as a file, in the same way."""
    if isinstance(source, str | Path):
        return _file(source)
    out = BytesIO()
    qrels_frame(source).write_parquet(out)
    return "qrels.parquet", out


def texts_upload(source: Texts, name: str) -> Upload:
    """Queries or documents as a file: a path as it is, a mapping as JSON Lines."""
    if isinstance(source, str | Path):
        return _file(source)
    lines = (
        json.dumps({"_id": key, **({"text": value} if isinstance(value, str) else value)}, ensure_ascii=False)
        for key, value in source.items()
    )
    return f"{name}.jsonl", BytesIO("".join(f"{line}\n" for line in lines).encode())


def _file(path: str | Path) -> Upload:
    require_file(Path(path))
    # Read whole: it is sent again if a try fails.
    return Path(path).name, BytesIO(Path(path).read_bytes())
