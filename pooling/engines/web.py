"""Engines at an HTTP address: one request for a query, and the answer's ids and scores."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

from pooling.engines.answers import Answer, hits_in
from pooling.engines.asking import EngineError, PassingError
from pooling.engines.connections import (
    AllowedNetworks,
    Deadline,
    RefusedAddressError,
    guarded,
    host_of,
    in_words,
    is_of_the_network,
    seconds_to_wait,
)
from pooling.engines.options import EngineSettings
from pooling.engines.paths import PathError, read_paths
from pooling.engines.templates import Json, Question, TemplateError, filled_address, filled_body, parsed_body
from pooling.storage.secrets import redacted

MOST_ANSWER_BYTES = 8_000_000
LONGEST_MESSAGE = 200  # characters of an engine's own words
# A shorter key may be a word that answers hold anyway.
SHORTEST_HIDDEN = 8
BUSY = (408, 425, 429)


class WebAsker:
    """A connection that is kept between questions, so that latencies are not those of connecting."""

    def __init__(self, settings: EngineSettings, key: str, allowed: AllowedNetworks) -> None:
        import httpcore2

        self._settings, self._host = settings, host_of(settings.address)
        self._header = header_of(settings.key_header, key)
        self._secrets = _forms_of(key, self._header[1] if self._header else "")
        self._body = parsed_body(settings.body) if settings.body else None
        self._paths = read_paths(settings.id_path, settings.score_path)
        self._deadline = Deadline(settings.time_out)
        self._pool = httpcore2.ConnectionPool(
            network_backend=guarded(allowed, self._deadline), max_connections=1
        )

    def ask(self, question: Question) -> Answer:
        try:
            url = filled_address(self._settings.address, question)
            body = None if self._body is None else filled_body(self._body, question)
        except TemplateError as error:
            raise EngineError(str(error)) from None
        status, head, raw, latency_ms = self._exchanged(url, body)
        if any(secret in raw for secret in self._secrets):
            raise EngineError(f"{self._host} repeats the key in its answer, so the answer is not read.")
        if not 200 <= status < 300:
            raise self._refusal(status, head, raw)
        answer = self._parsed(head, raw)
        try:
            return Answer(hits_in(answer, *self._paths, question.k), latency_ms)
        except PathError as error:
            message = self._quoted(answer)
            raise EngineError(f"{self._host}: {error}{message}") from None

    def close(self) -> None:
        self._pool.close()

    def _exchanged(self, url: str, body: bytes | None) -> tuple[int, dict[str, str], bytes, float]:
        """Status, headers and bytes of an answer, and the milliseconds that it took."""
        import httpcore2

        headers = {
            "Host": urlsplit(url).netloc,
            "User-Agent": "Soundings",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        if body is not None:
            headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        if self._header:
            headers[self._header[0]] = self._header[1]
        method = "GET" if body is None else "POST"
        self._deadline.set(self._settings.time_out)
        begun = time.perf_counter()
        try:
            with self._pool.stream(method, url, headers=list(headers.items()), content=body) as response:
                head = {name.decode("latin-1").lower(): value.decode("latin-1")
                        for name, value in response.headers}  # fmt: skip
                raw = self._counted(response.iter_stream(), head)
                return response.status, head, raw, 1000 * (time.perf_counter() - begun)
        except RefusedAddressError as error:
            raise EngineError(str(error)) from None
        except Exception as error:
            if not is_of_the_network(error):
                raise
            problem = f"{self._host}: {in_words(error, self._settings.time_out)}"
            if isinstance(error, httpcore2.UnsupportedProtocol | httpcore2.LocalProtocolError):
                raise EngineError(problem) from None
            raise PassingError(problem) from None

    def _counted(self, blocks: Iterator[bytes], head: dict[str, str]) -> bytes:
        if head.get("content-encoding", "identity").lower() not in ("", "identity"):
            raise EngineError(f"{self._host} sends a compressed answer, although that was not asked for.")
        parts, size = [], 0
        for block in blocks:
            size += len(block)
            if size > MOST_ANSWER_BYTES:
                raise EngineError(
                    f"The answer of {self._host} is longer than {MOST_ANSWER_BYTES:,} bytes. Ask for ids and "
                    "scores only, without the texts."
                )
            parts.append(block)
        return b"".join(parts)

    def _parsed(self, head: dict[str, str], raw: bytes) -> Json:
        if "html" in head.get("content-type", "") or raw.lstrip()[:1] == b"<":
            raise EngineError(
                f"{self._host} answers with a web page (HTML) instead of JSON. Check the address: a sign-in "
                "page or a proxy often answers like this."
            )
        try:
            answer: Json = json.loads(raw)
        except (ValueError, RecursionError):
            raise EngineError(f"The answer of {self._host} is not JSON.") from None
        return answer

    def _refusal(self, status: int, head: dict[str, str], raw: bytes) -> EngineError:
        try:
            message = self._quoted(json.loads(raw))
        except (ValueError, RecursionError):
            message = ""
        if 300 <= status < 400:
            return EngineError(f"{self._host} redirects requests ({status}). Use its final address.")
        if status in BUSY or status >= 500:
            wait = seconds_to_wait(head.get("retry-after"))
            return PassingError(f"{self._host} answers {status}.{message}", wait=wait)
        if status == 401:
            why = "does not accept the key" if self._header else "asks for a key"
        elif status == 403:
            why = "does not allow this request"
        elif status == 404:
            why = "has nothing at this address: check the path and the name of the index"
        else:
            why = "refuses the request"
        return EngineError(f"{self._host} {why} ({status}).{message}")

    def _quoted(self, answer: Json) -> str:
        """An engine's own error, without credentials, as a sentence to append; "" for none."""
        message = " ".join(_reason_in(answer).split())
        message = redacted(message, *(secret.decode() for secret in self._secrets))[:LONGEST_MESSAGE]
        return f" It said: “{message}”" if message else ""


def header_of(key_header: str, key: str) -> tuple[str, str] | None:
    """Name and value of the header with the key, encoded where it is for `Basic`; None without a key."""
    if not key:
        return None
    name, _, word = (part.strip() for part in key_header.partition(":"))
    if word.lower() == "basic" and ":" in key:
        key = b64encode(key.encode()).decode()
    return name, f"{word} {key}" if word else key


def _forms_of(key: str, value: str) -> list[bytes]:
    """The key as an answer may repeat it: as it is, within JSON, in an address, encoded."""
    encoded = value.rpartition(" ")[2]
    password = key.partition(":")[2] if encoded != key else ""
    forms = {key, encoded, password, json.dumps(key)[1:-1], quote(key, safe="")}
    return [form.encode() for form in forms if len(form) >= SHORTEST_HIDDEN]


def _reason_in(answer: Json) -> str:
    """The sentence with which engines say what is wrong, wherever they put it."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, list):
        return _reason_in(answer[0]) if answer else ""
    if not isinstance(answer, dict):
        return ""
    for name in ("error", "errors", "root_cause", "reason", "message", "detail", "status", "root"):
        if isinstance(answer.get(name), str | list | dict) and (reason := _reason_in(answer[name])):
            return reason
    return ""
