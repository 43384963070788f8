"""`evaluate --duplicates GROUPS.tsv --count groups`. Loads nothing heavy."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from evaluation.scoring.duplicates import COUNTS
from pooling.options import add_file

# What would be over documents alone, next to figures over groups.
_OVER_DOCUMENTS = {"facts": "--facts", "spans": "--spans", "stage1": "--stage1"}


class DuplicateOptions(TypedDict):
    """Arguments of `evaluate`."""

    duplicates: Path | None
    count: str | None


def add_duplicate_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("near-identical documents")
    add_file(
        group,
        "--duplicates",
        "groups of near-identical documents, as `find_duplicates` writes them",
        metavar="GROUPS.tsv",
    )
    group.add_argument(
        "--count",
        choices=tuple(COUNTS),
        help="what counts of them: each document, each group once in the same places, or each group once "
        "with its later documents out of the list (groups)",
    )


def duplicate_options(options: Mapping[str, Any]) -> DuplicateOptions:
    """ValueError for --count without its groups, and for what knows documents alone."""
    chosen = DuplicateOptions(duplicates=options["duplicates"], count=options["count"])
    if chosen["duplicates"] is None:
        if chosen["count"] is not None:
            raise ValueError("--count belongs to --duplicates GROUPS.tsv; name the groups, or leave it out.")
        return chosen
    for name, written in _OVER_DOCUMENTS.items():
        if options[name]:
            raise ValueError(f"{written} does not count groups; leave it out, or --duplicates.")
    return chosen
