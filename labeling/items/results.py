"""Results of finished work on a queue; see `pooling.interface.results`."""

from __future__ import annotations

from pooling.interface.results import Result


class QueueResult(Result):
    """`id` and `name` are the queue's."""

    id: int
    name: str


class PairsMoved(QueueResult):
    moved: int
