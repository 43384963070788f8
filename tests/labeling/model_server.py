"""A language model on loopback that speaks the OpenAI interface, whose answers, errors and faults are known.

`with ModelServer() as server:` answers at `server.base_url` and keeps what it was asked in `server.requests`.
It finds query and document in a prompt as a model would, by the markers, and asks `judge` about them. As a
program (`python -m tests.labeling.model_server --port 0 --latency 0.2`) it prints its address and serves on.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import json
import math
import re
import socket
import struct
import threading
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self

from tests.patience import PATIENCE_SECONDS

PLACE = re.compile(r"<(query|document) (\w+)>\n(.*?)\n</\1 \2>", re.DOTALL)
KEY = "sk-loopback-0123456789"
# What can be wrong with an answer: a word for each, told by `ModelServer.faults` or `ModelServer.fault_of`.
FAULTS = (
    *("429", "quota", "500", "503", "400", "401", "404", "too_long", "reset", "slow", "filtered"),
    *("malformed", "refusal", "truncated", "no_usage"),
    *("dripping", "giant", "packed", "redirect", "deep", "negative", "half", "silent"),
)

Judge = Callable[[str, str], float]


def chance(*parts: str) -> float:
    """A number in [0, 1) that hangs on the parts alone."""
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return float(struct.unpack(">Q", digest[:8])[0]) / 2**64


def noisy_judge(
    is_relevant: Callable[[str, str], bool], sensitivity: float, specificity: float, seed: str = ""
) -> Judge:
    """A model with known error rates: the probability of “relevant” that it tells is 0.9 or 0.1."""

    def judge(query: str, document: str) -> float:
        truth = is_relevant(query, document)
        is_right = chance(seed, query, document) < (sensitivity if truth else specificity)
        return 0.9 if truth == is_right else 0.1

    return judge


def by_words(query: str, document: str) -> float:
    """The share of the query's words that the document holds, kept off 0 and 1."""
    words = set(query.lower().split())
    held = sum(word in document.lower() for word in words) / max(len(words), 1)
    return 0.05 + 0.9 * held


class ModelServer:
    """The server. What is set on it holds for the requests that come after.

    `faults` are used up one by one, `fault_of(query, document)` says which hangs on the pair. `refuses` names
    parameters that this server does not take.
    """

    def __init__(
        self,
        judge: Judge = by_words,
        *,
        latency: float = 0.0,
        key: str | None = None,
        model: str | None = None,
        tokens: tuple[int, int] = (100, 20),
        logprobs: bool = True,
        keeps_requests: bool = True,
    ) -> None:
        self.judge, self.latency, self.key, self.model, self.tokens = judge, latency, key, model, tokens
        self.logprobs = logprobs
        self.keeps_requests = keeps_requests
        self.faults: deque[str] = deque()
        self.fault_of: Callable[[str, str], str | None] = lambda query, document: None
        self.refuses: set[str] = set()
        self.retry_after = "2"
        self._silence = asyncio.Event()  # held here: what nobody holds is cleared away while it waits
        self.sent = 0
        self.requests: list[dict[str, Any]] = []
        self.counts: Counter[str] = Counter()
        self.most_at_once = self._at_once = 0
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(PATIENCE_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()

    async def _listen(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                first, *lines = head.split("\r\n")
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
                }
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = first.split(" ", 2)
                answer = await self._answer(method, path.partition("?")[0], headers, body)
                if isinstance(answer, AsyncIterator):
                    async for piece in answer:
                        writer.write(piece)
                        await writer.drain()
                    return
                if answer is None:  # the connection breaks
                    wants_reset = struct.pack("ii", 1, 0)
                    writer.get_extra_info("socket").setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, wants_reset
                    )
                    return
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> bytes | AsyncIterator[bytes] | None:
        self.counts[f"{method} {path.removeprefix('/v1/').split('/')[0]}"] += 1
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            sent = headers.get("authorization", "").removeprefix("Bearer ")
            return problem(401, f"Incorrect API key provided: {sent}.", code="invalid_api_key")
        if path == "/v1/chat/completions":
            return await self._complete(json.loads(body))
        return problem(404, f"Invalid URL ({method} {path})")

    async def _complete(self, request: dict[str, Any]) -> bytes | AsyncIterator[bytes] | None:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            status, answer, extra = await self._completed(request)
        finally:
            self._at_once -= 1
        match answer:
            case None:
                return None
            case "dripping":
                return self._dripping()
            case "giant":
                return self._giant()
            case bytes():
                return raw(status, answer, "application/json", extra)
        return http(status, answer, extra)

    async def _dripping(self) -> AsyncIterator[bytes]:
        """A byte a while, for ever: each read is in time."""
        yield b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    async def _giant(self) -> AsyncIterator[bytes]:
        """An answer without end; `sent` counts its bytes."""
        yield b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
        while True:
            yield b" " * 65_536
            self.sent += 65_536

    async def _completed(self, request: dict[str, Any]) -> tuple[int, Any, str]:
        if self.keeps_requests:
            self.requests.append(request)
        places = {name: text for name, _, text in PLACE.findall(request["messages"][-1]["content"])}
        query, document = places["query"], places["document"]
        if self.latency:
            await asyncio.sleep(self.latency)
        fault = self.faults.popleft() if self.faults else self.fault_of(query, document)
        if self.model and request["model"] != self.model:
            return 404, error(f"The model `{request['model']}` does not exist.", code="model_not_found"), ""
        if refused := sorted(self.refuses & request.keys()):
            return 400, error(f"Unsupported parameter: '{refused[0]}'.", param=refused[0]), ""
        match fault:
            case "429":
                return 429, error("Too many requests."), f"Retry-After: {self.retry_after}\r\n"
            case "quota":
                return 429, error("You exceeded your current quota.", code="insufficient_quota"), ""
            case "500" | "503":
                return int(fault), error("The server had an error."), ""
            case "400":
                return 400, error("The request makes no sense here."), ""
            case "401":
                return 401, error(f"Your key {self.key} has expired."), ""
            case "404":
                return 404, error("The model does not exist.", code="model_not_found"), ""
            case "too_long":
                return 400, error("Too many tokens.", code="context_length_exceeded"), ""
            case "filtered":
                return 400, error("Content policy.", code="content_filter"), ""
            case "reset":
                return 0, None, ""
            case "slow":
                await asyncio.sleep(30)
            case "silent":  # until somebody gives up
                await self._silence.wait()
            case "dripping" | "giant":
                return 200, fault, ""
            case "packed":
                return 200, gzip.compress(b"{}"), "Content-Encoding: gzip\r\n"
            case "redirect":
                return 307, {}, f"Location: {self.base_url}/elsewhere\r\n"
            case "deep":
                return 200, b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ""
        return 200, self._completion(request, self.judge(query, document), fault), ""

    def _completion(self, request: dict[str, Any], probability: float, fault: str | None) -> dict[str, Any]:
        graded = "grade" in request["messages"][0]["content"]
        answer = str(min(int(probability * 4), 3)) if graded else str(probability >= 0.5).lower()
        parts = ['{"reasoning": "It says so', '", "', "grade" if graded else "relevant", '":', f" {answer}"]
        parts += ["}"] if graded else [', "confidence":', " 0.75", "}"]
        finish, refusal = "stop", None
        match fault:
            case "malformed":
                parts = ["I would say it is", " quite relevant."]
            case "refusal":
                parts, refusal = [], "I cannot help with that."
            case "truncated":
                parts, finish = parts[:2], "length"
            case "half":  # of a character
                parts[0] += r" \ud83d"
        message = {"role": "assistant", "content": "".join(parts) or None, "refusal": refusal}
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        if self.logprobs and request.get("logprobs"):
            choice["logprobs"] = {"content": [_token(part, answer, probability) for part in parts]}
        given, written = (-1, 20) if fault == "negative" else self.tokens
        usage = {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [choice],
            "usage": None if fault == "no_usage" else usage,
        }


def _token(text: str, answer: str, probability: float) -> dict[str, Any]:
    """A token with what else was possible: of the one that decides, both words or all grades."""
    choices = [(text, 0.0)]
    if text.strip() == answer:
        if answer in ("true", "false"):
            choices = [(" true", math.log(probability)), (" false", math.log(1 - probability))]
        else:
            other = 0.3 / 3
            choices = [(f" {grade}", math.log(0.7 if str(grade) == answer else other)) for grade in range(4)]
    top = [{"token": word, "logprob": logarithm, "bytes": None} for word, logarithm in choices]
    return {"token": text, "logprob": choices[0][1], "bytes": None, "top_logprobs": top}


def error(message: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def problem(status: int, message: str, code: str | None = None) -> bytes:
    return http(status, error(message, code))


def http(status: int, body: Any, extra: str = "") -> bytes:
    return raw(status, json.dumps(body).encode(), "application/json", extra)


def raw(status: int, body: bytes, kind: str, extra: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    options = parser.parse_args()

    async def serve() -> None:
        server = ModelServer(latency=options.latency, keeps_requests=False)
        await server._listen(options.port)
        print(server.base_url, flush=True)
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
