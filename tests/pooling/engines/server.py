"""A search engine on loopback that answers in the shapes that the documentation of known engines shows."""

from __future__ import annotations

import ipaddress
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]
FOUND = [("d1", 7.5), ("d4", 3.25), ("d2", 3.25)]

# What engines send for the documents above, as their documentation shows it.
SHAPES: dict[str, Callable[[list[tuple[str, float]]], Any]] = {
    "elasticsearch": lambda found: {
        "took": 2,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {
            "total": {"value": len(found), "relation": "eq"},
            "max_score": found[0][1] if found else None,
            "hits": [{"_index": "docs", "_id": one, "_score": score} for one, score in found],
        },
    },
    "vespa": lambda found: {
        "root": {
            "id": "toplevel",
            "relevance": 1.0,
            "fields": {"totalCount": len(found)},
            "coverage": {"coverage": 100, "documents": 6, "full": True},
            # Left out where nothing was found.
            **(
                {
                    "children": [
                        {"id": one, "relevance": score, "source": "docs", "fields": {}}
                        for one, score in found
                    ]
                }
                if found
                else {}
            ),
        }
    },
    "qdrant": lambda found: {
        "result": {
            "points": [
                {"id": int(one.removeprefix("d")), "version": 3, "score": score} for one, score in found
            ]
        },
        "status": "ok",
        "time": 0.001,
    },
    "weaviate": lambda found: {
        "data": {
            "Get": {"CLASS": [{"_additional": {"id": one, "score": str(score)}} for one, score in found]}
        }
    },
}
SHAPES["opensearch"] = SHAPES["opensearch-knn"] = SHAPES["opensearch-vector"] = SHAPES["elasticsearch"]
SHAPES["qdrant-vector"] = SHAPES["qdrant"]


@dataclass
class Asked:
    """One request that the engine was sent."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Engine:
    """What is set on it holds for the next requests: `faults` come first, then `answer` of the body."""

    url: str
    answer: Callable[[Asked], Any]
    faults: deque[tuple[int, Any, dict[str, str]]] = field(default_factory=deque)
    requests: list[Asked] = field(default_factory=list)


@contextmanager
def answering(answer: Callable[[Asked], Any]) -> Iterator[Engine]:
    """An engine; `answer` gives what becomes JSON, or bytes that are sent as they are."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            sent = self.rfile.read(length)
            asked = Asked(self.path, dict(self.headers), json.loads(sent) if sent else None)
            engine.requests.append(asked)
            status, told, headers = (
                engine.faults.popleft() if engine.faults else (200, engine.answer(asked), {})
            )
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *told: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    engine = Engine(f"http://127.0.0.1:{server.server_port}", answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield engine
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
