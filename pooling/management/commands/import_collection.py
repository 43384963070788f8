"""`import_collection SLUG --queries FILE [--corpus FILE]`: queries and documents into the database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from pooling.formats.sources import require_file
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.interface.terminal import progress_bar
from pooling.models import Collection, Role
from pooling.options import add_file
from pooling.people.membership import account_named, add_member, change_role, create_collection
from pooling.texts.importing import import_documents, import_queries


class Command(InputCommand):
    help = "Import queries and documents. Creates the collection if it does not exist."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        add_file(parser, "--queries", "queries as .jsonl, .json, .csv, .tsv or .parquet, or a folder")
        add_file(parser, "--corpus", "documents in these formats, or a folder")
        parser.add_argument(
            "--only-pooled", action="store_true", help="only the documents that some pool contains"
        )
        parser.add_argument("--name", help="name of a new collection (default: SLUG)")
        parser.add_argument("--question", default="", help="question for the annotators of a new collection")
        add_file(parser, "--guidelines", "guidelines of a new collection, in Markdown")
        parser.add_argument(
            "--admin", metavar="NAME", help="the account that becomes an admin of the collection"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["queries"] and not options["corpus"]:
            raise ValueError("Nothing to import: give --queries or --corpus.")
        # All or nothing: a corpus with an error takes the queries and a new collection with it.
        with transaction.atomic():
            collection, notes = self.collection(options)
            if options["queries"]:
                notes.append(import_queries(collection, options["queries"]).detail)
            if options["corpus"]:
                only_pooled = options["only_pooled"]
                with progress_bar("Documents") as progress:
                    summary = import_documents(
                        collection, options["corpus"], only_pooled=only_pooled, progress=progress
                    )
                notes.append(summary.detail)
        for note in notes:
            self.stdout.write(note)

    def collection(self, options: dict[str, Any]) -> tuple[Collection, list[str]]:
        """The collection of this name, made from the options when there is none, and what was done."""
        slug = options["slug"]
        admin = account_named(options["admin"]) if options["admin"] else None
        texts = {name: options[name] for name in ("name", "question") if options[name]}
        if options["guidelines"]:
            require_file(options["guidelines"])
            texts["guidelines"] = options["guidelines"].read_text(encoding="utf-8")
        if collection := Collection.objects.filter(slug=slug).first():
            refuse_other_texts(collection, texts)
            is_new = admin is not None and make_admin(collection, admin)
            return collection, [f"{admin} is now admin of {collection.name}."] if is_new else []
        collection = create_collection(admin, slug=slug, **{"name": slug, **texts})
        notes = [f"Created the collection “{slug}”."]
        if admin is None:
            notes.append(f"It has no members yet: add_member {slug} NAME --role admin")
        return collection, notes


def refuse_other_texts(collection: Collection, texts: dict[str, str]) -> None:
    """`InputError` for what would overwrite the texts of a collection; those that it has are no change."""
    for name, text in texts.items():
        if text != getattr(collection, name):
            raise InputError(
                f"Collection “{collection.slug}” exists already, with another text for --{name}. Leave it "
                "out here; an admin changes it on the site."
            )


def make_admin(collection: Collection, user: User) -> bool:
    """Whether that is new."""
    membership = collection.memberships.filter(user=user).first()
    if membership is None:
        add_member(collection, user.username, Role.ADMIN)
        return True
    if membership.role == Role.ADMIN:
        return False
    change_role(membership, Role.ADMIN)
    return True
