"""An application without Django, which says what it was sent and answers as much as is wished."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any

# Deadlines of a server that is to give up soon.
if stall := os.environ.get("STALL_SECONDS"):
    from soundings.serving import line

    line.STALL_SECONDS = float(stall)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """`/N` answers N bytes, `/pieces/N` as they come, `/file/N` from a file; `/` tells what was sent."""
    *how, count = environ["PATH_INFO"].strip("/").split("/")
    if not count:
        body = environ["wsgi.input"].read()
        text = f"{len(body)} {sha256(body).hexdigest()}".encode()
        start_response("200 OK", [("Content-Length", str(len(text)))])
        return [text]
    size = int(count)
    start_response("200 OK", [("Content-Length", str(size))])
    if how == ["file"]:
        file = tempfile.TemporaryFile()  # noqa: SIM115  the server closes it
        file.write(content(size))
        file.seek(0)
        wrapped: Iterable[bytes] = environ["wsgi.file_wrapper"](file)
        return wrapped
    if how == ["pieces"]:
        whole = content(size)
        return (whole[start : start + 50_000] for start in range(0, size, 50_000))
    return [content(size)]


def content(size: int) -> bytes:
    """So many bytes, each place of which can be told from the others."""
    return b"".join(b"%0255d\n" % place for place in range(0, size + 256, 256))[:size]
