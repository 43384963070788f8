"""A canary of the harbour collection, runs that fall or hold, and a server that receives its messages."""

from __future__ import annotations

import ipaddress
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from evaluation.canaries.watching import Alerts, CanaryDefinition, create_canary
from evaluation.models import Canary
from labeling.qrels.imported import import_qrels
from labeling.qrels.releases import release_qrels
from pooling.models import Query, Run
from pooling.runs.stored import import_run
from tests.world import World

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]
SECRET = "a secret of some length"
MANY = [f"c{number}" for number in range(20)]


def make_queries(world: World) -> None:
    """Twenty queries with the tag `canary`, released: of each d1 and d2 are relevant, d5 and d6 are not."""
    Query.objects.bulk_create(
        Query(collection=world.collection, external_id=name, text=name, metadata={"tags": ["canary"]})
        for name in MANY
    )
    path = world.folder / "canary.qrels"
    labels = {"d1": 1, "d2": 1, "d5": 0, "d6": 0}
    path.write_text("".join(f"{name} 0 {one} {label}\n" for name in MANY for one, label in labels.items()))
    import_qrels(world.collection, path, user=world.ada)
    release_qrels(world.collection, name="canaries", user=world.ada)


def make_canary(world: World, alerts: Alerts | None = None, **options: Any) -> Canary:
    """Recall@2 over the tag, with a threshold of 0.7."""
    if not world.collection.releases.exists():
        make_queries(world)
    options = {"name": "nightly", "measure": "recall@2", "tag": "canary", **options}
    others = {name: options.pop(name) for name in ("user", "site") if name in options}
    definition = CanaryDefinition(**options)
    return create_canary(world.collection, definition, alerts or Alerts(0.7), **{"user": world.ada, **others})


def import_with_recall(
    world: World, name: str, whole: int, half: int = 0, *, others: tuple[str, str] = ("d5", "d6")
) -> Run:
    """A run that finds both documents of the first `whole` queries, one of the next `half`, else none.

    others: what it has in their place.
    """
    rows = []
    for number, query in enumerate(MANY):
        found = 2 if number < whole else 1 if number < whole + half else 0
        documents = [*["d1", "d2"][:found], *others[: 2 - found]]
        rows += [f"{query} Q0 {document} {rank} {9 - rank} t\n" for rank, document in enumerate(documents, 1)]
    path = world.folder / f"{name}.run"
    path.write_text("".join(rows))
    return import_run(world.collection, path, user=world.ada)


@dataclass
class Receiver:
    """What a server on loopback has received; it answers with `answers`, the last of them again and again."""

    url: str
    answers: list[int]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    raw: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiving(*answers: int) -> Iterator[Receiver]:
    """A server that receives webhooks."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.raw.append((dict(self.headers), body))
            received.bodies.append(json.loads(body))
            status = received.answers[min(len(received.bodies), len(received.answers)) - 1]
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", received.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *told: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    received = Receiver(f"http://127.0.0.1:{server.server_port}/hook", list(answers) or [204])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
