"""`find_duplicates CORPUS --output GROUPS.tsv`: groups of near-identical texts, without a database."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.formats.pools import read_pool
from pooling.formats.wording import counted
from pooling.formats.writing import note_on_tabs, write_text
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import progress_bar
from pooling.options import add_file
from pooling.storage.storing import disk_errors_named
from pooling.texts.duplicate_groups import groups_text
from pooling.texts.duplicates import SHINGLE, THRESHOLD, checked_rule, documents_of, find_duplicates


class Command(InputCommand):
    help = "Put near-identical texts into groups, which evaluate --duplicates counts once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "corpus", "documents with their texts", metavar="CORPUS")
        add_file(parser, "--pool", "only the documents of this pool, as `pool` writes it", metavar="POOL.tsv")
        parser.add_argument(
            "--shingle", metavar="N", type=int, default=SHINGLE, help="words of a shingle (3)"
        )
        parser.add_argument(
            "--threshold",
            metavar="T",
            type=float,
            default=THRESHOLD,
            help="share of the shingles of two texts that both have, above 0 and at most 1 (0.8)",
        )
        add_file(parser, "--output", "GROUPS.tsv", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        checked_rule(options["shingle"], options["threshold"])
        if not options["output"].absolute().parent.is_dir():
            raise ValueError(f"There is no folder {options['output'].parent}; create it or name another.")
        pooled = None
        if options["pool"] is not None:
            pooled = read_pool(options["pool"])["document_id"].unique(maintain_order=True)
        notes: list[str] = []
        documents = documents_of(options["corpus"], pooled, notes)
        with progress_bar("Texts") as progress:
            detection = find_duplicates(documents, options["shingle"], options["threshold"], progress)
        for note in notes:
            self.stderr.write(self.style.WARNING(note))
        for line in detection.lines():
            self.stdout.write(line)
        with disk_errors_named():
            write_text(options["output"], groups_text(options["output"], detection.groups))
        groups = counted(len(detection.groups), "group")
        self.stdout.write(f"{options['output']}: {groups}, {counted(detection.members, 'member')}.")
        if note := note_on_tabs(options["output"]):
            self.stderr.write(self.style.WARNING(note), ending="")
