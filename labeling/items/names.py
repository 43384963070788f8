"""The name of a queue for annotators, since its own can tell of runs and samples."""

from __future__ import annotations

from labeling.models import Queue
from pooling.interface.forms import numbered_name
from pooling.models import Pool


def public_name(pool: Pool, name: str | None) -> str:
    """The name that somebody chose for a queue over `pool`; else, as that of the pool or of what was drawn by
    us would tell, the first of “Queue 1”, “Queue 2”, … that is free.
    """
    if name and name != pool.name and not pool.is_picked:
        return name
    rows = Queue.everything.filter(collection=pool.collection_id).values_list("name", "public_name")
    return numbered_name("Queue", {taken for row in rows for taken in row})
