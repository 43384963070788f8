"""Facts about adaptive queues: the JSON objects of the HTTP interface and of a release."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypedDict

from labeling.models import QueryPlan, Selection
from pooling.interface.results import Result


class QueueResult(Result):
    """`id` and `name` are the queue's."""

    id: int
    name: str


class PairsMoved(QueueResult):
    moved: int


class Look(TypedDict):
    """A look at an audit: what it found in the documents that the order had not reached."""

    look: Annotated[int, "Which of the looks that were fixed in advance."]
    level: Annotated[float, "Error probability of this look."]
    found: Annotated[int, "Relevant documents known by then."]
    remainder: Annotated[int, "Documents not reached."]
    sampled: Annotated[int, "Of these, judged because they were drawn."]
    relevant: Annotated[int, "Of these, relevant."]
    at_most_missing: Annotated[int | None, "Null: nothing was drawn there."]
    missing_share: Annotated[float | None, "Largest share of the relevant documents that may be missing."]
    stops: bool


class OrderRule(TypedDict):
    """Settings of the order of an adaptive queue, and of its end."""

    strategy: str
    prior: Annotated[str | None, "The model and prompt whose scores the strategy starts from."]
    prior_votes: Annotated[int, "Number of runs that they count as at the start."]
    budget: int | None
    budget_rule: Annotated[str, {"choices": Selection.Rule.choices}]
    budget_floor: int | None
    stop_missing: float | None
    stop_looks: int
    stop_over: str
    level: Annotated[float | None, "Error probability of each look."]
    looks: Annotated[list[Look], "Over all queries together."]


class QueryEnd(TypedDict):
    """A query's numbers, and what finished it."""

    query_id: str
    pool: Annotated[int, "Pooled documents."]
    budget: Annotated[int, "Documents that may be handed out."]
    judged: Annotated[int, "Documents settled."]
    relevant: int
    finished_by: Annotated[str, {"choices": [("", "not finished"), *QueryPlan.Finish.choices]}]
    finished_at: Annotated[str | None, datetime]
    drawn_anew: Annotated[int, "Drawn when it stopped, for what is estimated later."]
    looks: list[Look]
    next_look: Annotated[int | None, "Number of documents after which it comes."]


class QueryProgress(QueryEnd):
    """Progress of a query of an adaptive queue."""

    text: str
    left: Annotated[int, "Documents still to be settled."]


class OrderSoFar(OrderRule):
    """The same, and how far it is."""

    finished: Annotated[dict[str, int], "Queries by what finished them; “” are not finished."]


class OrderProgress(OrderSoFar):
    """With the queries that are being finished."""

    finishing: Annotated[
        int, "Queries that a bound over all of them has stopped and that are still being finished."
    ]


class OrderByQuery(OrderProgress):
    """With a row for each query."""

    queries: list[QueryProgress]


class OrderSummary(OrderSoFar):
    """The same, how much is used, and in words."""

    pool: Annotated[int, "Pooled pairs."]
    used: Annotated[int, "Of the budget: pairs settled, judged or held."]
    settled: int
    sentences: list[str]


class FrozenQuery(QueryEnd):
    """The end of a query as a release keeps it; see `FrozenOrder`."""

    begun: int
    draw: int


class FrozenOrder(OrderSoFar):
    """An adaptive queue in a release: the rule, and each query's end.

    `begun` and `draw` say up to which batch documents are certain, and which draw of the audit estimates
    rest on; with the queue they name every document's part.
    """

    queue: str
    queue_id: int
    pool: str
    pool_version: int
    queries: list[FrozenQuery]
