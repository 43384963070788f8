"""`release_qrels SLUG --name NAME`: the labels as they stand, frozen under a name."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.consensus.rule_names import RULES_IN_WORDS
from labeling.qrels.releases import release_qrels
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Freeze the labels of a collection under a name."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--name", required=True, help="what the release is called")
        parser.add_argument(
            "--rule", default="majority", help=f"how verdicts become a label: {', '.join(RULES_IN_WORDS)}"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        release = release_qrels(collection, name=options["name"], rule=options["rule"])
        counts = release.sidecar["counts"]
        unjudged = counts["pooled_not_judged"]
        more = f", and {counted(unjudged, 'pair')} as -1 (pooled, not judged)" if unjudged else ""
        self.stdout.write(
            f"Release “{release.name}”: {release.pair_count - unjudged:,} labels of {release.query_count:,} "
            f"queries, {release.relevant_count:,} relevant{more}; without a label: {counts['tie']:,} ties, "
            f"{counts['not_final']:,} not final, {counts['cannot_judge']:,} that could not be judged, "
            f"{counts['waiting']:,} not judged yet. SHA-256 {release.sha256}."
        )
