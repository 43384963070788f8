"""Queues over pairs that were drawn at random because of what a model says of them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from labeling.models import Queue
from labeling.queues.opening import open_queue
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection
from pooling.pools.picking import numbered_name, pick_pool

# A name that tells annotators nothing; what was found by search has the same.
NAME = "Sample"
LARGEST_SAMPLE = 5_000
# Larger whole numbers lose digits in a browser.
LARGEST_SEED = 2**53


def seed_or_random(seed: int | None) -> int:
    return secrets.randbelow(2**31) if seed is None else seed


def open_pairs(
    collection: Collection,
    pairs: pl.DataFrame,
    *,
    strategy: str,
    provenance: Mapping[str, Any],
    judgments_per_item: int = 1,
    by: User | None = None,
) -> Queue:
    """Pick the pairs as a pool, as `pick_pool` does, and open them as a queue of the same name: shuffled,
    blind. When the queue cannot be opened, nothing stays behind.
    """
    name = numbered_name(collection, NAME)
    pool = pick_pool(collection, pairs, strategy=strategy, provenance=provenance, name=name, user=by)
    try:
        return open_queue(pool, name=name, judgments_per_item=judgments_per_item, user=by)
    except InputError:
        pool.delete()
        raise
