"""What a model says of the pairs of a pool."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from labeling.models import Prelabel, Prelabeler
from labeling.models.prelabels import ORDER_SCORE, PrelabelQuerySet
from pooling.heavy import pl
from pooling.models import Pool


def prelabels_of_pool(pool: Pool) -> PrelabelQuerySet:
    """The current pre-labels of all models of the collection for pairs of the pool."""
    entries = pool.entries.filter(query=OuterRef("query"), document=OuterRef("document"))
    return Prelabel.objects.current().filter(
        Exists(entries.order_by()), prelabeler__collection=pool.collection_id
    )


def pool_scores(pool: Pool, prelabeler: Prelabeler) -> pl.DataFrame:
    """query_id, document_id, score: in [0, 1], of a pre-label without one 1 or 0 by its verdict."""
    rows = prelabels_of_pool(pool).filter(prelabeler=prelabeler).order_by("query", "document")
    values = rows.values_list("query__external_id", "document__external_id", ORDER_SCORE).iterator()
    schema = {"query_id": pl.String, "document_id": pl.String, "score": pl.Float64}
    return pl.DataFrame(list(values), schema=schema, orient="row")
