"""The page of one's own work over all queues, and its hours as a file."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.progress.hours import hours_by_day, hours_lines
from labeling.progress.work import has_judged, messages_of, queues_of_work, queues_worked_in, set_aside_of
from pooling.interface.downloads import streamed
from pooling.interface.pages import person

LATEST_DAYS = 14


@login_required
@require_GET
def all_work(request: HttpRequest) -> HttpResponse:
    user = person(request)
    days = hours_by_day(user, queues_worked_in(user))
    rows = queues_of_work(user)
    context = {
        "rows": rows,
        "judged_elsewhere": not rows and has_judged(user),
        "days": days[:LATEST_DAYS],
        "set_aside": set_aside_of(user),
        "sent": messages_of(user),
    }
    return render(request, "labeling/all_work.html", context)


@login_required
@require_GET
def hours_file(request: HttpRequest) -> HttpResponseBase:
    user = person(request)
    lines = hours_lines(hours_by_day(user, queues_worked_in(user)))
    return streamed(lines, "hours.csv", "text/csv; charset=utf-8")
