"""Static files come compressed to who takes that; pages, which hold secrets, never do."""

from __future__ import annotations

import gzip

import pytest
from django.contrib.staticfiles.finders import find
from django.test import Client

GZIP = {"Accept-Encoding": "gzip"}


def content(client: Client, address: str, headers: dict[str, str]) -> tuple[bytes, str]:
    response = client.get(address, headers=headers)
    return b"".join(response), response.get("Content-Encoding", "")  # type: ignore[arg-type]


@pytest.mark.django_db
def test_static_files_are_compressed_and_pages_are_not(client: Client) -> None:
    path = find("soundings.css")
    assert path
    with open(path, "rb") as file:
        plain = file.read()
    sent, encoding = content(client, "/static/soundings.css", GZIP)
    assert (gzip.decompress(sent), encoding) == (plain, "gzip")
    assert len(sent) < len(plain) / 3
    assert content(client, "/static/soundings.css", {}) == (plain, "")
    assert content(client, "/guide/start/", GZIP)[1] == ""
