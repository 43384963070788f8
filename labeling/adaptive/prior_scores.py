"""Rules for ordering a queue by a model's scores: at its opening and later, of any kind of order.

A language model has seen no label of ours, so among the documents that an order by its scores has not reached
the audit stays a random part. A model that learned from labels of the audit would have to be refused here.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists

from labeling.models import Prelabel, Prelabeler, Selection
from labeling.models.words import SAME_PAIR
from pooling.interface.problems import InputError
from pooling.models import Pool
from pooling.people.activity_log import record_action


def checked_model(pool: Pool, prelabeler: Prelabeler, *, field: str = "prelabeler") -> Prelabeler:
    """Return `prelabeler`; `InputError` for one of another collection."""
    if prelabeler.collection_id != pool.collection_id:
        raise InputError("These pre-labels belong to another collection.", field=field)
    return prelabeler


def has_scores(pool: Pool, prelabeler: Prelabeler) -> bool:
    """True where a model has a pre-label of a pair of the pool whose texts have not changed since."""
    pairs = pool.entries.filter(**SAME_PAIR)
    prelabels = Prelabel.objects.filter(prelabeler=prelabeler).current()
    return prelabels.filter(Exists(pairs.order_by())).exists()


def record_prior(selection: Selection, by: User | None) -> None:
    """Put it on the list of what admins did that a queue's order starts from a model's scores."""
    queue = selection.queue
    facts = {"model": str(selection.prior), "votes": selection.prior_votes}
    record_action(queue.collection, by, "queue ordered by pre-labels", queue.name, **facts)


def check_prior(pool: Pool, number: int) -> None:
    """`InputError` where no model has that number, or an order over `pool` cannot start from its scores."""
    prelabelers = Prelabeler.objects.filter(collection=pool.collection_id)
    prelabeler = prelabelers.filter(pk=number).first()
    if prelabeler is None:
        names = ", ".join(f"{one.pk} is {one}" for one in prelabelers.listed()) or "none yet"
        problem = f"No model of “{pool.collection.slug}” has the number {number}. Known: {names}."
    elif has_scores(pool, checked_model(pool, prelabeler, field="prior")):
        return
    else:
        problem = (
            f"There are no pre-labels by {prelabeler} of pairs in pool “{pool.name}”. Open the queue without "
            "them, run the model, then start the order from its scores."
        )
    raise InputError(problem, field="prior")
