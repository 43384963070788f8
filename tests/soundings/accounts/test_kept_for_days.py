"""What is kept of people for some days only is gone after them."""

from __future__ import annotations

from datetime import timedelta

from axes.models import AccessAttempt, AccessLog
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from labeling.models import Judgment, JudgmentEvent
from pooling.tidying.erasing import erase_old
from tests.labeling.helpers import judge, make_queue
from tests.world import PASSWORD, World


def test_sign_ins_and_wrong_passwords_are_kept_for_thirty_days(world: World, client: Client) -> None:
    for password, name in (("wrong", "dan"), (PASSWORD, "ben")):
        client.post("/sign-in/", {"username": name, "password": password})
    assert (AccessLog.objects.count(), AccessAttempt.objects.count()) == (1, 1)
    erase_old(timezone.now() + timedelta(days=29))
    assert (AccessLog.objects.count(), AccessAttempt.objects.count()) == (1, 1)
    erase_old(timezone.now() + timedelta(days=31))
    assert (AccessLog.objects.count(), AccessAttempt.objects.count()) == (0, 0)


def test_notes_go_after_the_days_of_the_site_and_verdicts_stay(world: World, settings: Settings) -> None:
    queue = make_queue(world, pairs=2)
    old, young = queue.items.order_by("pk")
    judge(queue, world.ben, old.pk, note="a long time ago", now=timezone.now() - timedelta(days=8))
    judge(queue, world.ben, young.pk, note="today")
    call_command("purge_deleted")
    assert JudgmentEvent.objects.exclude(note="").count() == 2
    settings.NOTE_DAYS = 7
    call_command("purge_deleted")
    assert list(JudgmentEvent.objects.exclude(note="").values_list("note", flat=True)) == ["today"]
    assert Judgment.objects.count() == 2
