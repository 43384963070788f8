"""An engine of the harbour collection that answers as run `alpha` ranks, on a server of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pooling.engine_models import Engine as StoredEngine
from pooling.engines.options import EngineSettings
from pooling.engines.stored import create_engine
from tests.pooling.engines.server import SHAPES, Asked, Engine, answering
from tests.world import ALPHA, QUERIES, World

KEY = "a-key/of some length"
BY_TEXT = {text: query for query, text in QUERIES.items()}


def as_alpha(asked: Asked) -> Any:
    """The documents of `alpha` for the query that was asked, as Elasticsearch sends them."""
    ranking = ALPHA.get(BY_TEXT.get(asked.body["q"], ""), [])
    return SHAPES["elasticsearch"]([(document, 9.5 - place) for place, document in enumerate(ranking)])


def settings_at(url: str, **changes: Any) -> EngineSettings:
    """How the server of these tests is asked: one request at a time."""
    known = {
        "address": f"{url}/docs/_search",
        "body": '{"q": "{{query}}", "size": {{k}}}',
        "id_path": "hits.hits[*]._id",
        "score_path": "hits.hits[*]._score",
        "concurrency": 1,
    }
    return EngineSettings(**{**known, **changes})


@contextmanager
def shop(world: World, *, key: str = "", **changes: Any) -> Iterator[tuple[StoredEngine, Engine]]:
    """The engine `shop`, and the server that answers for it."""
    with answering(as_alpha) as server:
        settings = settings_at(server.url, **changes)
        yield create_engine(world.collection, "shop", settings, key=key, user=world.ada), server
