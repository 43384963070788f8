from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from pooling.interface.pages import person, problems_as_messages, say_done
from pooling.jobs.kinds import kind_of, stages_of
from pooling.jobs.lists import JOBS, OWN_JOBS, jobs_of_collection, jobs_of_person
from pooling.jobs.running import (
    can_be_cancelled,
    can_be_resumed,
    cancel_job,
    end_abandoned_jobs,
    is_being_cancelled,
    jobs_before,
    resume_job,
)
from pooling.models import Collection, Job
from pooling.people.access import ADMIN, collection_for, job_for
from pooling.tables.answers import answer
from pooling.tables.shown import TableView

# htmx stops asking when it is answered with this.
STOP_POLLING = 286


@login_required
@require_GET
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    """Progress of a job, for htmx the moving part alone; anyone who waits is sent on to the result."""
    end_abandoned_jobs()
    job = job_for(request.user, job_id)
    partial = bool(request.headers.get("HX-Request"))
    result = job.result if job.state == Job.State.DONE else None
    if result and "url" in result and (partial or "follow" in request.GET):
        # A report, a replay or a comparison of indexes is its own news.
        if "detail" in result:
            say_done(request, result)
        return HttpResponseClientRedirect(result["url"]) if partial else redirect(result["url"])
    name = kind_of(job).begins_at
    context = {
        "job": job,
        "collection": job.collection,
        "section": "jobs",
        "title": kind_of(job).title,
        "stages": stages_of(job),
        "begins_at": reverse(name, args=[job.collection.slug]) if name else "",
        "can_be_resumed": can_be_resumed(job),
        "can_be_cancelled": can_be_cancelled(job),
        "is_being_cancelled": is_being_cancelled(job),
        "jobs_before": jobs_before(job),
    }
    template = "pooling/_job.html" if partial else "pooling/job.html"
    return render(request, template, context, status=STOP_POLLING if partial and job.is_finished else 200)


@login_required
@require_safe
def collection_jobs(request: HttpRequest, slug: str) -> HttpResponseBase:
    collection = collection_for(request.user, slug)
    return _list(request, JOBS.shown(request, jobs_of_collection(collection), collection), collection)


@login_required
@require_safe
def own_jobs(request: HttpRequest) -> HttpResponseBase:
    return _list(request, OWN_JOBS.shown(request, jobs_of_person(person(request))), None)


def _list(request: HttpRequest, table: TableView, collection: Collection | None) -> HttpResponseBase:
    is_moving = any(not line.row.is_finished for line in table.rows)
    context = {"collection": collection, "section": "jobs", "table": table, "is_moving": is_moving}
    answered = answer(request, "pooling/jobs.html", context)
    if request.headers.get("HX-Request") and not is_moving and answered.status_code == 200:
        answered.status_code = STOP_POLLING
    return answered


@login_required
@require_POST
def job_resume(request: HttpRequest, job_id: int) -> HttpResponse:
    job = job_for(request.user, job_id, ADMIN)
    with problems_as_messages(request):
        job = resume_job(job, person(request))
    return redirect(job)


@login_required
@require_POST
def job_cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    job = job_for(request.user, job_id, ADMIN)
    with problems_as_messages(request):
        cancel_job(job, person(request))
    return redirect(job)
