from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface import serializers as interface_serializers
from pooling.interface.api import answers, made, person
from pooling.jobs.lists import JOBS, OWN_JOBS, jobs_of_collection, jobs_of_person
from pooling.jobs.running import cancel_job, end_abandoned_jobs, resume_job
from pooling.models import Job
from pooling.people.access import ADMIN, collection_for, job_for
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class JobSerializer(serializers.ModelSerializer[Job]):
    """How far a job is."""

    class Meta:
        model = Job
        fields = ["state", "progress", "detail", "result"]


class ListedJobSerializer(serializers.ModelSerializer[Job]):
    """A job in a list."""

    collection = serializers.CharField(source="collection.slug")
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)

    class Meta:
        model = Job
        fields = [
            *("id", "kind", "collection", "state", "progress", "detail"),
            *("created_by", "created_at", "finished_at"),
        ]


class Jobs(APIView):
    @lists(ListedJobSerializer, JOBS, operation_id="collections_jobs_list")
    def get(self, request: Request, slug: str) -> Rows:
        """List the jobs of a collection, newest first."""
        return jobs_of_collection(collection_for(request.user, slug))


class OwnJobs(APIView):
    @lists(ListedJobSerializer, OWN_JOBS, operation_id="jobs_list")
    def get(self, request: Request) -> Rows:
        """List the jobs that you started, newest first."""
        return jobs_of_person(person(request))


class OneJob(APIView):
    @answers(JobSerializer)
    def get(self, request: Request, job_id: int) -> object:
        """Read how far a job is; `result` is what the call would have answered, or, of a failed one whose
        server was stopped, what is stored of it."""
        end_abandoned_jobs()
        return job_for(request.user, job_id)


class JobCancel(APIView):
    @answers(JobSerializer)
    def post(self, request: Request, job_id: int) -> object:
        """Ask for the end of a job: what waits is `cancelled` at once, what runs at its next step, and then
        nothing of it is stored. Work that is done before that stays, and the job is `done`. 409 for a
        finished job, and for work that is stored in steps and cannot be cancelled."""
        job = job_for(request.user, job_id, ADMIN)
        cancel_job(job, person(request))
        return job


class JobResume(APIView):
    @answers(interface_serializers.JobStartedSerializer, status=202)
    def post(self, request: Request, job_id: int) -> Response:
        """Take up again a job whose worker was stopped, behind what is stored of it; 409 for any other."""
        return made(resume_job(job_for(request.user, job_id, ADMIN), person(request)))
