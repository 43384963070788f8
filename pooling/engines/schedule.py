"""Engines that are asked by themselves: the worker hands itself a task for the next time.

The time is in the engine's row. A task that comes at another time, since the schedule was changed or the site
was started again, does nothing. Task backends that cannot wait need `search_run` from cron instead.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone
from django_tasks import task

from pooling.engine_models import Engine


def begin_schedule(engine: Engine) -> None:
    """Ask an engine after its interval, counted from now; without an interval, never."""
    hours = engine.every_hours
    engine.next_at = timezone.now() + timedelta(hours=hours) if hours else None
    engine.save(update_fields=["next_at"])
    _hand_over(engine.pk, engine.next_at)


def resume_schedules() -> int:
    """Hand over scheduled engines when the site starts, each overdue one once; how many there are."""
    rows = Engine.objects.filter(collection__deleted_at=None, next_at__isnull=False)
    due = list(rows.values_list("pk", "next_at"))
    for key, at in due:
        _hand_over(key, at)
    return len(due)


def _hand_over(engine: int, at: datetime | None) -> None:
    if at is None:
        return
    later = at > timezone.now()
    if later and not ask_when_due.get_backend().supports_defer:
        return
    waiting = ask_when_due.using(run_after=at) if later else ask_when_due
    transaction.on_commit(partial(waiting.enqueue, engine))


@task()
def ask_when_due(engine: int) -> None:
    """Start the job that asks an engine, if its time has come, and set the next time."""
    # Cut: what asks is started by name, and knows the schedule.
    from pooling.engines.running import start_scheduled

    now = timezone.now()
    row = Engine.objects.filter(pk=engine, collection__deleted_at=None).first()
    if row is None or row.next_at is None or not row.every_hours or row.next_at > now:
        return
    next_at = now + timedelta(hours=row.every_hours)
    # In one statement, so that of two tasks one asks.
    if Engine.objects.filter(pk=engine, next_at=row.next_at).update(next_at=next_at):
        start_scheduled(row)
        _hand_over(engine, next_at)
