"""`import_run SLUG FILE…`: runs into file storage and database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.formats.registry import named_file
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import progress_bar
from pooling.options import add_file
from pooling.people.membership import collection_named
from pooling.ranking.chunk_options import add_chunk_arguments, chunks_of
from pooling.runs.stored import import_run, size_of


class Command(InputCommand):
    help = "Import run files. Nothing is imported from a file with an error."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        add_file(parser, "files", "files; NAME=FILE names one", nargs="+")
        parser.add_argument("--name", help="name of the run (default: the file's name; for one file only)")
        add_chunk_arguments(parser.add_argument)

    def handle(self, *args: Any, **options: Any) -> None:
        files, name = options["files"], options["name"]
        if name and len(files) > 1:
            raise ValueError("--name works with one file only. Omit it to import several.")
        chunks = chunks_of(options["collapse_chunks"], options["chunk_map"])
        collection = collection_named(options["slug"])
        for own_name, path in map(named_file, files):
            with progress_bar(path.name) as progress:
                run = import_run(collection, path, name=name or own_name, progress=progress, chunks=chunks)
            self.stdout.write(f"{run.name}: {size_of(run)}.")
            if "chunks" in run.preflight:
                self.stdout.write(f"{run.name}: {run.preflight['chunks']['sentence']}")
            for note in run.preflight["notes"]:
                self.stderr.write(self.style.WARNING(f"{run.name}: {note}"))
