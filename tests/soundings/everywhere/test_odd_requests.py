"""Requests that once answered 500, each of a kind: what they ask for cannot be, and a sentence says so."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.soundings.everywhere.one_of_each import OneOfEach

#: Address -> what is posted (None: it is read), the status, and words of the answer.
REQUESTS: dict[str, tuple[dict[str, Any] | None, int, str]] = {
    "/reports/{report_id}/queries/?run=unknown&k=-1": (None, 200, ""),
    "/collections/{slug}/gold/make/": ({"query": "q9", "document": "d1", "answer": "relevant"}, 302, ""),
    "/collections/{slug}/gold/decide/": ({"pair": "x"}, 302, ""),
    "/collections/{slug}/activity/?since=0001-01-01&until=9999-12-31": (None, 200, ""),
    "/api/collections/{slug}/activity/lines/?since=0001-01-01&until=9999-12-31": (None, 200, "queue opened"),
    "/sign-in/?next=//elsewhere.example/%0d%0a": (None, 302, ""),
    "/api/collections/{slug}/reports/": ({"k": -1}, 400, "k: "),
    "/api/collections/{slug}/engines/try/": ({"address": "http://a..b/", "query": "x"}, 400, ""),
    "/collections/{slug}/engines/new/": ({"try": "1", "url": "http://" + "x" * 70 + ".example/"}, 200, ""),
}


@pytest.mark.parametrize("address", REQUESTS)
def test_what_cannot_be_is_told(one_of_each: OneOfEach, people: dict[str, Client], address: str) -> None:
    data, status, words = REQUESTS[address]
    filled = address.format_map(one_of_each.values)
    if data is None:
        answer = people["admin"].get(filled)
    else:
        sent = {"content_type": "application/json"} if filled.startswith("/api/") else {}
        answer = people["admin"].post(filled, data, **sent)
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert answer.status_code == status
    assert words in content.decode()


@pytest.mark.parametrize("page", ["no address", "a:b", "//elsewhere.example/", "javascript:x", "٣"])
def test_a_form_goes_on_to_pages_of_this_site_alone(
    one_of_each: OneOfEach, people: dict[str, Client], page: str
) -> None:
    answer = people["admin"].post("/collections/harbour/gold/make/", {"next": page})
    assert answer.url == "/collections/harbour/gold/"
