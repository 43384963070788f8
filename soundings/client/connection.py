"""Calls to a site: signed in, tried again where that is safe, and refusals as exceptions."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pooling.interface.terminal import whole_installation
from soundings.client.problems import JobFailed, NotReached, Problem, Unavailable, problem_of

if TYPE_CHECKING:
    import httpx2

TRIES = 5
LONGEST_PAUSE = 30.0
#: A call may take this long; a worker of the site is given no more.
SECONDS = 120.0
#: Of these, the site has done nothing yet.
NOT_DONE = (429,)
PASSING = (502, 503, 504)
SAFE = ("GET", "HEAD", "PUT", "OPTIONS")
FIRST_WAIT, LONGEST_WAIT = 0.2, 5.0

Waiting = Callable[[float, str], None]


class Connection:
    """The address of a site and a token, which is in no text that this class makes."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        with whole_installation():
            import httpx2

        self.url = checked_url(url)
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("A token has letters, digits and signs only. Copy it again, without spaces.")
        self._sleep = sleep
        self._http = httpx2.Client(
            base_url=f"{self.url}/",
            headers={"Authorization": f"Token {token}"} if token else {},
            timeout=SECONDS,
            follow_redirects=False,  # they could lead the token elsewhere
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def close(self) -> None:
        """End the connections to the site."""
        self._http.close()

    def call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, **body: Any
    ) -> httpx2.Response:
        """One call below /api/; a `Problem` where it was not done.

        body: `json`, or `data` and `files` of a form. What was surely not done, and what may be done twice,
        is tried again with growing pauses.
        """
        for attempt in range(1, TRIES + 1):
            answer, problem = self._tried(method, path, query, body)
            if answer is not None and answer.is_success:
                return answer
            if answer is not None:
                problem = problem_of(answer.status_code, _json(answer))
            assert problem is not None
            if attempt == TRIES or not self._is_worth_another(method, answer, problem):
                raise problem
            self._sleep(pause_after(attempt, answer))
        raise AssertionError("the last try raises or returns")

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of a GET."""
        return self.call("GET", path, query=query).json()

    def pages(self, path: str, **query: Any) -> Iterator[Any]:
        """The rows of a list, page by page."""
        number = 1
        while True:
            answer = self.call("GET", path, query={**query, "page": number})
            rows = answer.json()
            yield from rows
            if not rows or 'rel="next"' not in answer.headers.get("Link", ""):
                return
            number += 1

    def done(self, answer: httpx2.Response, waiting: Waiting) -> Any:
        """The result, at once or of a job, which is waited for; `JobFailed` where that fails."""
        body = answer.json()
        if answer.status_code != 202 or "job" not in body:
            return body
        wait, number = FIRST_WAIT, body["job"]
        while True:
            job = self.get(f"jobs/{number}/")
            waiting(float(job["progress"]), str(job["detail"]))
            if job["state"] == "done":
                return job["result"]
            if job["state"] in ("failed", "cancelled"):
                raise JobFailed(job["detail"] or f"Job {number} was {job['state']}.")
            self._sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _tried(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: dict[str, Any]
    ) -> tuple[httpx2.Response | None, Problem | None]:
        import httpx2

        for _, file, *_rest in (body.get("files") or {}).values():
            file.seek(0)  # sent from its beginning at each try
        parameters = {name: value for name, value in (query or {}).items() if value is not None}
        try:
            return self._http.request(method, f"api/{path}", params=parameters, **body), None
        except httpx2.ConnectError as error:
            return None, NotReached(f"{self.url} cannot be reached: {error}")
        except httpx2.TimeoutException:
            return None, Unavailable(f"{self.url} did not answer within {SECONDS:g} seconds.")
        except httpx2.TransportError as error:
            return None, Unavailable(f"The connection to {self.url} broke: {error}")

    def _is_worth_another(self, method: str, answer: httpx2.Response | None, problem: Problem) -> bool:
        if isinstance(problem, NotReached) or problem.status in NOT_DONE:
            return True
        return method in SAFE and (answer is None or problem.status in PASSING)


def checked_url(url: str) -> str:
    """The address of a site without a slash at its end; ValueError for one that cannot be."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url} is not a site's address. Write for instance https://soundings.example.org.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("An address must not contain a password, ? or #. Give the token separately.")
    return url.rstrip("/").removesuffix("/api")


def pause_after(attempt: int, answer: httpx2.Response | None = None) -> float:
    """Seconds until the next try: as asked for, else half a second doubling, with a random part."""
    seconds = answer.headers.get("Retry-After", "") if answer is not None else ""
    if seconds.isascii() and seconds.isdigit():
        return min(float(seconds), LONGEST_PAUSE)
    usual = min(0.5 * 2 ** (attempt - 1), LONGEST_PAUSE)
    return float(usual * random.uniform(0.5, 1.0))  # noqa: S311  no secret


def _json(answer: httpx2.Response) -> object:
    try:
        return answer.json()
    except ValueError:
        return None
