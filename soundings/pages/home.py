"""The home page with one's collections, and a collection's overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.comparisons.answer import Answer
from evaluation.comparisons.wording import recall_read_first, what_recall_is_of
from evaluation.reports.summaries import (
    Change,
    ReportSummary,
    RunSummary,
    best_of,
    change_of,
    history_of,
    is_estimated,
)
from evaluation.scoring.estimate_figures import COMPLETE, LABELS
from evaluation.scoring.wording import decimal, interval
from labeling.fact_pages.progress import fact_counts
from labeling.judging.blind_counts import own_queues, queues_to_judge
from labeling.models import Item, Queue
from labeling.progress.of_collection import Judging, QueueState, judging_of, queue_states
from labeling.qrels.judgment_views import JUDGMENT_FORMATS
from labeling.qrels.labels import unreleased_count
from pooling.formats.wording import counted, signed
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

# Lines of runs, and reports that a line goes through.
MOST_RUNS, MOST_POINTS = 8, 12
# Of the picture of a run over reports, in units of its own.
WIDTH, HEIGHT, EDGE = 100, 24, 3


@dataclass(frozen=True)
class Spark:
    """A run's recall over reports as the points of a polyline, its last point, and the same in words."""

    points: str
    last: tuple[str, str]
    words: str


@dataclass(frozen=True)
class RunLine:
    """A run of the newest report in words; change: since one that counts alike; is_new: in none before."""

    run: str
    recall: str
    interval: str
    judged: str
    change: Change | None
    changed: str
    is_new: bool
    spark: Spark | None


@dataclass(frozen=True)
class Results:
    """The newest report: its answer, the recall that is read first (a number or a span) and what it is of,
    the best run, the runs from the best on, what their recall is (`estimated`, `found so far`; nothing where
    labels are complete), and how many more there are."""

    report: ReportSummary
    answer: Answer
    recall: str
    of: str
    best: RunLine
    lines: list[RunLine]
    kind: str
    more: int


def results_of(history: Sequence[ReportSummary]) -> Results | None:
    """Results of the newest of these reports (newest first); None where there is none with an answer."""
    if not history:
        return None
    newest, earlier = history[0], history[1:]
    best, answer = best_of(newest), newest.answer
    if best is None or answer is None:
        return None
    runs = newest.summary["runs"]
    estimated, is_complete = is_estimated(newest.summary), answer.basis == COMPLETE
    number: Literal["estimate", "mean"] = "estimate" if estimated else "mean"
    ranked = sorted(runs, key=lambda run: (-(runs[run][number] or 0.0), run != best, run))
    alike = [one for one in reversed(history) if one.summary["counting"] == newest.summary["counting"]]
    leading = ranked[:MOST_RUNS]
    series = {run: _series(run, alike, estimated=estimated) for run in leading}
    ends = _ends([mean for values in series.values() for mean in values])
    lines = [
        _line(run, newest, earlier, _spark(run, series[run], ends, newest), estimated=estimated)
        for run in leading
    ]
    return Results(
        report=newest,
        answer=answer,
        recall=recall_read_first(answer),
        of=what_recall_is_of(answer),
        best=next((one for one in lines if one.run == best), None)
        or _line(best, newest, earlier, None, estimated=estimated),
        lines=lines,
        kind="estimated" if estimated else "" if is_complete else "found so far",
        more=len(ranked) - len(leading),
    )


def _line(
    run: str, report: ReportSummary, earlier: Sequence[ReportSummary], spark: Spark | None, *, estimated: bool
) -> RunLine:
    figure: RunSummary = report.summary["runs"][run]
    change = change_of(run, report, earlier)
    return RunLine(
        run=run,
        recall=decimal(figure["estimate"] if estimated else figure["mean"]),
        interval=interval({"low": figure["low"], "high": figure["high"]}).strip(),
        judged="–" if figure["judged"] is None else f"{100 * figure['judged']:.0f} %",
        change=change,
        changed="" if change is None else signed(change.difference),
        is_new=not any(run in one.summary["runs"] for one in earlier),
        spark=spark,
    )


def _series(run: str, alike: Sequence[ReportSummary], *, estimated: bool) -> list[float]:
    """A run's recall in the last reports that have it, oldest first: its estimates, or of what was found."""
    points = [one.summary["runs"][run] for one in alike if run in one.summary["runs"]][-MOST_POINTS:]
    values = [one["estimate"] if estimated else one["mean"] for one in points]
    return [value for value in values if value is not None]


def _ends(means: Sequence[float]) -> tuple[float, float]:
    """The scale that all lines share, so that they can be compared by eye; at least 0.05 high."""
    low, high = min(means, default=0.0), max(means, default=1.0)
    room = max(0.05 - (high - low), 0.0) / 2
    return low - room, high + room


def _spark(
    run: str, means: Sequence[float], ends: tuple[float, float], report: ReportSummary
) -> Spark | None:
    if len(means) < 2:
        return None
    low, high = ends
    step = (WIDTH - 2 * EDGE) / (len(means) - 1)
    places = [
        (
            f"{EDGE + place * step:.1f}",
            f"{HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (mean - low) / (high - low):.1f}",
        )
        for place, mean in enumerate(means)
    ]
    words = (
        f"Recall@{report.summary['k']} of {run} in {counted(len(means), 'report')}, oldest first: "
        f"{', '.join(map(decimal, means))}"
    )
    return Spark(" ".join(f"{x},{y}" for x, y in places), places[-1], words)


@dataclass(frozen=True)
class Overview:
    """counted: the collection with its counts; steps: only where there is neither a queue nor a report."""

    counted: Collection
    next: Next
    results: Results | None
    judging: Judging
    steps: list[Step]
    queues: list[Queue]


def overview_of(collection: Collection, user: User) -> Overview:
    """Everything the overview shows, in a constant number of database queries once reports have summaries."""
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
    only_judges = only_annotates(person(request))
    if only_judges:
        speak(request)
    page = page_of(request, home_rows(person(request)))
    listed = listed_collections(person(request), page)
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
