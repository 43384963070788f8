"""`open_queue SLUG POOL`: a queue over a pool, in the database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.adaptive.options import add_adaptive_arguments
from labeling.adaptive.state import pairs_left
from labeling.exposure.use import WHAT_ASSISTING_DOES, PrelabelUse, change_use, checked_use
from labeling.gold.options import GoldOptions
from labeling.models import PrelabelMode
from labeling.queues.opening import SETTLED, open_queue
from labeling.queues.options import QueueOptions, options_from
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.interface.terminal import progress_bar
from pooling.options import add_option_arguments, options_of
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Open a queue over a pool, so that its pairs can be judged."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("pool", metavar="POOL", help="the pool's name")
        parser.add_argument("--name", help="what the queue is called (default: as the pool)")
        add_option_arguments(parser, options_of(QueueOptions).values(), bounded=False)
        gold = parser.add_argument_group("gold questions")
        add_option_arguments(gold, options_of(GoldOptions).values(), filled=False, bounded=False)
        add_adaptive_arguments(parser)

        parser.add_argument(
            "--prelabels",
            choices=("blind", "reveal", "assist"),
            default="blind",
            help="whether annotators see pre-labels: never, after their verdict, before it (default: blind)",
        )
        parser.add_argument(
            "--prelabeler", type=int, metavar="N", help="whose pre-labels: the number of a model and prompt"
        )
        parser.add_argument(
            "--second-opinion-from",
            type=float,
            metavar="C",
            help=(
                "a verdict that contradicts a pre-label this confident asks for one more judgment, "
                "such as 0.9"
            ),
        )

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        pool = collection.pools.filter(name=options["pool"]).first()
        if pool is None:
            raise InputError(f"There is no pool “{options['pool']}” in “{collection.slug}”. Build it first.")
        prelabeler = None
        if options["prelabeler"] is not None:
            prelabeler = collection.prelabelers.filter(pk=options["prelabeler"]).first()
            if prelabeler is None:
                rows = collection.prelabelers.listed()
                names = ", ".join(f"{one.pk} is {one}" for one in rows) or "none yet"
                problem = f"No model of “{collection.slug}” has the number {options['prelabeler']}."
                raise InputError(f"{problem} Known: {names}.")
        use = PrelabelUse(
            options["prelabels"], prelabeler, second_opinion_from=options["second_opinion_from"]
        )
        checked_use(collection, use)
        with progress_bar("Opening") as progress:
            chosen = options_from(options)
            queue = open_queue(pool, name=options["name"], progress=progress, **vars(chosen))
        if use != PrelabelUse():
            change_use(queue, use, understood=True)
        each = f"{counted(queue.judgments_per_item, 'judgment')} each"
        if queue.most_judgments_per_item:
            each += f" and up to {queue.most_judgments_per_item} on a tie"
        pairs = pairs_left(queue)
        order = f"; labels move their order, by {pool.strategy}" if queue.is_adaptive else ""
        if queue.is_adaptive and queue.selection.prior:
            order += f", which starts from the scores of {queue.selection.prior}"
        self.stdout.write(
            f"Queue {queue.pk}, “{queue.name}”: {counted(pairs, 'pair')}, {each}, seed {queue.seed}{order}."
            f"{'' if pairs else SETTLED}"
        )
        if use.mode == PrelabelMode.ASSIST:
            self.stdout.write(f"Pre-labels of {use.prelabeler} are shown. {WHAT_ASSISTING_DOES}")
