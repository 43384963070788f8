"""`import_judgments SLUG FILE`: single judgments from another installation or another tool."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.judgment_imports.importing import IMPORT_KIND
from labeling.judgment_imports.staging import ImportChoices
from pooling.formats.judgments.registry import JUDGMENT_FORMATS
from pooling.interface.commands import InputCommand
from pooling.options import add_file
from pooling.people.membership import collection_named
from pooling.storage.imports import import_now, would_import


class Command(InputCommand):
    help = "Import single judgments. If the file has an error, nothing is imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        add_file(parser, "file", "a file of judgments, also with .gz")
        parser.add_argument(
            "--format", choices=list(JUDGMENT_FORMATS), default="soundings", help="its format"
        )
        parser.add_argument(
            "--map",
            nargs="+",
            default=[],
            metavar="VALUE=VERDICT",
            help="what values mean: relevant, not_relevant, cannot_judge or leave_out",
        )
        parser.add_argument(
            "--accounts",
            action="store_true",
            help="match people to annotators and admins by user name or email",
        )
        parser.add_argument(
            "--query-field", default="", metavar="NAME", help="field with the query's id or text"
        )
        parser.add_argument(
            "--document-field", default="", metavar="NAME", help="field with the document's id"
        )
        parser.add_argument(
            "--question", default="", metavar="NAME", help="which answer, where there are several"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what it would do, and store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        collection, path = collection_named(options["slug"]), options["file"]
        choices = ImportChoices(
            format=options["format"],
            map="\n".join(options["map"]),
            accounts=options["accounts"],
            query_field=options["query_field"],
            document_field=options["document_field"],
            question=options["question"],
        )
        take = would_import if options["dry_run"] else import_now
        done: Any = take(collection, IMPORT_KIND, path, file_name=path.name, user=None, **vars(choices))
        for one in done["people"]:
            self.stdout.write(
                f"{one['name']} → {one['account']}: {one['relevant']:,} relevant, "
                f"{one['not_relevant']:,} not relevant, {one['cannot_judge']:,} can't judge"
            )
        self.stdout.write(done["detail"].removesuffix(" ".join(["", *done["notes"]])))
        for note in done["notes"]:
            self.stderr.write(self.style.WARNING(note))
