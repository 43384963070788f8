"""Labels that are complete: declared so, with unlisted documents not relevant, or those of every document."""

from __future__ import annotations

from collections.abc import Iterable

from evaluation.scoring.estimate_figures import FrameFigures
from evaluation.scoring.inputs import completed
from evaluation.scoring.results import Evaluation
from labeling.models import QrelsRelease
from labeling.qrels.releases import complete_files, read_release
from pooling.heavy import pl
from pooling.models import Collection


def complete_queries(release: QrelsRelease) -> set[str]:
    return {query for file in complete_files(release) for query in file["queries"]}


def completeness(
    release: QrelsRelease, evaluation: Evaluation, labels: pl.DataFrame
) -> tuple[bool, FrameFigures | None]:
    """True where labels were declared complete for all queries; else the whole collection, where each of its
    documents has a label for them and the runs have no others.

    labels: query_id, document_id, relevance.
    """
    left = set(evaluation.labels.query_ids) - complete_queries(release)
    if not left:
        return True, None
    counts = [run.counted.counts for run in evaluation.runs.values()]
    nothing_else = all((one.judged == one.retrieved).all() for one in counts)
    if not (nothing_else and left <= _judged_whole(release.collection, labels)):
        return False, None
    return False, {"reach": None, "runs": len(counts), "text": False, "size": labels.height, "whole": True}


def _judged_whole(collection: Collection, labels: pl.DataFrame) -> set[str]:
    """The queries of which every document of the collection has a label; none where a document has no text,
    since nobody knows then what else there is."""
    documents = collection.documents.listed()
    judged, count = labels.filter(pl.col("relevance") >= 0), documents.count()
    full = judged.group_by("query_id").len().filter(pl.col("len") >= count)["query_id"]
    if not count or full.is_empty() or documents.filter(text=None).exists():
        return set()
    documents_frame = pl.DataFrame({"document_id": list(documents.values_list("external_id", flat=True))})
    counts = judged.join(documents_frame, on="document_id", how="semi").group_by("query_id").len()
    return set(counts.filter(pl.col("len") == count)["query_id"])


def complete_words(release: QrelsRelease) -> str:
    names = ", ".join(dict.fromkeys(f"“{file['file']}”" for file in complete_files(release)))
    return f"unlisted documents count as not relevant, by declaration of {names}" if names else ""


def completed_labels(release: QrelsRelease, frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """The labels of a release, as `read_release` has them, with relevance 0 for the pairs of `frames` that no
    label names, where their query was declared complete.

    frames: with query_id and document_id, such as runs and pools; read only if there is such a query.
    """
    labels = read_release(release)
    if not (queries := complete_queries(release)):
        return labels

    return completed(labels, queries, frames)
