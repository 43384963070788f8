"""A model's scores of the pairs of a pool."""

from __future__ import annotations

from django.db.models import Exists

from labeling.models import Prelabel, Prelabeler
from labeling.models.prelabels import ORDER_SCORE, PrelabelQuerySet
from labeling.models.words import SAME_PAIR
from pooling.heavy import pl
from pooling.models import Pool
from pooling.storage.frames import PAIR_IDS, rows_frame


def prelabels_of_pool(pool: Pool) -> PrelabelQuerySet:
    entries = pool.entries.filter(**SAME_PAIR)
    return Prelabel.objects.current().filter(
        Exists(entries.order_by()), prelabeler__collection=pool.collection_id
    )


def pool_scores(pool: Pool, prelabeler: Prelabeler) -> pl.DataFrame:
    """query_id, document_id, score: in [0, 1], of a pre-label without one 1 or 0 by its verdict."""
    rows = prelabels_of_pool(pool).filter(prelabeler=prelabeler).order_by("query", "document")
    return rows_frame(rows.annotate(order_score=ORDER_SCORE), **PAIR_IDS, score="order_score")
