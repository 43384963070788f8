"""Objects that a site answers and takes, as far as people look into them; there may be more keys."""

from __future__ import annotations

from typing import TypedDict


class CollectionFacts(TypedDict):
    """A collection; `counts` has queries, documents, runs and pools."""

    slug: str
    name: str
    question: str
    guidelines: str
    language: str
    role: str
    counts: dict[str, int]


class Imported(TypedDict):
    """Result of a file of queries, documents or labels; `detail` is a sentence."""

    created: int
    changed: int
    unchanged: int
    left_out: int
    detail: str
    url: str


class ClaimedQuery(TypedDict):
    """The query of a pair."""

    id: str
    text: str


class ClaimedDocument(TypedDict):
    """The document of a pair."""

    id: str
    title: str
    text: str


class ClaimedItem(TypedDict):
    """A pair to judge, with what its verdict has to name."""

    item: int
    version: int
    lease: str
    expires_at: str
    query: ClaimedQuery
    document: ClaimedDocument


class Verdict(TypedDict, total=False):
    """A verdict on a claimed item; `key` is yours, so that sending it twice stores it once."""

    item: int
    key: str
    verdict: str
    reason: str
    note: str
    lease: str
    version: int
    active_ms: int


class JudgmentOutcome(TypedDict):
    """A verdict's status: stored, extra, duplicate or rejected."""

    key: str
    status: str
    detail: str
