"""The practice round, one question at a time."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from labeling.access import queue_for
from labeling.gold.practice import practice_round
from labeling.judging.offers import question_offer
from labeling.judging.practice import answer_practice
from labeling.judging.submissions import Submission
from labeling.judging.views import VerdictForm, marked_document
from labeling.models import Verdict
from pooling.interface.pages import person
from pooling.interface.problems import refusals
from pooling.people.access import JUDGES


@login_required
@require_http_methods(["GET", "POST"])
def practice(request: HttpRequest, queue_id: int) -> HttpResponse:
    """One practice question at a time, explained after the verdict."""
    queue = queue_for(request.user, queue_id, JUDGES)
    context: dict[str, Any] = {"queue": queue, "collection": queue.collection, "section": "queues"}
    if request.method == "POST":
        form = VerdictForm(request.POST)
        if not form.is_valid() or not form.cleaned_data["verdict"]:
            messages.error(request, "The verdict was incomplete. Please choose again.")
            return redirect("practice", queue_id)
        values = {name: value for name, value in form.cleaned_data.items() if value not in (None, "")}
        try:
            explained = answer_practice(queue, person(request), Submission(**values))
        except refusals() as error:
            messages.error(request, str(error))
            return redirect("practice", queue_id)
        given = Verdict(values["verdict"]).label.lower()
        context |= {"explained": explained, "given": given, "answer": Verdict(explained.answer).label.lower()}
    state = practice_round(queue, person(request))
    if state.next is None and "explained" not in context:
        return redirect(reverse("judge", args=[queue.pk]))
    context |= {"round": state, "number": state.answered + 1, "key": str(uuid4())}
    if state.next and "explained" not in context:
        offer = question_offer(state.next)
        context |= {"item": offer, **marked_document(offer["document"], whole=True)}
    return render(request, "labeling/practice.html", context)
