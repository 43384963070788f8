"""The page of one job, which fetches its own state while the job runs, and the button that ends it."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from pooling.interface.pages import person
from pooling.interface.problems import InputError
from pooling.jobs.running import can_be_cancelled, cancel_job, is_being_cancelled, jobs_before, resume_job
from pooling.people.access import ADMIN, job_for

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
    "report": "Making a report",
    "redundancy": "Changing the judgments per pair",
    "texts": "Indexing texts for search",
}


@login_required
@require_GET
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """How far a job is; htmx gets the moving part alone."""
    job = job_for(request.user, job_id)
    partial = bool(request.headers.get("HX-Request"))
    context = {
        "job": job,
        "collection": job.collection,
        "title": TITLES.get(job.kind, job.kind.capitalize()),
        "can_be_cancelled": can_be_cancelled(job),
        "is_being_cancelled": is_being_cancelled(job),
        "jobs_before": jobs_before(job),
    }
    template = "pooling/_job.html" if partial else "pooling/job.html"
    return render(request, template, context, status=STOP_POLLING if partial and job.is_finished else 200)


@login_required
@require_POST
def job_resume(request: HttpRequest, job_id: int) -> HttpResponse:
    """Go on with a job whose worker was killed."""
    job = job_for(request.user, job_id, ADMIN)
    try:
        job = resume_job(job, person(request))
    except InputError as error:
        messages.error(request, str(error))
    return redirect(job)


@login_required
@require_POST
def job_cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    """Ask for the end of a job."""
    job = job_for(request.user, job_id, ADMIN)
    try:
        cancel_job(job, person(request))
    except InputError as error:
        messages.error(request, str(error))
    return redirect(job)
