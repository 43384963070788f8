"""The load generator of the judging benchmark: annotators as coroutines, each on a connection of its own."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

PATIENCE_SECONDS = 30


@dataclass
class Load:
    """What a number of annotators did: seconds of each call, what was given and acknowledged, errors."""

    seconds: float = 0.0
    claims: list[float] = field(default_factory=list)
    submits: list[float] = field(default_factory=list)
    loops: list[float] = field(default_factory=list)
    given: Counter[int] = field(default_factory=Counter)
    acknowledged: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def per_second(self) -> float:
        """Acknowledged judgments per second."""
        return len(self.acknowledged) / self.seconds if self.seconds else 0.0

    def twice(self) -> int:
        """Items that were handed to more than one annotator."""
        return sum(1 for count in self.given.values() if count > 1)


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` of `values` lies, in milliseconds."""
    ordered = sorted(values)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class Connection:
    """HTTP/1.1 with keep-alive, and no more of it than the generator needs: it shares the cores."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.head = (
            f"Host: 127.0.0.1:{port}\r\nAuthorization: Token {token}\r\nContent-Type: application/json\r\n"
        )
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: Any) -> tuple[int, Any]:
        """Send `body`; once more on a new connection when the old one was closed meanwhile."""
        data = json.dumps(body).encode()
        request = f"POST {path} HTTP/1.1\r\n{self.head}Content-Length: {len(data)}\r\n\r\n".encode() + data
        fresh = self.writer is None
        try:
            return await self._exchange(request)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            if fresh:
                raise
            return await self._exchange(request)

    async def _exchange(self, request: bytes) -> tuple[int, Any]:
        if self.writer is None or self.reader is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**22)
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = int(head.split(" ", 2)[1])
        length = int(head.split("content-length:", 1)[1].split("\r\n", 1)[0])
        body = await self.reader.readexactly(length)
        if "connection: close" in head:
            self.close()
        return status, json.loads(body) if body[:1] in (b"{", b"[") else {}

    def close(self) -> None:
        """Drop the connection; the next request makes a new one."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


@dataclass
class Annotator:
    """One person who claims an item and judges it, again and again, until the deadline.

    `in_one_request`: a verdict is answered with the next item, as for the judging page.
    """

    connection: Connection
    queue: int
    load: Load
    deadline: float
    pause: tuple[float, float]
    random: random.Random
    in_one_request: bool = False
    next_item: dict[str, Any] | None = None

    async def work(self) -> None:
        """Judge until the deadline or until nothing is left."""
        await asyncio.sleep(self.random.uniform(0, self.pause[1]))
        while time.perf_counter() < self.deadline:
            try:
                if not await asyncio.wait_for(self._judge_one(), PATIENCE_SECONDS):
                    break
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                self.load.errors[type(error).__name__] += 1
                self.connection.close()
        self.connection.close()

    async def _judge_one(self) -> bool:
        claimed = 0.0
        if (item := self.next_item) is None:
            started = time.perf_counter()
            status, answer = await self.connection.post(f"/api/queues/{self.queue}/claim/", {"count": 1})
            self.load.claims.append(claimed := time.perf_counter() - started)
            if status != 200:
                self.load.errors[f"claim {status}"] += 1
                return True
            if not answer["items"]:
                return False
            item = answer["items"][0]
        self.next_item = None
        self.load.given[item["item"]] += 1
        await asyncio.sleep(self.random.uniform(*self.pause) if self.pause[1] else 0)
        submitted = await self._submit(item)
        self.load.loops.append(claimed + submitted)
        return True

    async def _submit(self, item: dict[str, Any]) -> float:
        key = str(uuid4())
        verdict = self.random.choice(["relevant", "not_relevant"])
        body = {"key": key, "verdict": verdict, "active_ms": 2000, "shown": "passage"}
        body |= {name: item[name] for name in ("item", "version", "lease")}
        also = "?claim=1" if self.in_one_request else ""
        started = time.perf_counter()
        status, answer = await self.connection.post(f"/api/queues/{self.queue}/judgments/{also}", [body])
        self.load.submits.append(seconds := time.perf_counter() - started)
        if status == 200 and answer["results"][0]["status"] == "stored":
            self.load.acknowledged.append(key)
        else:
            self.load.errors[f"submit {status}"] += 1
        if self.in_one_request and status == 200 and answer["items"]:
            self.next_item = answer["items"][0]
        return seconds


async def run_load(
    port: int,
    queue: int,
    tokens: list[str],
    seconds: float,
    *,
    pause: tuple[float, float] = (0.0, 0.0),
    in_one_request: bool = False,
) -> Load:
    """Let one annotator for each token work for `seconds`, with a pause before each verdict."""
    load = Load()
    started = time.perf_counter()
    people = [
        Annotator(
            Connection(port, token),
            queue,
            load,
            started + seconds,
            pause,
            random.Random(number),
            in_one_request,
        )
        for number, token in enumerate(tokens)
    ]
    await asyncio.gather(*(person.work() for person in people))
    load.seconds = time.perf_counter() - started
    return load
