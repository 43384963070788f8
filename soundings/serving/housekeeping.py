"""Care while the site runs: of work whose worker was stopped, and of what was deleted."""

from __future__ import annotations

import logging
import time
from threading import Event, Thread

from django.db import Error, connections

from evaluation.canaries.deliveries import resume_messages
from evaluation.canaries.watching import resume_watching
from labeling.prelabels.passes import SHORT_SILENCE, pause_abandoned_passes
from pooling.engines.schedule import resume_schedules
from pooling.jobs.running import end_abandoned_jobs, enqueue_lost_jobs
from pooling.tidying.erasing import erase_in_background

logger = logging.getLogger(__name__)

# What was deleted more than thirty days ago is looked for as often.
ERASING_SECONDS = 3600.0
# Work whose worker was stopped, here or elsewhere, is looked for as often.
REAPING_SECONDS = 15.0


class Housekeeping:
    """Does what is due, whenever it is asked to. An error leaves it due.

    takes_up: first begin again what a worker before this one did not end. erases: erase what is old as well.
    """

    def __init__(self, *, takes_up: bool, erases: bool) -> None:
        self.takes_up = takes_up
        self.erases = erases
        self.erased_at = -ERASING_SECONDS
        self.reaped_at = -REAPING_SECONDS

    def keep(self) -> None:
        if time.monotonic() - self.reaped_at > REAPING_SECONDS:
            end_abandoned_jobs()
            pause_abandoned_passes(SHORT_SILENCE)
            enqueue_lost_jobs()
            self.reaped_at = time.monotonic()
        if self.takes_up:
            resume_watching()
            resume_messages()
            resume_schedules()
            self.takes_up = False
        if self.erases and time.monotonic() - self.erased_at > ERASING_SECONDS:
            erase_in_background.enqueue()
            self.erased_at = time.monotonic()


def keep_house_in_web() -> None:
    """Keep house in a thread of this process, for as long as it lives."""
    Thread(target=_keep_house, daemon=True).start()


def _keep_house() -> None:
    house, never = Housekeeping(takes_up=False, erases=False), Event()
    while not never.wait(REAPING_SECONDS):
        try:
            house.keep()
        except Error as error:
            logger.warning("the database does not answer: %s", error)
        finally:
            connections.close_all()
