"""`prelabel_quality SLUG [--model M]`: whether the pre-labels of a collection's models pay."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from labeling.prelabels.tables import worth_table
from labeling.quality.blind_labels import evidence
from labeling.quality.worth_api import worth_and_samples
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Measure each model's pre-labels against blind labels from people."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--model", metavar="M", help="only this model; default: all")
        parser.add_argument("--format", choices=("table", "json"), default="table", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        chosen = collection.prelabelers.listed().select_related("collection")
        if options["model"]:
            chosen = chosen.filter(model=options["model"])
        by_prelabeler = evidence(collection)
        rows = [worth_and_samples(prelabeler, by_prelabeler) for prelabeler in chosen]
        if not rows:
            by = f" by “{options['model']}”" if options["model"] else ""
            raise InputError(f"There are no pre-labels{by} in “{options['slug']}”.", missing=True)
        if options["format"] == "json":
            self.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2, default=str))
        else:
            self.stdout.write("\n\n".join(map(worth_table, rows)))
