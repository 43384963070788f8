"""`prelabel_pass SLUG QUEUE list|pause|resume|cancel`: the passes over a queue, wherever they run."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from labeling.models import PrelabelJob
from labeling.prelabels.costs import parse_budget
from labeling.prelabels.page import pass_meant, passes_of
from labeling.prelabels.passes import (
    SHORT_SILENCE,
    cancel_pass,
    pause_abandoned_passes,
    pause_pass,
    resume_pass,
)
from labeling.prelabels.tables import pass_line
from labeling.progress.tables import queue_named
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError


class Command(InputCommand):
    help = "List the pre-label passes over a queue with their cost so far; pause, resume or cancel one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        parser.add_argument("action", choices=("list", "pause", "resume", "cancel"), help="what to do")
        parser.add_argument(
            "number", metavar="PASS", type=int, nargs="?", help="number of the pass, if there are several"
        )
        parser.add_argument("--budget", metavar="X", help="resume: another cap on its cost")
        parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        action, number, budget = (options[name] for name in ("action", "number", "budget"))
        queue = queue_named(options["slug"], options["queue"])
        if budget is not None and action != "resume":
            raise InputError("--budget belongs to resume; leave it out.")
        pause_abandoned_passes(SHORT_SILENCE)
        if action == "list":
            self._print([job for job in passes_of(queue) if number in (None, job.pk)], options["format"])
            return
        job = pass_meant(queue, action, number)
        if action == "resume":
            resume_pass(job, budget=parse_budget(budget))
        else:
            {"pause": pause_pass, "cancel": cancel_pass}[action](job)
        job.refresh_from_db()
        self._print([job], options["format"])

    def _print(self, passes: list[PrelabelJob], form: str) -> None:
        if form == "json":
            from labeling.prelabels.api import PassSerializer  # Cut: REST framework, for JSON alone

            rows = PassSerializer(passes, many=True).data
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2, default=str))
            return
        self.stdout.write(
            "\n".join(map(pass_line, passes)) or "No model has been asked about this queue yet."
        )
