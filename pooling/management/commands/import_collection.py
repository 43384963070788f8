"""`import_collection SLUG --queries FILE [--corpus FILE]`: queries and documents into the database."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction

from pooling.formats.sources import require_file
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import progress_bar
from pooling.models import Collection
from pooling.people.membership import account_named, create_collection
from pooling.texts.importing import import_documents, import_queries

if TYPE_CHECKING:
    pass


class Command(InputCommand):
    help = "Import queries and documents. Creates the collection if it does not exist."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument(
            "--queries",
            metavar="FILE",
            type=Path,
            help="queries as .jsonl, .json, .csv, .tsv or .parquet, or a folder",
        )
        parser.add_argument(
            "--corpus", metavar="FILE", type=Path, help="documents in these formats, or a folder"
        )
        parser.add_argument(
            "--only-pooled", action="store_true", help="only the documents that some pool contains"
        )
        parser.add_argument("--name", help="name of a new collection (default: SLUG)")
        parser.add_argument("--question", default="", help="question for the annotators of a new collection")
        parser.add_argument(
            "--guidelines", metavar="FILE", type=Path, help="guidelines of a new collection, in Markdown"
        )
        parser.add_argument(
            "--admin", metavar="NAME", help="the account that becomes a new collection's admin"
        )

    # All or nothing: a corpus with an error takes the queries and a new collection with it.
    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not options["queries"] and not options["corpus"]:
            raise ValueError("Nothing to import: give --queries or --corpus.")
        collection = self.collection(options)
        if options["queries"]:
            self.stdout.write(import_queries(collection, options["queries"]).detail)
        if options["corpus"]:
            only_pooled = options["only_pooled"]
            with progress_bar("Documents") as progress:
                summary = import_documents(
                    collection, options["corpus"], only_pooled=only_pooled, progress=progress
                )
            self.stdout.write(summary.detail)

    def collection(self, options: dict[str, Any]) -> Collection:
        """The collection of this name, made from the options when there is none."""
        slug = options["slug"]
        if collection := Collection.objects.filter(slug=slug).first():
            return collection
        admin = account_named(options["admin"]) if options["admin"] else None
        guidelines = ""
        if options["guidelines"]:
            require_file(options["guidelines"])
            guidelines = options["guidelines"].read_text(encoding="utf-8")
        collection = create_collection(
            admin,
            slug=slug,
            name=options["name"] or slug,
            question=options["question"],
            guidelines=guidelines,
        )
        self.stdout.write(f"Created the collection “{slug}”.")
        if admin is None:
            self.stdout.write(f"It has no members yet: add_member {slug} NAME --role admin")
        return collection
