"""What adaptive queues say of themselves: the JSON objects of the HTTP interface and of a release."""

from __future__ import annotations

from typing import TypedDict


class Look(TypedDict):
    """A look at an audit: what it found in the documents that the order had not reached.

    `level`: the error that it may make. `remainder`: documents not reached; of these, `sampled` were judged
    because they were drawn, and `relevant` of those are relevant. `at_most_missing` is null where nothing was
    drawn; `missing_share`: of all that is relevant.
    """

    look: int
    level: float
    found: int
    remainder: int
    sampled: int
    relevant: int
    at_most_missing: int | None
    missing_share: float | None
    stops: bool


class OrderRule(TypedDict):
    """What moves the order of an adaptive queue and what ends it; `looks` are those over all queries."""

    strategy: str
    prior: str | None
    prior_votes: int
    budget: int | None
    budget_rule: str
    budget_floor: int | None
    stop_missing: float | None
    stop_looks: int
    stop_over: str
    level: float | None
    looks: list[Look]


class QueryEnd(TypedDict):
    """How far a query is and what finished it; counts are of documents, times in ISO format."""

    query_id: str
    pool: int
    budget: int
    judged: int
    relevant: int
    finished_by: str
    finished_at: str | None
    drawn_anew: int
    looks: list[Look]
    next_look: int | None


class QueryProgress(QueryEnd):
    """The same with the query's text; `judged`: settled now, `left`: to be handed out, or held."""

    text: str
    left: int


class OrderProgress(OrderRule):
    """The rule, how many queries each reason finished ("": none did), and how many are `finishing`: a bound
    over all of them has stopped them.
    """

    finished: dict[str, int]
    finishing: int


class OrderByQuery(OrderProgress):
    """The same with a row for each query."""

    queries: list[QueryProgress]


class OrderSummary(OrderRule):
    """The rule, pairs of the pool, how many of the budget are `used` and of these `settled`; and in words."""

    pool: int
    used: int
    settled: int
    finished: dict[str, int]
    sentences: list[str]


class FrozenQuery(QueryEnd):
    """The end of a query as a release keeps it; see `FrozenOrder`."""

    begun: int
    draw: int


class FrozenOrder(OrderRule):
    """What a release keeps of an adaptive queue: the rule, and each query's end.

    `begun` and `draw` say up to which batch documents are certain, and which draw of the audit estimates
    rest on; with the queue they name every document's part.
    """

    queue: str
    queue_id: int
    pool: str
    pool_version: int
    finished: dict[str, int]
    queries: list[FrozenQuery]
