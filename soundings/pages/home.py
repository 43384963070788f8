"""The home page with one's collections, and a collection's overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.reports.summaries import ReportSummary, history_of
from evaluation.scoring.estimate_figures import LABELS
from labeling.fact_pages.progress import fact_counts
from labeling.judging.blind_counts import own_queues, queues_to_judge
from labeling.models import Item, Queue
from labeling.progress.of_collection import Judging, judging_of
from labeling.progress.of_queues import QueueState, queue_states
from labeling.qrels.judgment_views import JUDGMENT_FORMATS
from labeling.qrels.labels import unreleased_count
from pooling.interface.markdown import render_markdown
from pooling.interface.pages import page_of, person, speak
from pooling.models import Collection, Pool, PoolEntry, Role
from pooling.people.access import (
    MEMBERS,
    collection_for,
    collections_of,
    deleted_collections_of,
    may_create_collections,
    role_in,
)
from pooling.people.invitations import MOST_LISTED, offers_to
from pooling.pools.building import choice_of
from pooling.pools.uncovered import new_pairs, newest_merged_pool, newest_run_outside
from soundings.pages.next_step import Next, State, UncoveredRun, UnsettledPair, next_of
from soundings.pages.overview import (
    Step,
    home_rows,
    listed_collections,
    only_annotates,
    state_of,
    steps_of,
    with_counts,
)
from soundings.pages.results import Results, results_of


@dataclass(frozen=True)
class Overview:
    """Contents of the page. counted: the collection with its counts; steps: only where there is neither a
    queue nor a report."""

    counted: Collection
    next: Next
    results: Results | None
    judging: Judging
    steps: list[Step]
    queues: list[Queue]


def overview_of(collection: Collection, user: User) -> Overview:
    """Everything the overview shows; as many database queries however much the collection has, once each
    report has its summary."""
    counted = with_counts(type(collection).objects.filter(pk=collection.pk)).get()
    queues = queue_states([collection.pk]).get(collection.pk, [])
    history = history_of(collection)
    listed = _listed(collection, user, queues)
    paused = frozenset(one.pk for one in listed if one.is_paused_for_them)  # type: ignore[attr-defined]
    state = replace(_looked_up(collection, state_of(counted, queues), history), paused=paused)
    return Overview(
        counted=counted,
        next=next_of(state),
        results=results_of(history),
        judging=judging_of(collection, queues),
        steps=[] if history or queues else steps_of(counted, queues),
        queues=listed,
    )


def _listed(collection: Collection, user: User, states: Sequence[QueueState]) -> list[Queue]:
    """The queues with `total` and `settled` pairs (of facts, documents) and `own`, what `user` answered."""
    by_key = {state.pk: state for state in states}
    queues = list(own_queues(collection, user))
    documents = fact_counts([queue.pk for queue in queues if queue.pk not in by_key])
    for queue in queues:
        state = by_key.get(queue.pk)
        counts = (state.pairs, state.settled) if state else documents.get(queue.pk, (0, 0))
        queue.total, queue.settled = counts  # type: ignore[attr-defined]
    return queues


def _looked_up(collection: Collection, state: State, history: Sequence[ReportSummary]) -> State:
    """The state with what the home page does not look up."""
    pool = newest_merged_pool(collection)
    canary = collection.canaries.values_list("name", flat=True).first()
    return replace(
        state,
        unreleased=unreleased_count(collection, newest)
        if (newest := collection.releases.listed().first())
        else None,
        audit_answered=_is_audit_answered(state.queues[0]) if state.queues else False,
        unopened=_unopened(pool) if state.queues else None,
        uncovered=_uncovered(collection, pool) if history else None,
        unsettled=_unsettled(history),
        of_found=_report_of_labels(history, pool),
        canary=canary or "",
    )


def _is_audit_answered(queue: QueueState) -> bool:
    """The pool of the queue has an audit of which no pair waits."""
    audit = PoolEntry.objects.filter(pool__queues=queue.pk, in_audit=True)
    if not audit.exists():
        return False
    same_pair = audit.filter(query=OuterRef("query"), document=OuterRef("document"))
    waiting = Item.objects.filter(queue=queue.pk, state=Item.State.OPEN, order_key__gt=0)
    return not waiting.filter(Exists(same_pair)).exists()


def _unopened(pool: Pool | None) -> tuple[int, str] | None:
    if pool is None or pool.queues.filter(kind=Queue.Kind.PAIRS).exists():
        return None
    return pool.pk, pool.name


def _uncovered(collection: Collection, pool: Pool | None) -> UncoveredRun | None:
    run = newest_run_outside(collection)
    if run is None or pool is None:
        return None
    return UncoveredRun(run.name, pool.pk, new_pairs(run, pool))


def _report_of_labels(history: Sequence[ReportSummary], pool: Pool | None) -> int | None:
    """The newest report, where nothing tells what was not found."""
    answer = history[0].answer if history else None
    if answer is None or answer.basis != LABELS or (pool is not None and choice_of(pool).has_audit):
        return None
    return history[0].pk


def _unsettled(history: Sequence[ReportSummary]) -> UnsettledPair | None:
    """The newest report's next step."""
    answer = history[0].answer if history else None
    if answer is None or answer.next is None or answer.rival is None:
        return None
    return UnsettledPair(
        report=history[0].pk,
        kind=answer.next.kind,
        count=answer.next.count,
        first=answer.run,
        second=answer.rival.run,
        k=answer.k,
    )


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    page = page_of(request, home_rows(person(request)))
    listed = listed_collections(person(request), page)
    only_judges = only_annotates(person(request))
    if only_judges:
        speak(request)
    offers = offers_to(person(request))[:MOST_LISTED]
    context = {
        "listed": listed,
        "page": page,
        "offers": offers,
        "may_create": may_create_collections(request.user),
        "only_judges": only_judges,
        "archived": collections_of(request.user).filter(archived_at__isnull=False),
        "deleted": deleted_collections_of(request.user).select_related("deleted_by"),
    }
    return render(request, "soundings/home.html", context)


@require_safe
@login_required
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, MEMBERS)
    context: dict[str, Any] = {
        "collection": collection,
        "section": "overview",
        "guidelines": render_markdown(collection.guidelines),
    }
    user = person(request)
    if role_in(user, collection) == Role.ANNOTATOR:
        speak(request)
        context["queues"] = queues_to_judge(collection, user)
        return render(request, "soundings/collection_annotator.html", context)
    context["overview"] = overview_of(collection, user)
    context["memberships"] = collection.memberships.select_related("user")
    context["judgment_formats"] = JUDGMENT_FORMATS
    return render(request, "soundings/collection.html", context)
