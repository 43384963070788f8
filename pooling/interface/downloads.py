"""Files offered to the browser."""

from __future__ import annotations

from django.http import HttpResponse

# What a download is to the browser; text is shown as text whatever an id holds.
CONTENT_TYPES = {
    "json": "application/json",
    "sidecar": "application/json",
    "jsonl": "application/jsonl",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


def attachment(content: bytes, name: str, format: str) -> HttpResponse:
    """A file to save; `name` holds nothing that would have to be quoted."""
    response = HttpResponse(content, content_type=content_type_of(format))
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def content_type_of(format: str) -> str:
    """What a file of a format is to the browser."""
    return CONTENT_TYPES.get(format, "text/plain; charset=utf-8")
