"""The doors to reports and replays: whoever fetches through it has been asked for permission on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.models import Replay, Report
from pooling.access import READERS, fetch, require_role

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from pooling.models import Role


def report_for(user: User | AnonymousUser, report_id: int, roles: tuple[Role, ...] = READERS) -> Report:
    """Fetch a report, its collection and its release, for somebody with one of `roles`."""
    reports = Report.objects.select_related("collection", "release", "created_by")
    report = fetch(reports, pk=report_id)
    require_role(user, report.collection, roles)
    return report


def replay_for(user: User | AnonymousUser, replay_id: int, roles: tuple[Role, ...] = READERS) -> Replay:
    """Fetch a replay, its collection and its release, for somebody with one of `roles`."""
    replays = Replay.objects.select_related("collection", "release", "created_by")
    replay = fetch(replays, pk=replay_id)
    require_role(user, replay.collection, roles)
    return replay
