"""What a client does about sites that are slow, away or refuse; without a network and without waiting."""

from __future__ import annotations

import logging
from collections.abc import Callable

import httpx2
import pytest

import soundings
from soundings.client import problems
from soundings.client.connection import Connection, pause_after

SITE = "https://soundings.example.org"
TOKEN = "a-token-of-mine"
Answer = httpx2.Response | Exception


def site(*answers: Answer) -> tuple[Connection, list[httpx2.Request], list[float]]:
    """A connection that gets these answers in turn, what it sent, and how long it waited."""
    sent: list[httpx2.Request] = []
    waited: list[float] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        given = answers[min(len(sent), len(answers)) - 1]
        if isinstance(given, Exception):
            raise given
        return given

    transport = httpx2.MockTransport(answer)
    return Connection(SITE, TOKEN, transport=transport, sleep=waited.append), sent, waited


def refusal(status: int, detail: str = "No.", **fields: str) -> httpx2.Response:
    return httpx2.Response(status, json={"detail": detail, "fields": fields})


def fine() -> httpx2.Response:
    return httpx2.Response(200, json={"name": "Mine"})


@pytest.mark.parametrize("passing", [refusal(429), refusal(502), refusal(503), httpx2.ReadError("broke")])
def test_a_reading_call_is_tried_again(passing: Answer) -> None:
    connection, sent, waited = site(passing, fine())
    assert connection.get("collections/mine/") == {"name": "Mine"}
    assert len(sent) == 2
    assert len(waited) == 1


@pytest.mark.parametrize("broken", [refusal(503), httpx2.ReadError("broke")])
def test_a_call_that_may_have_been_done_is_not_sent_twice(broken: Answer) -> None:
    connection, sent, _ = site(broken, fine())
    with pytest.raises(problems.Unavailable):
        connection.call("POST", "collections/", json={})
    assert len(sent) == 1


@pytest.mark.parametrize("undone", [refusal(429), httpx2.ConnectError("refused")])
def test_a_call_that_was_surely_not_done_is_sent_again(undone: Answer) -> None:
    connection, sent, _ = site(undone, fine())
    connection.call("POST", "collections/", json={})
    assert len(sent) == 2


def test_a_site_that_stays_away_is_named_at_last() -> None:
    connection, sent, waited = site(httpx2.ConnectError("refused"))
    with pytest.raises(problems.NotReached, match="cannot be reached"):
        connection.get("collections/")
    assert len(sent) == len(waited) + 1 == 5


def test_pauses_grow_and_follow_what_the_site_asks_for() -> None:
    assert 0.25 <= pause_after(1) <= 0.5
    assert 2 <= pause_after(4) <= 4
    assert pause_after(1, httpx2.Response(429, headers={"Retry-After": "7"})) == 7


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, problems.Refused),
        (401, problems.NotSignedIn),
        (403, problems.NotAllowed),
        (404, problems.NotFound),
        (409, problems.Conflict),
        (500, problems.Problem),
    ],
)
def test_a_refusal_is_its_own_exception_with_the_sites_sentence(status: int, kind: type) -> None:
    connection, _, _ = site(refusal(status, "Choose another name.", name="It is taken."))
    with pytest.raises(kind, match=r"Choose another name\.") as refused:
        connection.call("POST", "collections/", json={})
    assert type(refused.value) is kind
    assert refused.value.fields == {"name": "It is taken."}


def test_an_answer_that_is_no_json_is_a_problem_all_the_same() -> None:
    connection, _, _ = site(httpx2.Response(500, text="<h1>Oops</h1>"))
    with pytest.raises(problems.Problem, match="HTTP 500"):
        connection.call("POST", "collections/", json={})


def test_pages_are_followed_to_the_last() -> None:
    more = httpx2.Response(200, json=[1, 2], headers={"Link": '<https://x/?page=2>; rel="next"'})
    connection, sent, _ = site(more, httpx2.Response(200, json=[3]))
    assert list(connection.pages("collections/mine/runs/")) == [1, 2, 3]
    assert [request.url.params["page"] for request in sent] == ["1", "2"]


def job(state: str, detail: str = "") -> httpx2.Response:
    body = {"state": state, "progress": 0.5, "detail": detail, "result": {"id": 7}}
    return httpx2.Response(200, json=body)


def test_a_job_is_waited_for() -> None:
    connection, _, waited = site(job("queued"), job("running", "Reading."), job("done"))
    told: list[str] = []
    started = httpx2.Response(202, json={"job": 3})
    assert connection.done(started, lambda share, detail: told.append(detail)) == {"id": 7}
    assert told == ["", "Reading.", ""]
    assert waited == [0.2, 0.4]


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_a_job_that_fails_says_why(state: str) -> None:
    connection, _, _ = site(job(state, "Line 3 has two scores."))
    with pytest.raises(problems.JobFailed, match="Line 3"):
        connection.done(httpx2.Response(202, json={"job": 3}), lambda share, detail: None)


def test_the_token_goes_into_a_header_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    connection, sent, _ = site(refusal(401, "Sign in."))
    with caplog.at_level(logging.DEBUG), pytest.raises(problems.NotSignedIn) as refused:
        connection.get("collections/")
    assert sent[0].headers["Authorization"] == f"Token {TOKEN}"
    seen = [str(sent[0].url), repr(connection), repr(soundings.Client(SITE, TOKEN)), str(refused.value)]
    assert not any(TOKEN in text for text in [*seen, caplog.text])


def test_a_redirect_does_not_take_the_token_along() -> None:
    connection, sent, _ = site(httpx2.Response(302, headers={"Location": "https://elsewhere.org/"}))
    with pytest.raises(problems.Problem):
        connection.get("collections/")
    assert {request.url.host for request in sent} == {"soundings.example.org"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: soundings.Client("soundings.example.org", TOKEN),
        lambda: soundings.Client("https://ada:secret@soundings.example.org", TOKEN),
        lambda: soundings.Client(SITE, "two words"),
    ],
)
def test_what_cannot_be_a_site_or_a_token_is_refused_at_once(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"address|token") as refused:
        make()
    assert "secret" not in str(refused.value)


def test_the_token_may_stand_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOUNDINGS_TOKEN", TOKEN)
    _, sent, _ = site(fine())
    transport = httpx2.MockTransport(lambda request: sent.append(request) or httpx2.Response(200, json=[]))
    assert soundings.Client(SITE, transport=transport).collections() == []
    assert sent[0].headers["Authorization"] == f"Token {TOKEN}"
