"""`import_facts SLUG FILE`: what answers need, and perhaps what documents say of it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.facts.importing import import_facts, import_gold_supports, import_supports
from labeling.facts.labels import fact_counts
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.options import add_file
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Import facts of queries, or supports of facts. If the file has an error, nothing is imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        add_file(parser, "file", "facts in any format of the guide")
        add_file(parser, "--supports", "supports of these facts as well")
        parser.add_argument("--proposed", action="store_true", help="somebody is to confirm them first")
        parser.add_argument(
            "--of",
            choices=("facts", "supports", "gold"),
            default="facts",
            help="what FILE holds: facts, supports of facts that are here, or known answers (default: facts)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        if options["of"] == "supports":
            done = import_supports(collection, options["file"])
        elif options["of"] == "gold":
            done = import_gold_supports(collection, options["file"])
        else:
            done = import_facts(
                collection, options["file"], supports=options["supports"], proposed=options["proposed"]
            )
        counts = fact_counts(collection)
        self.stdout.write(
            f"Facts: {done}. Now {counted(counts.facts, 'confirmed fact')} of "
            f"{counted(counts.queries, 'query')}."
        )
