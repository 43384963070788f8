from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.adaptive.budgets import sizes_of
from labeling.adaptive.next_documents import Course, Entry, History, handed_in_all
from labeling.adaptive.options import AdaptiveOptions
from labeling.adaptive.planners import course_of
from labeling.adaptive.query_state import labelled_before
from labeling.items.slots import settle
from labeling.models import GoldQuestion, Item, Judgment, Selection
from labeling.models.words import SAME_PAIR
from labeling.queues.forms import QueueForm
from labeling.queues.opening import (
    ROWS_AT_ONCE,
    earlier_verdicts,
    entries_to_judge,
    nothing_left,
    nothing_open,
    open_or_start,
    refuse_nothing_open,
    waiting_elsewhere,
)
from labeling.queues.options import QueueOptions, options_from
from labeling.queues.workload import Terms, judgments_needed
from pooling.formats.wording import plural
from pooling.interface.forms import Figure, fill_from_address, show_problem
from pooling.interface.pages import answered, person
from pooling.interface.problems import InputError, refusals
from pooling.models import Pool, PoolEntry
from pooling.people.access import ADMIN, collection_for
from pooling.ranking.selection import spread_handed

Pair = tuple[int, int]
PAIR = ("query_id", "document_id")


@dataclass(frozen=True)
class Workload:
    """Numbers of a queue before it is opened: pairs to judge; those of its pool of which nothing is asked;
    judgments of the pairs to judge that are there already, of the expected ones where a budget chooses;
    textless: pairs whose document has no text yet; elsewhere: pairs left to another queue."""

    pairs: int
    settled: int
    done: float
    textless: int = 0
    elsewhere: int = 0


def queue_figures(pool: Pool, options: QueueOptions) -> list[Figure]:
    """Pairs, judgments, hours and cost of a queue over `pool`; `InputError` for what it cannot have."""
    options = options.checked(pool)
    workload = workload_of(pool, options)
    terms = Terms(options.judgments_per_item, options.most_judgments_per_item)
    needed = judgments_needed(workload.pairs, terms, done=workload.done)
    notes = ["at most"] if options.adaptive and options.adaptive.stop_missing is not None else []
    if workload.settled:
        notes.append(f"{workload.settled:,} more {plural(workload.settled, 'is', 'are')} known already")
    if workload.elsewhere:
        notes.append(
            f"{workload.elsewhere:,} more {plural(workload.elsewhere, 'waits', 'wait')} in other queues"
        )
    figures = [
        Figure("Pairs to judge", f"{workload.pairs:,}", "; ".join(notes)),
        Figure("Judgments", f"{needed:,.0f}", "without gold questions and repeats"),
        Figure("Hours of work", f"{needed * terms.seconds / 3600:,.1f}", f"{terms.seconds:g} s a judgment"),
    ]
    if workload.textless:
        figures.append(Figure("Without a text", f"{workload.textless:,}", "import their corpus first"))
    if price := float(settings.PRICE_PER_JUDGMENT):
        figures.append(Figure("Cost", f"{needed * price:,.2f} {settings.CURRENCY}"))
    return figures


def workload_of(pool: Pool, options: QueueOptions) -> Workload:
    """The pairs that a queue over the pool will have judged, as `open_queue` puts them into it.

    A live order skips what is known; from beyond the pool it draws as many as its share says. Labels that
    come in can move that by a few. `InputError` where no pair is left.
    """
    entries = entries_to_judge(pool, whole=options.adaptive is not None)
    settled, done = _settled(pool, entries, options)
    if not (count := entries.count()):
        raise InputError(nothing_left(pool), field="pool")
    if not (left := count - len(settled)) and pool.strategy not in Pool.SAMPLES:
        raise InputError(nothing_open(pool, count), field="pool")
    pairs = left
    if options.adaptive is not None:
        pairs = _handed_in_all(
            pool, entries, settled, adaptive=options.adaptive, needed=options.judgments_per_item
        )
    expected = sum(done.values()) * min(1.0, pairs / max(left, 1))
    textless = entries.filter(document__text__isnull=True).count()
    elsewhere = 0 if options.adaptive else waiting_elsewhere(pool)
    return Workload(pairs, len(settled), expected, textless, elsewhere)


def _settled(
    pool: Pool, entries: QuerySet[PoolEntry], options: QueueOptions
) -> tuple[set[Pair], dict[Pair, int]]:
    """Pairs settled by earlier judgments or as gold questions; and how many judgments others have."""
    gold = GoldQuestion.objects.filter(active=True, **SAME_PAIR)
    judged = Judgment.objects.counted().filter(**SAME_PAIR)
    settled = set(entries.filter(Exists(gold)).values_list(*PAIR))
    verdicts = earlier_verdicts(pool)
    bounds = options.judgments_per_item, options.most_judgments_per_item or options.judgments_per_item
    done: dict[Pair, int] = {}
    for pair in set(entries.filter(Exists(judged)).values_list(*PAIR)) - settled:
        slots = settle(bounds, verdicts[pair], ())
        if slots.state == Item.State.OPEN:
            done[pair] = slots.done
        else:
            settled.add(pair)
    return settled, done


def _handed_in_all(
    pool: Pool, entries: QuerySet[PoolEntry], settled: set[Pair], *, adaptive: AdaptiveOptions, needed: int
) -> int:
    """The pairs that a live order hands out before its budget or the pool ends."""
    sizes = {f"{query}": size for query, size in sizes_of(pool).items()}
    budget, rule = pool.budget if adaptive.budget is None else adaptive.budget, adaptive.budget_rule
    # Where relevant documents turn up, a query may come to its end.
    is_greedy = rule == Selection.Rule.GREEDY
    if PoolEntry.everything.filter(pool=pool, is_beyond=True).exists():
        to_judge = set(entries.values_list(*PAIR)) - settled
        listed = _listed(pool, to_judge, labelled_before(pool, needed))

        def handed(given: Mapping[str, int]) -> dict[str, int]:
            return {query: handed_in_all(*listed[query], many) for query, many in given.items()}

    else:
        left = Counter(dict(entries.order_by().values_list("query").annotate(Count("pk"))))
        left.subtract(query for query, _ in settled)

        def handed(given: Mapping[str, int]) -> dict[str, int]:
            return {query: min(many, left[int(query)]) for query, many in given.items()}

    if is_greedy or budget is None:
        pairs = sum(handed(sizes).values())
        return pairs if budget is None else min(pairs, budget)
    floor = adaptive.budget_floor
    return sum(handed(spread_handed(sizes, budget, handed, rule=rule, floor=floor)).values())


def _listed(
    pool: Pool, to_judge: set[Pair], reached: Mapping[int, list[int]]
) -> dict[str, tuple[Course, list[Entry], History]]:
    """By query, how a live order of a pool with a reserve begins."""
    fields = (*PAIR, "query__external_id", "document__external_id", "is_beyond")
    rows = PoolEntry.everything.filter(pool=pool).order_by("query_id", "is_beyond", "position")
    pairs = rows.values_list(*fields).iterator(chunk_size=ROWS_AT_ONCE)
    begun = {}
    for query, group in groupby(pairs, key=itemgetter(0)):
        listed = list(group)
        entries = [Entry(document, name, 0.0, (), beyond) for _, document, _, name, beyond in listed]
        free = [entry.document for entry in entries if (query, entry.document) not in to_judge]
        history = History(reached.get(query, ()), (), 0, free, {})
        begun[f"{query}"] = course_of(pool, listed[0][2]), entries, history
    return begun


@login_required
@require_http_methods(["GET", "POST"])
def queue_new(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug, ADMIN)
    if request.headers.get("HX-Request"):
        return answered(request, QueueForm(collection, request.GET), _figures)
    form = QueueForm(collection, request.POST or None)
    fill_from_address(request, form, ["pool"])
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            pool, options = values["pool"], options_from(values)
            refuse_nothing_open(pool, options)
            opened = open_or_start(pool, options, name=values["name"], user=person(request))
            return redirect(opened)
        except refusals() as error:
            show_problem(form, error)
    has_pools = form.fields["pool"].queryset.exists()  # type: ignore[attr-defined]
    context = {"form": form, "has_pools": has_pools, "collection": collection, "section": "queues"}
    return render(request, "labeling/queue_new.html", context)


def _figures(form: QueueForm) -> list[Figure]:
    return queue_figures(form.cleaned_data["pool"], options_from(form.cleaned_data))
