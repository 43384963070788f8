"""Files offered to the browser, from bytes and from an open file."""

from __future__ import annotations

from io import BytesIO

import pytest
from django.http import Http404

from pooling.interface.downloads import Download, offered

FILES = {
    "text": Download(".txt", "text/plain", lambda word: word.encode()),
    "open": Download("-open.txt", "text/plain", lambda word: BytesIO(word.encode())),
}


@pytest.mark.parametrize(("format", "name"), [("text", "report.txt"), ("open", "report-open.txt")])
def test_a_file_is_saved_under_its_name_with_its_media_type(format: str, name: str) -> None:
    response = offered(FILES, format, "report", "said")

    assert response.getvalue() == b"said"  # type: ignore[attr-defined]
    assert response["Content-Disposition"] == f'attachment; filename="{name}"'
    assert response["Content-Type"] == "text/plain"


def test_an_unknown_file_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(Http404, match="no format “pdf”; choose one of text, open"):
        offered(FILES, "pdf", "report", "said")
