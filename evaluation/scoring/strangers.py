"""Runs and labels whose ids do not meet: told with examples, so that no recall of 0 stands alone."""

from __future__ import annotations

from collections.abc import Collection

from evaluation.scoring.scoring import Labels, ScoredRun
from pooling.formats.wording import counted
from pooling.inputs.given import RunSource
from pooling.inputs.reading import run_frame
from pooling.ranking.shared_ids import (
    COLLAPSE,
    LOW,
    Side,
    known_share,
    no_query_in_common,
    offered,
    sentence_on,
)

#: Below this share of the labelled pairs it is worth trying whether other ids would meet.
FEW = 0.05


def refuse_strangers(
    name: str, source: RunSource, scored: ScoredRun, labels: Labels, *, queries: Collection[str] | None
) -> None:
    """ValueError for a run of which no query has a label."""
    if scored.unknown and scored.missing.all() and queries is None:
        raise no_query_in_common(name, run_frame(name, source)["query_id"], "the qrels", labels.query_ids)


def notes_on_strangers(name: str, source: RunSource, scored: ScoredRun, labels: Labels) -> list[str]:
    """What to know of a run that found no relevant document, or hardly any that has a label."""
    is_found = scored.position > 0
    if is_found.sum() >= FEW * len(is_found) and (is_found & labels.relevant).any():
        return []
    documents = Side(f"documents of run {name}", run_frame(name, source)["document_id"])
    labelled = Side("documents with a label", labels.document_ids)
    if not is_found.any() and known_share(documents, labelled) >= LOW:
        return [f"Run {name}: its documents have labels, but of other queries. Compare the query ids."]
    if not is_found.any() or offered(documents.ids.unique(), labelled.ids.unique(), chunks=COLLAPSE):
        return [f"{sentence_on(documents, labelled, chunks=COLLAPSE)}"]
    if (is_found & labels.relevant).any():
        return []
    relevant = counted(int(labels.relevant.sum()), "relevant document")
    judged = counted(int((is_found & labels.judged).sum()), "document with a label", "documents with a label")
    return [f"Run {name} found none of the {relevant}, and {judged}."]
