"""Answers for a load balancer: is the site there, does its database answer, does background work move."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

logger = logging.getLogger(__name__)

WAITED_TOO_LONG = timedelta(minutes=2)


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """`{"status", "database", "worker"}`; 503 when the database does not answer.

    `worker` is `ok`, `behind` when work has waited for two minutes and its worker does nothing, or `none`
    when this installation does its work elsewhere; a worker that is behind is no reason to stop the site.
    The answer is open to everybody, so it names only the kind of error; hosts and names are left to the log.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        worker = worker_state()
    except DatabaseError as error:
        logger.warning("the database does not answer: %s", error)
        reason = f"does not answer ({type(error).__name__}); the server's log says more"
        return JsonResponse({"status": "unavailable", "database": reason}, status=503)
    return JsonResponse({"status": "ok", "database": "ok", "worker": worker})


def worker_state() -> str:
    """`ok`, `behind` or `none`; see `health`."""
    if "django_tasks_db" not in settings.TASKS["default"]["BACKEND"]:
        return "none"
    from django_tasks_db.models import DBTaskResult

    late = DBTaskResult.objects.ready().filter(enqueued_at__lt=timezone.now() - WAITED_TOO_LONG)
    # Each queue has a worker of its own.
    waiting, running = (
        set(tasks.values_list("queue_name", flat=True).distinct())
        for tasks in (late.order_by(), DBTaskResult.objects.running().order_by())
    )
    return "behind" if waiting - running else "ok"
