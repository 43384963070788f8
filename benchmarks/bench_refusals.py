"""The site while eight small files that would fill the memory are refused.

    python -m benchmarks.bench_refusals [--rounds 3]

`serve` on a database of its own. Eight people send a bomb each at the same moment: packed text, under its own
and under another name, JSON, wide tables, Parquet whose pages or footer stand for a billion rows. Meanwhile
`/health/` is asked every 20 ms, until every file has been refused, in the answer or by its job.

Limits: no answer of `/health/` takes more than 0.5 s, and no process of the site more than 1 GB of memory.
Exit code 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.pooling import bombs
from tests.soundings.processes import children_of, free_port, manage, start

LIMIT_SECONDS, LIMIT_BYTES = 0.5, 10**9
PASSWORD = "a long enough password"
SENT = (
    *("packed.run.gz", "packed-under-another-name.run", "packed.tsv", "lists.json.gz"),
    *("one-line.jsonl.gz", "cells.csv", "rows.parquet", "values-not-told.parquet"),
)


class Site:
    """The site under `serve`, asked over HTTP."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.token = ""

    def ask(self, path: str, body: bytes | None = None, kind: str = "application/json") -> tuple[int, Any]:
        """Status and body of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Content-Type": kind} | ({"Authorization": f"Token {self.token}"} if self.token else {})
        try:
            connection.request("GET" if body is None else "POST", path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            return answer.status, json.loads(content) if path.startswith("/api/") else content
        finally:
            connection.close()

    def send(self, name: str, content: bytes) -> str:
        """Import a run; what the refusal says."""
        head = f'--edge\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + b"\r\n--edge--\r\n"
        status, told = self.ask("/api/collections/bombs/runs/", body, "multipart/form-data; boundary=edge")
        if status == 400:
            return str(told["detail"])
        assert status == 202, (name, status, told)
        while (job := self.ask(f"/api/jobs/{told['job']}/")[1])["state"] in ("queued", "running"):
            time.sleep(0.5)
        assert job["state"] == "failed", (name, job)
        return f"by its job: {job['detail']}"


def waited(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not until():
        if time.monotonic() > deadline:
            raise SystemExit("The site did not start within a minute.")
        time.sleep(0.2)


def answers(site: Site) -> bool:
    try:
        return site.ask("/health/")[0] == 200
    except OSError:
        return False


def most_memory(pid: int) -> int:
    """The most that any process below this one has taken so far, in bytes (Linux)."""
    peaks = [0]
    for child in children_of(pid):
        for line in Path(f"/proc/{child}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                peaks.append(int(line.split()[1]) * 1024)
    return max(peaks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    files = {name: bombs.RUNS[name][0]() for name in SENT}
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        manage(Path(folder), "migrate")
        manage(Path(folder), "create_user", "ada", "--password-stdin", given=PASSWORD)
        site = Site(free_port())
        server = start(Path(folder), "serve", "--port", str(site.port))
        try:
            waited(lambda: answers(site))
            account = json.dumps({"username": "ada", "password": PASSWORD}).encode()
            site.token = site.ask("/api/token/", account)[1]["token"]
            site.ask("/api/collections/", json.dumps({"slug": "bombs", "name": "Bombs"}).encode())
            for _ in range(rounds):
                with ThreadPoolExecutor(len(files)) as pool:
                    sent = {name: pool.submit(site.send, name, content) for name, content in files.items()}
                    while not all(future.done() for future in sent.values()):
                        began = time.perf_counter()
                        assert site.ask("/health/")[0] == 200
                        seconds.append(time.perf_counter() - began)
                        time.sleep(0.02)
            peak = most_memory(server.pid)
        finally:
            server.terminate()
            server.wait(60)
    for name, future in sent.items():
        print(f"{len(files[name]) / 1000:7,.0f} kB  {future.result()}")
    seconds.sort()
    slowest, middle = seconds[-1], seconds[len(seconds) // 2]
    print(
        f"/health/ {len(seconds):,} times: median {middle * 1000:.0f} ms, slowest {slowest * 1000:.0f} ms "
        f"(at most {LIMIT_SECONDS * 1000:.0f}). The largest process took {peak / 10**6:,.0f} MB "
        f"(at most {LIMIT_BYTES / 10**6:,.0f})."
    )
    if slowest > LIMIT_SECONDS or peak > LIMIT_BYTES:
        sys.exit(1)


if __name__ == "__main__":
    main()
