"""Records of the live engine that answered a run. Loads nothing heavy."""

from __future__ import annotations

from typing import TypedDict


class Latency(TypedDict):
    """Milliseconds from sending a request to the end of its answer, over the queries."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class EngineRecord(TypedDict):
    """The live engine that a run is of: how it was asked, and how long it took; `settings` hold no key."""

    id: int
    name: str
    settings: dict[str, object]
    asked_from: str
    asked_until: str
    queries: int
    without_hits: int
    requests: int
    retries: int
    latency_ms: Latency
