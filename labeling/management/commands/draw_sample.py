"""`draw_sample SLUG --model M`: a verification sample of a model's negatives and positives, as a queue."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.prelabels.options import prelabeler_named
from labeling.quality.samples import USUAL, Wanted, open_sample
from pooling.interface.commands import InputCommand
from pooling.people.membership import collection_named

SIZES = ("zero-failures", "half-width", "none")


class Command(InputCommand):
    help = (
        "Draw samples of the pairs that a model calls relevant and not relevant, and open them as a "
        "blind queue."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--model", metavar="M", required=True, help="whose pre-labels are drawn from")
        parser.add_argument("--prompt", metavar="NAME", help="default: the newest")
        for name, usual in USUAL.items():
            method = str(usual.method).replace("_", "-")
            parser.add_argument(
                f"--{name}",
                choices=SIZES,
                default=method,
                help=f"how to choose the sample size (default: {method})",
            )
            parser.add_argument(
                f"--{name}-bound",
                type=float,
                metavar="F",
                default=usual.bound,
                help=f"the share that may fail, or the half-width (default: {usual.bound:g})",
            )
        parser.add_argument("--seed", type=int, metavar="S", help="of the draw (default: drawn)")
        parser.add_argument("--judgments-per-item", type=int, default=1, metavar="N", help="default: 1")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        prelabeler = prelabeler_named(collection, options["model"], options["prompt"], answered=True)
        wanted = [
            Wanted(
                None if options[name] == "none" else options[name].replace("-", "_"), options[f"{name}_bound"]
            )
            for name in USUAL
        ]
        chosen = {name: options[name] for name in ("seed", "judgments_per_item")}
        queue = open_sample(prelabeler, *wanted, **chosen)
        facts = queue.pool.provenance
        sizes = " and ".join(
            f"{facts[name]['size']:,} of {facts[name]['population']:,} {name}" for name in USUAL
        )
        self.stdout.write(
            f"Queue {queue.pk}, “{queue.name}”: {sizes} of {prelabeler}, seed {facts['draw_seed']}. "
            f"Once they are judged, prelabel_quality {collection.slug} shows the result."
        )
