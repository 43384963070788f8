from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Generic, ParamSpec

from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

Subject = ParamSpec("Subject")


@dataclass(frozen=True)
class Download(Generic[Subject]):
    suffix: str
    media_type: str
    make: Callable[Subject, bytes | IO[bytes]]


def offered(
    files: Mapping[str, Download[Subject]],
    format: str,
    stem: str,
    *subject: Subject.args,
    **options: Subject.kwargs,
) -> HttpResponseBase:
    """The file that an address calls `format`, as `stem` and its suffix; `Http404` names what there is."""
    if format not in files:
        raise Http404(f"There is no format “{format}”; choose one of {', '.join(files)}.")
    file = files[format]
    return attachment(file.make(*subject, **options), stem + file.suffix, file.media_type)


def attachment(content: bytes | IO[bytes], name: str, media_type: str) -> HttpResponseBase:
    """A file to save; an open one is closed once it is sent."""
    if isinstance(content, bytes):
        return HttpResponse(content, content_type=media_type, headers=saved_as(name))
    return FileResponse(content, as_attachment=True, filename=name, content_type=media_type)


def streamed(pieces: Iterable[bytes | str], name: str, media_type: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(pieces, content_type=media_type, headers=saved_as(name))


def saved_as(name: str) -> dict[str, str]:
    """The header that says so; `name` holds nothing that would have to be quoted."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}
