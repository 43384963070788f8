"""The pages for what goes wrong."""

from __future__ import annotations

import errno
import html
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError
from django.test import Client, RequestFactory
from django.test.client import encode_multipart
from django.views.defaults import bad_request, server_error
from pytest_django import Settings

from pooling.models import Membership
from soundings.pages.refusing import our_fault
from tests.world import World


def test_a_page_that_is_not_there_and_one_that_is_not_yours_look_the_same(
    world: World, client: Client
) -> None:
    client.force_login(world.dan)
    missing, hidden = client.get("/collections/nothing/"), client.get("/collections/harbour/")
    assert missing.status_code == hidden.status_code == 404
    assert "Page not found" in missing.content.decode()
    assert [without_token(missing.content)] == [without_token(hidden.content)]


def test_a_missing_page_names_all_that_it_can_be(world: World, client: Client) -> None:
    client.force_login(world.ada)
    gone, nowhere = (client.get(path).content.decode() for path in ("/queues/77/", "/queue/77/"))
    assert "This was removed, you do not have access to it, or the address has a typo." in gone
    assert ("was removed" in nowhere, "Check the address for a typo." in nowhere) == (False, True)


def without_token(page: bytes) -> list[str]:
    return [line for line in page.decode().splitlines() if "csrfmiddlewaretoken" not in line]


def test_a_form_about_what_is_gone_says_so_and_leads_back_to_its_page(world: World, client: Client) -> None:
    client.force_login(world.ada)
    members = "/collections/harbour/members/"
    remove = f"{members}{Membership.objects.get(user=world.cleo).pk}/remove/"
    assert client.post(remove).status_code == 302
    again = client.post(remove, headers={"Referer": f"http://testserver{members}"})
    page = again.content.decode()
    assert again.status_code == 404
    assert "No longer there" in page
    assert f'href="{members}">Back' in page
    gone = "/collections/nothing/edit/"
    for sent_from in (f"http://testserver{gone}", f"http://elsewhere.example{members}", "http://["):
        page = client.post(gone, headers={"Referer": sent_from}).content.decode()
        assert ("No longer there" in page, ">Back<" in page) == (True, False)


def test_a_role_that_does_not_reach_is_told_which_one_does(world: World, client: Client) -> None:
    client.force_login(world.ben)
    response = client.get("/collections/harbour/members/")
    assert response.status_code == 403
    assert "This needs the role admin or viewer; your role here is annotator." in response.content.decode()


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [(server_error, "Something went wrong"), (bad_request, "The request was not understood")],
)
def test_trouble_is_told_in_the_site_s_look_without_a_database(
    rf: RequestFactory, answer: object, sentence: str
) -> None:
    assert callable(answer)
    response = answer(rf.get("/"), Exception("secret")) if answer is bad_request else answer(rf.get("/"))
    page = response.content.decode()
    assert sentence in page
    assert "soundings.css" in page
    assert "secret" not in page


def test_a_page_says_which_methods_its_address_takes(world: World, client: Client) -> None:
    client.force_login(world.ada)
    for asked, allowed in ((client.get("/sign-out/"), "POST, OPTIONS"), (client.post("/find/"), "GET, HEAD")):
        method = asked.request["REQUEST_METHOD"]
        assert (asked.status_code, asked["Allow"]) == (405, allowed)
        assert f"This address takes {allowed}, not {method}." in asked.content.decode()
        assert "not understood" not in asked.content.decode()


def test_the_http_interface_gives_nothing_away_either(world: World, client: Client) -> None:
    client.force_login(world.dan)
    missing, hidden = client.get("/api/collections/nothing/"), client.get("/api/collections/harbour/")
    assert missing.status_code == hidden.status_code == 404
    assert missing.json() == hidden.json()


@pytest.mark.parametrize("path", ["/api/nothing/", "/api/jobs/seven/", "/api/"])
def test_an_address_below_api_that_is_none_is_told_as_data(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["detail"].startswith("No such address")


def test_our_own_faults_are_told_to_programs_as_data(rf: RequestFactory) -> None:
    answer = our_fault(rf.get("/api/collections/"))
    assert answer.status_code == 500
    assert json.loads(answer.content)["detail"] == "Something went wrong."


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("connection refused"), 503, "temporarily unavailable"),
        (InterfaceError("connection already closed"), 503, "temporarily unavailable"),
        (OperationalError("database or disk is full"), 507, "disk is full"),
        (OSError(errno.ENOSPC, "No space left on device"), 507, "disk is full"),
        (RuntimeError("secret"), 500, "Something went wrong"),
    ],
)
def test_an_outage_has_words_of_its_own_without_a_database(
    rf: RequestFactory, error: Exception, status: int, words: str
) -> None:
    for path in ("/collections/", "/api/collections/"):
        try:
            raise error
        except Exception:
            answer = our_fault(rf.get(path))
        assert answer.status_code == status
        text = html.unescape(answer.content.decode())
        assert "secret" not in text
        if path == "/collections/":
            assert words in text
            assert "soundings.css" in text
            assert ("Something went wrong" in text) == (status == 500)


@pytest.mark.usefixtures("everyone_creates")
def test_a_body_too_large_is_refused_as_data(world: World, client: Client, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    client.force_login(world.ada)
    body = {"slug": "large", "name": "Large", "question": "?" * 100}
    answer = client.post("/api/collections/", body, content_type="application/json")
    assert answer.status_code == 413
    assert answer.json()["detail"].startswith("The request body is larger than 100 bytes.")


@pytest.mark.usefixtures("everyone_creates")
@pytest.mark.parametrize(
    "kind", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_a_body_of_megabytes_is_no_form(world: World, client: Client, kind: str) -> None:
    client.force_login(world.ada)
    long = "?" * 2_600_000
    bodies: dict[str, tuple[str | bytes, str]] = {
        "application/json": (f'{{"slug": "{long}"}}', kind),
        "application/x-www-form-urlencoded": (f"slug={long}", kind),
        "multipart/form-data": (encode_multipart("edge", {"slug": long}), f"{kind}; boundary=edge"),
    }
    body, content_type = bodies[kind]
    answer = client.post("/api/collections/", body, content_type=content_type)
    assert answer.status_code == 413
    assert answer.json()["detail"].startswith("The request body is larger than 2,500,000 bytes.")


def test_a_form_of_very_many_parts_is_refused_in_a_sentence(world: World, client: Client) -> None:
    client.force_login(world.ada)
    fields = {f"field{number}": "" for number in range(1_001)}
    files = {f"file{number}": SimpleUploadedFile("a.run", b"x") for number in range(501)}
    for parts in (fields, files):
        answer = client.post("/api/collections/harbour/queries/", parts)
        assert answer.status_code == 400
        assert answer.json()["detail"].startswith("A form has at most 1,000 fields and 500 files.")


@pytest.mark.usefixtures("everyone_creates")
def test_a_body_of_the_wrong_kind_is_the_fault_of_the_whole_request(world: World, client: Client) -> None:
    client.force_login(world.ada)
    answer = client.post("/api/collections/", [1], content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()["fields"]) == {"request"}
    assert answer.json()["detail"] == answer.json()["fields"]["request"]
