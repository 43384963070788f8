"""`prelabel SLUG QUEUE --model M`: a language model proposes a verdict for every pair of a queue."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from labeling.models import PrelabelJob
from labeling.prelabels.costs import parse_budget, parse_prices
from labeling.prelabels.estimates import SAMPLE, estimate, estimate_in_words
from labeling.prelabels.options import missing_key, prelabeler_for
from labeling.prelabels.passes import PassOptions, run_here
from labeling.prelabels.running import PAUSE, Pass
from labeling.prelabels.tables import pass_sentence
from labeling.progress.tables import queue_named
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.interface.terminal import progress_bar

INTERRUPTED = 130  # as shells say it


class Command(InputCommand):
    help = "Ask a language model about the pairs of a queue. Its pre-labels are kept apart from judgments."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        parser.add_argument("--model", metavar="M", required=True, help="as the server calls it")
        parser.add_argument("--prompt", default="binary", help="binary or graded (default: binary)")
        parser.add_argument(
            "--threshold",
            type=int,
            metavar="N",
            help="graded: lowest grade that counts as relevant (default: 2)",
        )
        parser.add_argument("--base-url", metavar="U", help="the server (default: the first of the settings)")
        parser.add_argument("--budget", metavar="X", help="maximum cost; the pass pauses there")
        parser.add_argument(
            "--price", metavar="IN/OUT", help="prices per million tokens read and written (default: settings)"
        )
        parser.add_argument(
            "--concurrency", type=int, default=8, metavar="N", help="requests at a time (default: 8)"
        )
        parser.add_argument("--limit", type=int, metavar="N", help="maximum number of pairs, drawn at random")
        parser.add_argument("--retry-failed", action="store_true", help="retry pairs for which a pass failed")
        parser.add_argument("--dry-run", action="store_true", help="print the estimate without asking")
        parser.add_argument(
            "--sample",
            action="store_true",
            help="ask about 20 pairs, print the estimate for the rest, and stop",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        queue = queue_named(options["slug"], options["queue"])
        prices = parse_prices(options["price"]) if options["price"] else None
        prelabeler = prelabeler_for(
            queue.collection,
            options["model"],
            prompt=options["prompt"],
            base_url=options["base_url"],
            threshold=options["threshold"],
        )
        chosen = PassOptions(
            concurrency=options["concurrency"],
            limit=SAMPLE if options["sample"] else options["limit"],
            budget=parse_budget(options["budget"]),
            prices=prices,
            retries_failed=options["retry_failed"],
        )
        if not options["dry_run"]:
            self._run(queue, prelabeler, chosen)
        if options["dry_run"] or options["sample"]:
            figures = estimate(queue, prelabeler, replace(chosen, limit=options["limit"]), reads_all=True)
            self.stdout.write(estimate_in_words(figures))
            if problem := missing_key(queue.collection, prelabeler.base_url):
                self.stdout.write(problem)

    def _run(self, queue: Any, prelabeler: Any, chosen: Any) -> None:
        with progress_bar("Asking") as moved:

            def progress(job: PrelabelJob) -> None:
                cost = "" if job.input_price is None else f", {job.cost:,.4f} {job.currency}"
                failed = f", {job.failed_count:,} failed" if job.failed_count else ""
                detail = f"{job.done_count:,} of {job.pair_count:,}{failed}{cost}"
                moved(job.done_count / max(job.pair_count, 1), detail)

            def started(running: Pass) -> None:
                # Once lets what was sent come back; twice does not wait for it.
                def interrupted(number: int, frame: Any) -> None:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    running.stop(PAUSE, "Paused by Ctrl+C; run the same command to continue.")

                signal.signal(signal.SIGINT, interrupted)

            before = signal.getsignal(signal.SIGINT)
            try:
                job = run_here(queue, prelabeler, chosen, progress=progress, started=started)
            finally:
                signal.signal(signal.SIGINT, before)
        if job.state == "failed":
            raise InputError(job.detail)
        self.stdout.write(pass_sentence(job))
        if job.detail.startswith("Paused by Ctrl+C"):
            sys.exit(INTERRUPTED)
