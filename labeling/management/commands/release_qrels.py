"""`release_qrels SLUG --name NAME`: the labels as they stand, frozen under a name."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.consensus.rules import RULES_IN_WORDS
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
        words = {
            "not_final": "not final",
            "conflict": "in dispute",
            "not_counted": "with verdicts that do not count",
            "cannot_judge": "that could not be judged",
            "waiting": "not judged yet",
        }
        usual = ("not_final", "cannot_judge", "waiting")
        missing = [f"{counts[key]:,} {words[key]}" for key in words if counts[key] or key in usual]
        grades = counts["grades_unused"]
        sentence = f" Not used, as people judged here: {counted(grades, 'imported grade')} above 1."
        self.stdout.write(
            f"Release “{release.name}”: {counted(release.pair_count - unjudged, 'label')} of "
            f"{counted(release.query_count, 'query')}, {release.relevant_count:,} relevant{more}; without a "
            f"label: {', '.join([counted(counts['tie'], 'tie'), *missing])}. SHA-256 {release.sha256}."
            f"{sentence if grades else ''}"
        )
