"""`export_pool SLUG POOL --output FILE`: a pool as a table, or as tasks for people who judge elsewhere."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from pooling.formats.writing import note_on_tabs, write_pieces
from pooling.interface.commands import InputCommand
from pooling.people.activity_log import record_action
from pooling.people.membership import collection_named
from pooling.pools.exports import POOL_FILES
from pooling.pools.versions import pool_named
from pooling.storage.storing import disk_errors_named


class Command(InputCommand):
    help = "Write a pool to a file: the table that `pool` prints, or tasks for Label Studio."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("pool", metavar="POOL", help="name of the pool")
        parser.add_argument("--format", choices=tuple(POOL_FILES), default="tsv", help="default: tsv")
        parser.add_argument("--output", metavar="FILE", type=Path, required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        pool = pool_named(collection_named(options["slug"]), options["pool"])
        path, format = options["output"], POOL_FILES[options["format"]]
        with disk_errors_named():
            write_pieces(path, (piece.encode() for piece in format.make(pool)))
        if options["format"] == "tsv" and (note := note_on_tabs(path)):
            self.stderr.write(self.style.WARNING(note), ending="")
        record_action(pool.collection, None, "file exported", path.name, pool=pool.name)
        self.stdout.write(f"{path}: pool “{pool.name}” as {format.title}.")
