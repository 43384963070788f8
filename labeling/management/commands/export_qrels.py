"""`export_qrels SLUG --output FILE`: a release as a file for other tools, and its sidecar."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from labeling.facts.releasing import FACT_FORMATS
from labeling.qrels.downloads import export_file, export_options, format_of_file, labels_in_words
from labeling.qrels.options import OPTIONS
from labeling.qrels.registry import EXPORTS
from labeling.qrels.releases import newest_release, release_named
from pooling.formats.registry import writing
from pooling.interface.commands import InputCommand
from pooling.options import add_option_arguments, flags_of
from pooling.people.activity_log import record_action
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Write a qrels release to a file, and its rule, counts and checksum to FILE.meta.json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("--release", metavar="NAME", help="default: the newest")
        parser.add_argument(
            "--format",
            choices=(*writing("qrels"), *FACT_FORMATS, *EXPORTS),
            help="default: as the suffix of FILE says, else trec",
        )
        parser.add_argument("--output", metavar="FILE", type=Path, required=True)
        group = parser.add_argument_group("other tools", "What some formats need to know.")
        add_option_arguments(group, OPTIONS.values(), filled=False)

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        name, path = options["release"], options["output"]
        release = release_named(collection, name) if name else newest_release(collection)
        format = options["format"] or format_of_file(path)
        given = export_options(format, options, as_typed=lambda one: flags_of(one)[0])
        sidecar = export_file(release, path, format, given)
        record_action(collection, None, "file exported", path.name, release=release.name)
        words = labels_in_words(release, format, given)
        self.stdout.write(
            f"{path}: {words} of release “{release.name}”; {sidecar.name} has their provenance."
        )
