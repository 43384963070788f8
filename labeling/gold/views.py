from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.access import queue_for
from labeling.gold.gaps import queries_without_gold, skips_in
from labeling.gold.options import GoldSettingsForm, change_options
from labeling.gold.quarantine import annotator_named, impose, lift
from labeling.gold.questions import LONGEST_REASON
from labeling.gold.rule import ENOUGH_TO_READ
from labeling.gold.scores import ANSWERS_GIVEN, gold_answers, gold_rows
from labeling.gold.serializers import gold_figures
from pooling.interface.forms import show_problem
from pooling.interface.pages import person, problems_as_messages
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN
from pooling.tables.answers import answer


@login_required
@require_http_methods(["GET", "POST"])
def queue_gold(request: HttpRequest, queue_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    form = GoldSettingsForm(request.POST or None, queue=queue)
    if request.method == "POST" and form.is_valid():
        try:
            change_options(queue, form.cleaned_data)
            messages.success(request, "Changed.")
            return redirect("queue_gold", queue_id)
        except InputError as error:
            show_problem(form, error)
    quarantines = list(queue.quarantines.select_related("annotator", "imposed_by", "lifted_by"))
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "form": form,
        "rows": [{**gold_figures(row), "row": row} for row in gold_rows(queue)],
        "skips": skips_in(queue),
        "without": queries_without_gold(queue.collection, pk=queue.pk),
        "quarantines": quarantines,
        "paused": {row.annotator.get_username() for row in quarantines if row.lifted_at is None},
        "enough": ENOUGH_TO_READ,
    }
    return render(request, "labeling/gold_queue.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def annotator_gold(request: HttpRequest, queue_id: int, name: str) -> HttpResponseBase:
    queue = queue_for(request.user, queue_id, ADMIN)
    try:
        annotator = annotator_named(queue, name)
    except InputError as error:
        messages.error(request, str(error))
        return redirect("queue_gold", queue_id)
    if request.method == "POST":
        with problems_as_messages(request):
            if request.POST.get("action") == "restore":
                lift(queue, annotator, by=person(request))
                messages.success(request, f"{name} can go on; their judgments count again.")
            else:
                reason = request.POST.get("reason", "")[:LONGEST_REASON]
                impose(queue, annotator, by=person(request), reason=reason)
                messages.success(request, f"{name} is paused; their judgments are set aside.")
        return redirect("annotator_gold", queue_id, name)
    quarantines = queue.quarantines.filter(annotator=annotator).select_related("imposed_by", "lifted_by")
    rows = [row for row in gold_rows(queue) if row.annotator_id == annotator.pk]
    context = {
        "queue": queue,
        "collection": queue.collection,
        "section": "queues",
        "annotator": annotator,
        "row": gold_figures(rows[0]) if rows else None,
        "table": ANSWERS_GIVEN.shown(request, gold_answers(queue, annotator), queue.collection),
        "quarantines": list(quarantines),
        "is_paused": any(row.lifted_at is None for row in quarantines),
    }
    return answer(request, "labeling/gold_annotator.html", context)
