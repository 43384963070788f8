"""`check_vectors old.npz new.npz`: the same documents embedded twice, without a database."""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser
from typing import Any

from evaluation.logs.reembedding import check_text, check_vectors
from evaluation.logs.vectors import read_pairs
from pooling.interface.commands import InputCommand
from pooling.options import add_file


class Command(InputCommand):
    help = "Compare the vectors of documents before and after they were embedded again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_file(parser, "old", "vectors, and perhaps ids", metavar="OLD.npz")
        add_file(parser, "new", "the same documents, embedded again", metavar="NEW.npz")
        parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the sample (0)")
        parser.add_argument("--format", choices=("table", "json"), default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        old, new, strangers = read_pairs(options["old"], options["new"])
        check = check_vectors(old, new, strangers=strangers, seed=options["seed"])
        if options["format"] == "table":
            self.stdout.write(check_text(check))
            return
        plain = {name: None if math.isnan(float(str(value))) else value for name, value in check.items()}
        self.stdout.write(json.dumps(plain, indent=2, allow_nan=False))
