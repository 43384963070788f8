from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from pooling.formats.wording import counted
from pooling.jobs.kinds import kind_of
from pooling.models import Collection, Job, Membership
from pooling.people.access import READERS, collections_of
from pooling.tables.columns import Choice, Column, Empty, Filter, own_page
from pooling.tables.table import Table


def jobs_of_collection(collection: Collection) -> QuerySet[Job]:
    return _rows().filter(collection=collection)


def jobs_of_person(user: User) -> QuerySet[Job]:
    """The jobs that `user` started, newest first, of the collections whose jobs they may see."""
    readable = collections_of(user)
    if not user.is_superuser:
        memberships = Membership.objects.filter(user=user, role__in=READERS)
        readable = readable.filter(pk__in=memberships.values("collection"))
    return _rows().filter(created_by=user, collection__in=readable)


def _rows() -> QuerySet[Job]:
    return Job.objects.select_related("collection", "created_by").defer("arguments", "collection__guidelines")


def _sentence(job: Job) -> str:
    result = job.result if job.state == Job.State.DONE and job.result else {}
    return result.get("detail") or job.detail


def _took(job: Job) -> str:
    return time_in_words((job.finished_at or timezone.now()) - job.created_at)


def time_in_words(took: timedelta) -> str:
    """A time in its two largest units.

    >>> time_in_words(timedelta(seconds=0.4)), time_in_words(timedelta(seconds=61))
    ('under a second', '1 min 1 s')
    >>> time_in_words(timedelta(hours=26, minutes=5)), time_in_words(timedelta(minutes=65))
    ('1 day 2 h', '1 h 5 min')
    """
    seconds = int(took.total_seconds())
    if seconds < 1:
        return "under a second"
    days, hours = divmod(seconds // 3600, 24)
    minutes = seconds // 60 % 60
    if days:
        return f"{counted(days, 'day')} {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"


def _title(job: Job) -> str:
    return kind_of(job).title


def _by(job: Job) -> str:
    return job.created_by.get_username() if job.created_by else "the site"


def _table(name: str, *more: Column) -> Table:
    return Table(
        name,
        "job",
        columns=(
            Column("job", "Job", _title, sort="kind", link=own_page),
            *more,
            Column("state", "State", template="pooling/_job_state.html"),
            Column("happened", "What happened", _sentence, sort=False, template="pooling/_job_happened.html"),
            Column("started", "Started", "created_at", to_the_minute=True, style="quiet"),
            Column("by", "By", _by, sort="created_by__username"),
            Column("took", "Time", _took, sort=F("finished_at") - F("created_at"), number=True),
        ),
        sort="-started",
        search=("kind__icontains", "detail__icontains", "created_by__username__icontains"),
        search_hint="Kind, words or name",
        filters=(
            Filter(
                "state",
                "State",
                (Choice("all", "All"), *(Choice(one, one.label, Q(state=one)) for one in Job.State)),
                default="all",
            ),
        ),
        caption="Work done in the background. The time includes waiting for the worker.",
        empty=Empty(
            "No jobs yet. Large imports, pools, queues and reports are done in the background and "
            "listed here."
        ),
    )


JOBS = _table("jobs")
OWN_JOBS = _table("jobs", Column("collection", "Collection", "collection.name"))
