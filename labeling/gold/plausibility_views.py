from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from labeling.access import queue_for
from labeling.gold.decisions import Choice, decide, reply, undo
from labeling.gold.record import ASK, IGNORE, PAUSE
from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.people.access import ADMIN

MESSAGES = {
    PAUSE: "{} is paused; their judgments are set aside.",
    ASK: "{} will see your question on the page of their work.",
    IGNORE: "Ignored. The answers of {} count as before.",
}


@login_required
@require_POST
def work_decision(request: HttpRequest, queue_id: int) -> HttpResponse:
    """Decide on a proposal; the message has the button that undoes it."""
    queue = queue_for(request.user, queue_id, ADMIN)
    given = {name: request.POST.get(name, "") for name in ("annotator", "decision", "question")}
    try:
        decision = decide(queue, Choice(**given), by=person(request))
    except InputError as error:
        messages.error(request, str(error))
    else:
        sentence = MESSAGES[decision.decision].format(decision.annotator)
        messages.success(
            request,
            format_html(
                '{} <button class="button quiet-button" form="undo" formaction="{}">Undo</button>',
                sentence,
                reverse("work_decision_undo", args=[queue.pk, decision.id]),
            ),
        )
    return redirect("quality", queue_id)


@login_required
@require_POST
def work_decision_undo(request: HttpRequest, queue_id: int, decision_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id, ADMIN)
    try:
        undo(queue, decision_id, by=person(request))
        messages.success(request, "Undone.")
    except InputError as error:
        messages.error(request, str(error))
    return redirect("quality", queue_id)


@login_required
@require_POST
def work_reply(request: HttpRequest, queue_id: int, decision_id: int) -> HttpResponse:
    queue = queue_for(request.user, queue_id)
    try:
        reply(queue, decision_id, request.POST.get("reply", ""), by=person(request))
        messages.success(request, _("Sent. Only the admins see it."))
    except InputError as error:
        messages.error(request, str(error))
    return redirect("own_work", queue_id)
