"""The planner of a query, made of what a queue stores: its pool, its selection, what other queries teach, and
the scores that its strategy starts from.

Scores are read each time that a query is ordered, those of its own pairs alone: an order uses what there is
then, and pre-labels that come later count from the next order on. A lesson is a row of numbers by runs, the
votes of the scores among them, so that lessons under another model, or none, mean something else: anyone who
changes that forgets them all in the same transaction, and each query teaches again when it is next ordered or
when `teach_anew` is called for it. At any time the lessons of a selection are the sum of those of its plans.
"""

from __future__ import annotations

from dataclasses import replace

from labeling.adaptive.next_documents import Course, History, Planner, Prior, summed
from labeling.adaptive.query_state import QueryState, read_state
from labeling.models import QueryPlan, Selection, scores_of_query
from pooling.models import Pool


def planner_of(selection: Selection, plan: QueryPlan, state: QueryState) -> Planner:
    """The planner of a query with the lessons of the others, which has been told nothing yet."""
    pool = selection.queue.pool
    course = replace(
        course_of(pool, plan.query.external_id),
        strategy=selection.strategy,
        runs=pool.pool_runs.count(),
        seed=selection.queue.seed,
    )
    lessons = summed(bytes(selection.lessons), less=bytes(plan.lesson))
    return Planner(course, state.entries, lessons, _prior_of(selection, plan))


def course_of(pool: Pool, query_id: str) -> Course:
    """As far as the pool tells it: enough for how many documents are handed out, not for their order."""
    return Course(
        query_id=query_id,
        strategy=pool.strategy,
        runs=0,
        depth=pool.deepest,
        seed=0,
        audit_seed=pool.seed,
        audit_share=pool.audit_share,
        frame_size=pool.frame_size(query_id),
    )


def _prior_of(selection: Selection, plan: QueryPlan) -> Prior | None:
    if selection.prior_id is None:
        return None
    return Prior(scores_of_query(selection.prior_id, plan.query_id), selection.prior_votes)


def history_of(plan: QueryPlan, state: QueryState) -> History:
    """A query's state in the form that its planner takes."""
    return History(
        reached=[document for document, _ in plan.reached],
        audit=[document for document, _, draw in plan.drawn if draw == plan.draw],
        used_up=[document for document, _, draw in plan.drawn if draw < plan.draw],
        spent=plan.spent,
        free=state.free,
        labels=state.labels,
    )


def teach(selection: Selection, plan: QueryPlan, lesson: bytes) -> None:
    """Put a query's lesson in the place of its last one; the plan itself is stored by the caller."""
    if lesson == bytes(plan.lesson):
        return
    selection.lessons = summed(bytes(selection.lessons), less=bytes(plan.lesson), more=lesson)
    plan.lesson = lesson
    selection.save(update_fields=["lessons"])


def teach_anew(selection: Selection, plan: QueryPlan) -> bool:
    """Let a query teach by its labels without being ordered; whether it does. The selection is locked."""
    state = read_state(selection.queue, plan.query_id)
    planner = planner_of(selection, plan, state)
    planner.tell(history_of(plan, state))
    teach(selection, plan, planner.lesson())
    plan.save(update_fields=["lesson"])
    return bool(plan.lesson)


def forget_lessons(selection: Selection) -> None:
    """Forget what all queries teach, as other runs count from now on; the caller locks and stores."""
    selection.lessons = b""
    selection.plans.update(lesson=b"")
