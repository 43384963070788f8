"""Requests that once answered 500, each of a kind: what they ask for cannot be, and a sentence says so."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.soundings.everywhere.one_of_each import OneOfEach
from tests.soundings.everywhere.test_who_may import ADDRESSES, address_of

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


@pytest.mark.parametrize("name", ["gold_change", "member_role", "message_answer", "webhook_delivery_again"])
def test_a_form_of_a_row_leads_back_to_the_list_as_it_was(
    one_of_each: OneOfEach, people: dict[str, Client], name: str
) -> None:
    address = address_of(ADDRESSES[name], one_of_each)
    assert people["admin"].post(address, {"next": "/there/?page=2"}).url == "/there/?page=2"
    assert "elsewhere" not in people["admin"].post(address, {"next": "//elsewhere.example/"}).url


#: Address -> what is displayed instead of what it asks for; nothing where that is left out.
MEANINGLESS = {
    "/?page=x": "page=1",
    "/?page=9": "page=1",
    "/collections/{slug}/runs/?page=9": "page=1",
    "/collections/{slug}/runs/?sort=x": "sort=name",
    "/collections/{slug}/runs/?columns=x": "",
    "/collections/{slug}/documents/?text=x": "text=any",
    "/collections/{slug}/documents/?pool=x": "",
    "/collections/{slug}/pools/new/?runs=x": "",
    "/collections/{slug}/pools/new/?runs=999999": "",
    "/collections/{slug}/reports/new/?runs=999999": "",
    "/collections/{slug}/reports/trend/?report=999999": "",
    "/collections/{slug}/gold/edit/?gold=999999": "",
    "/collections/{slug}/gold/decide/?pair=999999:1": "",
    "/collections/{slug}/pools/new/?depth=x": "",
    "/collections/{slug}/queues/new/?pool=x": "",
    "/collections/{slug}/engines/new/?preset=x": "",
    "/collections/{slug}/activity/?what=x": "",
    "/queues/{queue_id}/adjudication/?why=x": "",
    "/queues/{queue_id}/adjudication/?after=999999": "",
    "/queues/{queue_id}/adjudication/rules/?trusted=nobody": "",
    "/queues/{queue_id}/?people-page=9": "people-page=1",
    "/reports/{report_id}/?measure=x": "measure=recall",
    "/reports/{report_id}/?show=x": "",
    "/reports/{report_id}/charts/?k=0": "k=2",
    "/reports/{report_id}/where/?order=x": "order=group",
    "/reports/{report_id}/queries/?run=x": "run=alpha",
    "/reports/{report_id}/ceiling/?stage1=x": "stage1=alpha",
    "/reports/{report_id}/ceiling/?page=9": "page=1",
    "/reports/{report_id}/comparisons/?k=0": "k=2",
}


@pytest.mark.parametrize("address", MEANINGLESS)
def test_a_page_says_what_of_its_address_means_nothing(
    one_of_each: OneOfEach, people: dict[str, Client], address: str
) -> None:
    given = address.rpartition("?")[2]
    instead = (
        f": “{MEANINGLESS[address]}” is displayed instead" if MEANINGLESS[address] else " and is left out"
    )
    page = people["admin"].get(address.format_map(one_of_each.values)).content.decode()
    assert page.count(f"“{given}” in the address means nothing here{instead}.") == 1
    assert page.count("in the address means nothing") == 1


def test_an_address_that_a_page_understands_is_not_spoken_of(
    one_of_each: OneOfEach, people: dict[str, Client]
) -> None:
    addresses = (
        "/collections/{slug}/runs/?sort=-name&page=1&columns=name,rows&q=x",
        "/collections/{slug}/queues/new/?pool={pool_id}",
        "/reports/{report_id}/?measure=recall&k=1&run=beta&count=3&part=worst&show=alpha&show=beta",
        "/reports/{report_id}/where/?by=relevant&measure=recall&k=1&threshold=0.50&order=group&run=*",
        "/reports/{report_id}/queries/?run=beta&measure=recall&k=1&show=all&q=x&sort=-value",
    )
    for address in addresses:
        page = people["admin"].get(address.format_map(one_of_each.values)).content.decode()
        assert "in the address means" not in page, address
