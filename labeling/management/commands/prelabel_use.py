"""`prelabel_use SLUG QUEUE`: what a queue does with pre-labels, told or changed."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from labeling.exposure.use import change_use, use_of
from labeling.prelabels.options import prelabeler_named
from labeling.prelabels.tables import use_sentence
from labeling.progress.tables import queue_named
from pooling.formats.wording import counted, plural
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError


class Command(InputCommand):
    help = (
        "Show or change whether annotators of a queue see pre-labels, and which verdicts get a second "
        "opinion."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("queue", metavar="QUEUE", help="the queue's name")
        parser.add_argument(
            "--prelabels",
            choices=("blind", "reveal", "assist"),
            help="when annotators see them: never, after their verdict, before it",
        )
        parser.add_argument("--model", metavar="M", help="whose pre-labels")
        parser.add_argument("--prompt", metavar="NAME", help="of the model (default: the newest)")
        parser.add_argument(
            "--blind-share", type=float, metavar="F", help="share of pairs that stay blind (control arm)"
        )
        doubt = parser.add_mutually_exclusive_group()
        doubt.add_argument(
            "--second-opinion-from",
            type=float,
            metavar="C",
            help=(
                "a verdict that contradicts a pre-label this confident asks for one more judgment, "
                "such as 0.9"
            ),
        )
        doubt.add_argument(
            "--no-second-opinions", action="store_true", help="no verdict asks for one any more"
        )
        parser.add_argument(
            "--understood",
            action="store_true",
            help="assist: confirm that you have read how it affects people",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        queue = queue_named(options["slug"], options["queue"])
        if options["prompt"] and not options["model"]:
            raise InputError("--prompt belongs to --model; name both.")
        changes: dict[str, Any] = {
            "mode": options["prelabels"],
            "prelabeler": options["model"]
            and prelabeler_named(queue.collection, options["model"], options["prompt"]),
            "blind_share": options["blind_share"],
            "second_opinion_from": options["second_opinion_from"],
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        if options["no_second_opinions"]:
            changes["second_opinion_from"] = None
        if changes:
            gone_through = change_use(
                queue, replace(use_of(queue), **changes), understood=options["understood"]
            )
            if gone_through:
                self.stdout.write(
                    f"{counted(gone_through, 'judged pair')} {plural(gone_through, 'was', 'were')} checked."
                )
        self.stdout.write(f"“{queue.name}”: {use_sentence(use_of(queue))}")
