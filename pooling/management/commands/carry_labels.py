"""`carry_labels QRELS --from OLD.tsv --to NEW.tsv --output FILE`: labels of chunks for another chunking."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from pooling.chunks.carried import notes_on, outcome_lines, rules_path, write_labels, write_review
from pooling.chunks.carrying import carry
from pooling.chunks.excerpts import read_excerpts
from pooling.chunks.maps import read_map
from pooling.formats.qrels import read_qrels
from pooling.formats.wording import counted
from pooling.interface.commands import InputCommand
from pooling.interface.terminal import refuse_odd_arguments
from pooling.options import add_file
from pooling.ranking.shared_ids import examples_of
from pooling.storage.storing import disk_errors_named


class Command(InputCommand):
    help = "Carry labels of chunks to another chunking of the same documents, each by a stated rule."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "qrels", "labels of old chunks", metavar="QRELS")
        add_file(
            parser,
            "--from",
            "old chunks: chunk_id, document_id, start, end, and perhaps text or text_sha256",
            metavar="OLD.tsv",
            dest="old",
            required=True,
        )
        add_file(parser, "--to", "new chunks, likewise", metavar="NEW.tsv", dest="new", required=True)
        add_file(
            parser,
            "--spans",
            "excerpts that answer: query_id, document_id, start, end; a new chunk with a whole one is "
            "relevant",
            metavar="SPANS.jsonl",
        )
        add_file(parser, "--output", "labels of new chunks", metavar="NEW-QRELS", required=True)
        add_file(parser, "--review", "new chunks that people must judge", metavar="REVIEW.tsv")

    def handle(self, *args: Any, **options: Any) -> None:
        output, review = options["output"], options["review"]
        refuse_odd_arguments({**options, "output": rules_path(output)})
        for path in (output, *(() if review is None else (review,))):
            if not path.absolute().parent.is_dir():
                raise ValueError(f"There is no folder {path.parent}; create it or name another.")
        qrels = read_qrels(options["qrels"])
        old, new = (read_map(options[one], texts=True) for one in ("old", "new"))
        excerpts = None if options["spans"] is None else read_excerpts(options["spans"])
        notes = list(qrels.notes)
        if excerpts is not None:
            notes += excerpts.notes_on(new, then="no new chunk gets a label by it")
        carrying = carry(qrels.frame, old, new, excerpts)
        if not carrying.labels and not carrying.proposals:
            raise ValueError(
                f"No chunk of {new.name} has a character of a labelled chunk of {old.name}, so nothing was "
                f"written. Documents are {examples_of(new.documents)} here and "
                f"{examples_of(old.documents)} there."
            )
        if not carrying.labels and review is None:
            raise ValueError(
                f"No rule carries a label, and {counted(len(carrying.proposals), 'proposal')} must be "
                "judged, so nothing was written. Name --review REVIEW.tsv to get them."
            )
        with disk_errors_named():
            if carrying.labels:
                write_labels(carrying, output)
            if review is not None:
                write_review(carrying, review)
        for line in outcome_lines(carrying):
            self.stdout.write(line)
        if carrying.labels:
            self.stdout.write(f"{output}: {counted(len(carrying.labels), 'label')}.")
            self.stdout.write(f"{rules_path(output)}: the rule of each, and the chunks it comes from.")
        else:
            notes.append(f"No rule carries a label, so {output} was not written.")
        proposals = counted(len(carrying.proposals), "proposal")
        if review is not None:
            self.stdout.write(f"{review}: {proposals} to judge.")
        elif carrying.proposals:
            notes.append(f"{proposals} to judge not written; name --review REVIEW.tsv to keep them.")
        for note in (*notes, *notes_on(carrying, old.name, new.name)):
            self.stderr.write(self.style.WARNING(note))
