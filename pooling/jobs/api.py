"""Jobs, over HTTP."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pooling.interface import serializers as interface_serializers
from pooling.interface.api import PROBLEM, made, person
from pooling.jobs import serializers
from pooling.jobs.lists import JOBS, OWN_JOBS, jobs_of_collection, jobs_of_person
from pooling.jobs.running import cancel_job, end_abandoned_jobs, resume_job
from pooling.people.access import ADMIN, collection_for, job_for
from pooling.tables.calls import listed, lists


class Jobs(APIView):
    """The long work of a collection."""

    @lists(serializers.ListedJobSerializer, JOBS, operation_id="collections_jobs_list")
    def get(self, request: Request, slug: str) -> Response:
        """List the jobs of a collection, newest first."""
        rows = jobs_of_collection(collection_for(request.user, slug))
        return listed(request, rows, serializers.ListedJobSerializer, JOBS)


class OwnJobs(APIView):
    """The long work that somebody started."""

    @lists(serializers.ListedJobSerializer, OWN_JOBS, operation_id="jobs_list")
    def get(self, request: Request) -> Response:
        """List the jobs that you started, newest first."""
        return listed(request, jobs_of_person(person(request)), serializers.ListedJobSerializer, OWN_JOBS)


class OneJob(APIView):
    """One job."""

    @extend_schema(responses={200: serializers.JobSerializer, 404: PROBLEM})
    def get(self, request: Request, job_id: int) -> Response:
        """Read how far a job is; `result` is what the call would have answered, or, of a failed one whose
        server was stopped, what is stored of it.
        """
        end_abandoned_jobs()
        return Response(serializers.JobSerializer(job_for(request.user, job_id)).data)


class JobCancel(APIView):
    """The end of one job."""

    @extend_schema(
        request=None, responses={200: serializers.JobSerializer, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM}
    )
    def post(self, request: Request, job_id: int) -> Response:
        """Ask for the end of a job: what waits is `cancelled` at once, what runs at its next step, and then
        nothing of it is stored. Work that is done before that stays, and the job is `done`. 409 for a
        finished job, and for work that is stored in steps and cannot be cancelled.
        """
        job = job_for(request.user, job_id, ADMIN)
        cancel_job(job, person(request))
        return Response(serializers.JobSerializer(job).data)


class JobResume(APIView):
    """Going on with one job."""

    @extend_schema(
        request=None,
        responses={202: interface_serializers.JobStartedSerializer, 403: PROBLEM, 404: PROBLEM, 409: PROBLEM},
    )
    def post(self, request: Request, job_id: int) -> Response:
        """Take up again a job whose worker was stopped, behind what is stored of it; 409 for any other."""
        return made(resume_job(job_for(request.user, job_id, ADMIN), person(request)))
