"""Labels that were declared complete: unlisted documents of their queries count as not relevant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from labeling.qrels.releases import complete_files, read_release

if TYPE_CHECKING:
    import polars as pl

    from labeling.models import QrelsRelease


def complete_queries(release: QrelsRelease) -> set[str]:
    """The queries for which a file of the release was declared complete."""
    return {query for file in complete_files(release) for query in file["queries"]}


def complete_words(release: QrelsRelease) -> str:
    """What a convention line says of it; empty without such a file."""
    names = ", ".join(dict.fromkeys(f"“{file['file']}”" for file in complete_files(release)))
    return f"unlisted documents count as not relevant, by declaration of {names}" if names else ""


def completed_labels(release: QrelsRelease, found: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The labels of a release, as `read_release` has them, with relevance 0 for the pairs of `found` that no
    label names, where their query was declared complete.

    found: frames with query_id and document_id, such as runs and pools; read only if there is such a query.
    """
    labels = read_release(release)
    if not (queries := complete_queries(release)):
        return labels
    from evaluation.scoring.inputs import completed

    return completed(labels, queries, found)
