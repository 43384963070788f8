"""The doors to what this stage keeps: anyone who fetches through them was asked for permission."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User

from evaluation.models import Canary, LatencyReport, Replay, Report, Webhook
from pooling.models import Role
from pooling.people.access import ADMIN, READERS, fetch, require_role


def report_for(user: User | AnonymousUser, report_id: int, roles: tuple[Role, ...] = READERS) -> Report:
    """Fetch a report, its collection and its release, for somebody with one of `roles`."""
    reports = Report.objects.select_related("collection", "release", "created_by")
    report = fetch(reports, pk=report_id)
    require_role(user, report.collection, roles)
    return report


def replay_for(user: User | AnonymousUser, replay_id: int) -> Replay:
    """Fetch a replay, its collection and its release, for somebody who may read."""
    replays = Replay.objects.select_related("collection", "release", "created_by")
    replay = fetch(replays, pk=replay_id)
    require_role(user, replay.collection, READERS)
    return replay


def latency_report_for(user: User | AnonymousUser, report_id: int) -> LatencyReport:
    """Fetch a latency report and its collection for somebody who may read."""
    report = fetch(LatencyReport.objects.select_related("collection", "created_by"), pk=report_id)
    require_role(user, report.collection, READERS)
    return report


def canary_for(user: User | AnonymousUser, canary_id: int, roles: tuple[Role, ...] = READERS) -> Canary:
    """Fetch a canary, its collection and its release, for somebody with one of `roles`."""
    canary = fetch(
        Canary.objects.select_related("collection", "release", "created_by", "pinned"), pk=canary_id
    )
    require_role(user, canary.collection, roles)
    return canary


def webhook_for(user: User | AnonymousUser, webhook_id: int) -> Webhook:
    hook = fetch(Webhook.objects.select_related("collection"), pk=webhook_id)
    require_role(user, hook.collection, ADMIN)
    return hook
