"""Runs and labels whose ids do not meet: told with examples, so that no recall of 0 stands alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice, pairwise
from pathlib import Path

from evaluation.scoring.inputs import LINES, note_on_query_document
from evaluation.scoring.scoring import Labels, ScoredRun
from pooling.formats.parts import SMALLEST
from pooling.formats.registry import source_of
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.inputs.given import RunSource, is_unusual
from pooling.inputs.reading import run_frame
from pooling.ranking.shared_ids import (
    COLLAPSE,
    LOW,
    Side,
    no_query_in_common,
    offered,
    sentence_on,
    shared_fraction,
)

#: Below this share of the labelled pairs, or of the rows of a shorter run, other ids are tried.
FEW = 0.05


def refuse_strangers(
    name: str, source: RunSource, scored: ScoredRun, labels: Labels, *, queries: Collection[str] | None
) -> None:
    """ValueError for a run of which no query has a label."""
    if scored.unknown and scored.missing.all() and queries is None:
        raise no_query_in_common(name, run_frame(name, source)["query_id"], "the qrels", labels.query_ids)


def refuse_strange_pool(
    pooled: pl.DataFrame | None, labels: Labels, *, queries: Collection[str] | None
) -> None:
    """ValueError for a pool of which no query has a label."""
    if pooled is None or pooled.is_empty() or queries is not None:
        return
    sides = Side("queries of the pool", pooled["query_id"]), Side("queries of the qrels", labels.query_ids)
    if not shared_fraction(*sides):
        raise ValueError(f"The pool has no query in common with the qrels. {sentence_on(*sides)}")


def notes_on_strangers(name: str, source: RunSource, scored: ScoredRun, labels: Labels) -> list[str]:
    """Sentences on a run that found no relevant document, or hardly any that has a label."""
    is_hit = scored.position > 0
    least = FEW * min(len(is_hit), int(scored.counts.depth.sum()))  # a shallow run finds few of many labels
    if is_hit.sum() >= least and (is_hit & labels.relevant).any():
        return []
    documents = Side(f"documents of run {name}", run_frame(name, source)["document_id"])
    labelled = Side("documents with a label", labels.document_ids)
    if not is_hit.any() and shared_fraction(documents, labelled) >= LOW:
        return [f"Run {name}: its documents have labels, but of other queries. Compare the query ids."]
    if not is_hit.any() or offered(documents.ids.unique(), labelled.ids.unique(), chunks=COLLAPSE):
        return [f"{sentence_on(documents, labelled, chunks=COLLAPSE)}"]
    if (is_hit & labels.relevant).any():
        return []
    if not labels.relevant.any():
        if (highest := int(labels.relevance.max(initial=0))) > 0:
            return [
                f"The highest label is {highest}, so none counts as relevant and recall is defined for no "
                "query. Lower the least relevance that counts."
            ]
        return ["No label says that a document is relevant, so recall is defined for no query."]
    relevant = counted(int(labels.relevant.sum()), "relevant document")
    judged = counted(int((is_hit & labels.judged).sum()), "document with a label", "documents with a label")
    return [f"Run {name} found none of the {relevant}, and {judged}."]


def notes_on_negatives(labels: Labels) -> list[str]:
    """A sentence on labels below 0, where there are any."""
    count = int((labels.relevance < 0).sum())
    if not count:
        return []
    return [
        f"Labels below 0 ({count:,}) count as pooled, not judged; "
        "--negative judged counts them as judged, not relevant."
    ]


def notes_on_first_lines(name: str, source: RunSource, *, smallest: int = SMALLEST) -> list[str]:
    """Sentences on the first lines of a run's file: lists that have the document with the id of their query,
    and ranks that contradict the scores, where the file is so large that its ranks are not read."""
    if not isinstance(source, str | Path) or is_unusual(source):
        return []
    file = source_of(source, None, None, "run")
    if file.format != "trec":
        return []
    lines = [fields for _, line in islice(file.text_lines(), LINES) if len(fields := line.split()) > 4]
    notes = []
    query = next((fields[0] for fields in lines if fields[0] == fields[2]), None)
    if query is not None:
        notes.append(note_on_query_document(name, query))
    count = sum(_is_against_rank(*both) for both in pairwise(lines)) if file.size >= smallest else 0
    if count:
        rows = counted(count, "row has", "rows have")
        notes.append(
            f"Run {name}: of its first {len(lines):,}, {rows} a higher score than the row before by rank: "
            "the scores are followed, not the ranks."
        )
    return notes


def _is_against_rank(above: Sequence[str], below: Sequence[str]) -> bool:
    try:
        ranks, scores = (int(above[3]), int(below[3])), (float(above[4]), float(below[4]))
    except ValueError:
        return False
    return above[0] == below[0] and ranks[0] < ranks[1] and scores[0] < scores[1]
