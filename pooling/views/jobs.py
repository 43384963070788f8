"""The page of one job, which fetches its own state while the job runs."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from pooling.access import job_for

# htmx stops asking when it is answered with this.
STOP_POLLING = 286
TITLES = {
    "queries": "Importing queries",
    "documents": "Importing documents",
    "run": "Importing a run",
    "pool": "Building a pool",
    "campaign": "Building a pool and opening its queue",
    "queue": "Opening a queue",
    "replay": "Replaying strategies",
}


@login_required
@require_GET
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """How far a job is; htmx gets the moving part alone."""
    job = job_for(request.user, job_id)
    partial = bool(request.headers.get("HX-Request"))
    finished = job.state in (job.State.DONE, job.State.FAILED)
    context = {"job": job, "collection": job.collection, "finished": finished}
    context["title"] = TITLES.get(job.kind, job.kind.capitalize())
    template = "pooling/_job.html" if partial else "pooling/job.html"
    return render(request, template, context, status=STOP_POLLING if partial and finished else 200)
