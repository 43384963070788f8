"""The scores that the strategy of an adaptive queue starts from: taken up, changed for another model's, or
put away while people judge.

Two steps. The first, in one short transaction, says whose scores count from now on and forgets what queries
taught each other, for lessons under other scores mean something else; from then on everything is consistent,
and each query follows when it is next ordered. The second does not wait for that: every query teaches again,
then every query is ordered again with the lessons of all, each in a separate transaction, so that nobody who
judges waits for long. Batches of which something was handed out stay as they are, and so does the audit,
which sees no scores. What is interrupted in the second step is no harm; the same call again does it all.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction

from labeling.adaptive.facts import PairsMoved
from labeling.adaptive.planners import forget_lessons, teach_anew
from labeling.adaptive.prior_scores import checked_model, has_scores, record_prior
from labeling.adaptive.reordering import AT_ONCE, locked_selection, order_anew
from labeling.models import Prelabeler, Queue, Selection
from pooling.formats.wording import counted, plural
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.jobs.kinds import job_kind
from pooling.jobs.running import note_stored, start_job
from pooling.models import Job
from pooling.people.activity_log import record_action
from pooling.strategies.prior import usual_votes

INTERRUPTED = "What is done is stored; the other queries follow after their next ten judgments."


def set_prior(queue: Queue, prelabeler: Prelabeler | None, *, by: User | None = None) -> None:
    """Let the strategy of an adaptive queue start from a model's scores, or from the runs alone with None.

    The first step. `InputError` for a model that will not do or has said nothing of the pool, where there is
    nothing to put away, and where every query is finished.
    """
    if prelabeler and not has_scores(queue.pool, checked_model(queue.pool, prelabeler)):
        raise InputError(f"There are no pre-labels by {prelabeler} in “{queue.name}”.", conflict=True)
    with transaction.atomic():
        selection = locked_selection(queue)
        if prelabeler is None and selection.prior_id is None:
            problem = (
                f"The order of “{queue.name}” does not start from scores; there are no scores to remove."
            )
            raise InputError(problem, conflict=True)
        if not selection.plans.filter(finished_by="").exists():
            raise InputError(f"“{queue.name}” has no pairs left that could be moved.", conflict=True)
        before, selection.prior = selection.prior, prelabeler
        selection.prior_votes = usual_votes(queue.pool.pool_runs.count()) if prelabeler else 0
        if before != prelabeler:
            forget_lessons(selection)
        selection.save(update_fields=["prior", "prior_votes", "lessons"])
        if prelabeler is None:
            record_action(queue.collection, by, "queue ordered without pre-labels", queue.name)
        else:
            record_prior(selection, by)


def follow_prior(queue: Queue, progress: Progress | None = None) -> int:
    """The second step; returns how many pairs that were not handed out are in the new order."""
    progress = progress or (lambda share, detail: None)
    plans = Selection.objects.get(queue=queue).plans.order_by("place").values_list("pk", flat=True)
    count = len(plans)
    for place, key in enumerate(plans):
        with transaction.atomic():
            selection = locked_selection(queue)
            if not teach_anew(selection, selection.plans.select_related("query").get(pk=key)):
                # With this strategy no query teaches another.
                break
        progress(0.4 * place / count, f"{place:,} of {counted(count, 'query')} checked.")
    return order_anew(queue, progress=lambda share, detail: progress(0.4 + 0.6 * share, detail))


def is_large(queue: Queue) -> bool:
    """Ordering all queries again takes longer than a request should."""
    return Selection.objects.get(queue=queue).plans.count() > AT_ONCE


def start_following(queue: Queue, *, by: User | None = None) -> Job:
    """Have the background worker do the second step."""
    return start_job(queue.collection, "prior", {"queue": queue.pk}, by)


@job_kind(
    "prior",
    title="Ordering a queue again",
    stages=((0.0, "Check the queries"), (0.4, "Put their pairs in order")),
    begins_at="queues",
    can_be_cancelled=False,
)
def _follow_in_background(job: Job, progress: Progress) -> PairsMoved:
    queue = job.collection.queues.select_related("collection", "pool").get(pk=job.arguments["queue"])
    note_stored(job, {"detail": INTERRUPTED, "url": queue.get_absolute_url()})
    moved = follow_prior(queue, progress)
    return {
        "id": queue.pk,
        "name": queue.name,
        "moved": moved,
        "detail": f"Queue “{queue.name}”: {counted(moved, 'pair')} not yet handed out "
        f"{plural(moved, 'is', 'are')} ordered again.",
        "url": queue.get_absolute_url(),
    }
