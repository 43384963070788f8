"""`index_texts SLUG`: make the documents of a collection searchable now."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from labeling.queues.finds import search_finds
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import progress_bar
from pooling.people.membership import collection_named
from pooling.texts.search import index_texts


class Command(InputCommand):
    help = "Index new and changed texts for search, and report what search found that no run did."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        with progress_bar("Indexing") as progress:
            count = index_texts(collection, progress)
        self.stdout.write(f"{counted(count, 'text')} indexed.")
        if (finds := search_finds(collection)).added:
            self.stdout.write(finds.sentence)
