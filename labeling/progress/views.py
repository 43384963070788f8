from __future__ import annotations

from datetime import date
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.access import queue_for
from labeling.adaptive.finishing import finish_queries
from labeling.adaptive.state import endings_sentence, order_progress, plans_of, prior_sentence, query_rows
from labeling.gold.decisions import questions_for
from labeling.gold.quarantine import annotator_named
from labeling.gold.reader import proposals
from labeling.gold.scores import gold_rows
from labeling.items.statements import in_quarantine
from labeling.judging.blind_counts import own_figures, queues_to_judge
from labeling.judging.own_work import own_verdicts, own_work
from labeling.judging.progress_figures import QueueProgress
from labeling.models import Queue
from labeling.progress.counts import listed_queues, queue_progress
from labeling.progress.judged_share import judged_share
from labeling.progress.lists import ANNOTATORS, OWN_QUEUES, OWN_VERDICTS, QUEUES, AnnotatorRow
from labeling.qrels.labels import has_unreleased
from labeling.queues.changes import change_queue, hand_back
from labeling.queues.finds import search_finds
from labeling.queues.forms import QueueSettingsForm, QueueStateForm
from labeling.queues.redundancy import has_unfinished_change
from pooling.formats.wording import plural
from pooling.interface.pages import page_of, person, speak, to_list
from pooling.interface.problems import InputError
from pooling.models import Collection, Pool, Role
from pooling.people.access import ADMIN, MEMBERS, READERS, collection_for
from pooling.tables.answers import answer

MESSAGES = {
    Queue.State.OPEN: "The queue is open.",
    Queue.State.PAUSED: "The queue is paused: it hands out no pairs until it is opened again.",
    Queue.State.CLOSED: "The queue is closed. Verdicts still being sent are saved.",
}


@login_required
@require_http_methods(["GET", "POST"])
def queue(request: HttpRequest, queue_id: int) -> HttpResponseBase:
    """Progress, cost and each person's work, to annotators their own; POST changes redundancy and prices."""
    queue = queue_for(request.user, queue_id, ADMIN if request.method == "POST" else MEMBERS)
    if queue.kind == Queue.Kind.FACTS:
        return redirect("fact_queue", queue.pk)
    if request.method == "POST":
        return _changed(request, queue)
    if queue.collection.role == Role.ANNOTATOR:  # type: ignore[attr-defined]
        speak(request)
        user = person(request)
        own = {"own": own_figures(queue, user), "is_paused": in_quarantine(queue.pk, user)}
        return render(request, "labeling/queue_own.html", {**_about(queue), **own})
    return _page(request, queue, QueueSettingsForm(queue=queue))


def _changed(request: HttpRequest, queue: Queue) -> HttpResponseBase:
    form = QueueSettingsForm(request.POST, queue=queue)
    if not form.is_valid():
        return _page(request, queue, form)
    try:
        job = change_queue(queue, form.cleaned_data, by=person(request))
    except InputError as error:
        messages.error(request, str(error))
        return redirect(queue)
    if job:
        return redirect(job)
    messages.success(request, "Changed.")
    return redirect(queue)


@login_required
@require_POST
def queue_state(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    form = QueueStateForm(request.POST)
    if form.is_valid():
        change_queue(queue, form.cleaned_data, by=person(request))
        messages.success(request, MESSAGES[Queue.State(queue.state)])
    return redirect(queue)


@login_required
@require_POST
def queue_hand_back(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    try:
        annotator = annotator_named(queue, request.POST.get("annotator", ""))
    except InputError as error:
        messages.error(request, str(error))
        return redirect(queue)
    returned = hand_back(queue, annotator, by=person(request))
    items = f"{returned} {plural(returned, 'pair')}"
    messages.success(request, f"{items} of {annotator.get_username()} returned to the queue.")
    return redirect(queue)


@login_required
@require_POST
def queue_finish(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    name = request.POST.get("query")
    try:
        finished = finish_queries(queue, None if name is None else [name], by=person(request))
    except InputError as error:
        messages.error(request, str(error))
        return redirect(queue)
    messages.success(request, f"{finished} {plural(finished, 'query')} finished by hand.")
    return to_list(request, "queue", queue.pk)


@login_required
@require_GET
def queue_judged(request: HttpRequest, queue_id: int) -> HttpResponse:
    """judged@K of each run, which takes a while for a large queue; htmx gets the part alone."""
    queue = queue_for(request.user, queue_id, READERS)
    context: dict[str, Any] = {**_about(queue), "judged_share": judged_share(queue)}
    if queue.pool.strategy == Pool.SEARCH:
        context["search_finds"] = search_finds(queue.collection)
    partial = bool(request.headers.get("HX-Request"))
    return render(
        request, "labeling/_queue_judged.html" if partial else "labeling/queue_judged.html", context
    )


def _about(queue: Queue) -> dict[str, Any]:
    return {"queue": queue, "collection": queue.collection, "section": "queues"}


def _day(iso: str | None) -> date | None:
    return date.fromisoformat(iso) if iso else None


def _page(request: HttpRequest, queue: Queue, form: QueueSettingsForm) -> HttpResponseBase:
    progress = queue_progress(queue)
    gold = {row.username: row for row in gold_rows(queue)}
    paused = set(queue.quarantines.filter(lifted_at=None).values_list("annotator__username", flat=True))
    seconds_left, oldest = progress["cost"]["seconds_left"], progress["leases"]["oldest_seconds"]
    people = [
        AnnotatorRow(row, gold.get(row["username"]), row["username"] in paused)
        for row in progress["annotators"]
    ]
    items, judgments = progress["items"], progress["judgments"]
    is_left = judgments["left"] + (judgments["expected_for_ties"] or 0) > 0
    context: dict[str, Any] = {
        **_about(queue),
        "progress": progress,
        "pairs": {"total": items["total"], "settled": items["total"] - items["open"]},
        "annotators": ANNOTATORS.shown(request, people, queue.collection),
        "end_date": _day(progress["end_date"]) if is_left else None,
        "hours_left": None if seconds_left is None or not is_left else seconds_left / 3600,
        "oldest_minutes": None if oldest is None else oldest / 60,
        "is_unfinished": has_unfinished_change(queue),
        "adaptive": (order := order_progress(queue)),
        "form": form,
        "is_paused": person(request).get_username() in paused,
        "is_judged": (is_judged := _is_judged(progress)),
        "can_measure": is_judged and _has_news(queue.collection),
        "implausible": proposals(queue) if queue.collection.role == Role.ADMIN else [],  # type: ignore[attr-defined]
    }
    if order:
        page = page_of(request, plans_of(queue))
        context |= {
            "order_ended": endings_sentence(order["finished"]),
            "prior_sentence": prior_sentence(order),
        }
        context["page"] = page
        context["rows"] = query_rows(queue, page)
    return answer(request, "labeling/queue.html", context)


def _is_judged(progress: QueueProgress) -> bool:
    """No pair is left to judge: all are settled, or every query of an adaptive queue is finished."""
    order = progress["order"]
    return not progress["items"]["open"] or (order is not None and not order["finished"].get("", 0))


def _has_news(collection: Collection) -> bool:
    return collection.runs.listed().exists() and has_unreleased(
        collection, collection.releases.listed().first()
    )


@login_required
@require_GET
def queues(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug, MEMBERS)
    is_annotator = collection.role == Role.ANNOTATOR  # type: ignore[attr-defined]
    rows = (queues_to_judge if is_annotator else listed_queues)(collection, person(request))
    if is_annotator:
        speak(request)
    table = (OWN_QUEUES if is_annotator else QUEUES).shown(request, rows, collection)
    context = {"table": table, "collection": collection, "section": "queues"}
    return answer(request, "labeling/queues.html", context)


@login_required
@require_GET
def own_work_page(request: HttpRequest, queue_id: int) -> HttpResponseBase:
    queue = queue_for(request.user, queue_id)
    user = person(request)
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "own": own_figures(queue, user),
        "is_paused": in_quarantine(queue.pk, user),
        "work": own_work(queue, user),
        "questions": questions_for(queue, user),
        "table": OWN_VERDICTS.shown(request, own_verdicts(queue, user)),
    }
    return answer(request, "labeling/own_work.html", context)
