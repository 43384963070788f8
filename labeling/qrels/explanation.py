"""Why a pair has the label it has: who said what and when, what was known, and by which rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labeling.consensus.rules import RULES_IN_WORDS
from labeling.items.evidence import evidence_in
from labeling.items.passages import Part, marked_parts
from labeling.models import GoldQuestion, ImportedLabel, Judgment, JudgmentEvent
from labeling.qrels.labels import current_labels
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Query

SOURCES = {
    "human": "by the rule “{rule}” ({words}) from the verdicts below",
    "adjudicated": "by adjudication: the latest adjudicator's verdict overrides the others",
    "gold": "as a gold question, whose answer is known",
    "imported": "from an imported file, because no verdicts of this collection decide it",
}
OUTCOMES = {
    "not_final": "It has too few verdicts yet.",
    "tie": "There are as many verdicts for relevant as against.",
    "conflict": "People disagree, and the rule requires agreement.",
    "cannot_judge": "It could not be judged.",
    "not_counted": "Its verdicts do not count: they answer a gold question or are set aside.",
}


class Opinion(NamedTuple):
    """A verdict that stands, with the text of its evidence: empty without one, or if the text has changed."""

    judgment: Judgment
    evidence: str


def opinions_on(document: Document, judgments: Iterable[Judgment]) -> list[Opinion]:
    text = document.text or ""
    spans = ((one, evidence_in(one.event, text)) for one in judgments)
    return [Opinion(one, text[span.start : span.end] if span else "") for one, span in spans]


@dataclass(frozen=True)
class Explanation:
    """A pair's label (1, 0, a grade, negative for pooled and not judged, or None) and what it rests on."""

    query: Query
    document: Document
    rule: str
    relevance: int | None
    source: str
    because: str
    judgments: Sequence[Judgment]
    events: Sequence[JudgmentEvent]
    imported: ImportedLabel | None
    gold: GoldQuestion | None

    @property
    def settled_by(self) -> Judgment | None:
        """The latest verdict of an admin that counts."""
        decided = (one for one in self.judgments if one.is_adjudication and one.quarantine_id is None)
        return max(decided, key=lambda one: one.event_id, default=None)

    @property
    def opinions(self) -> list[Opinion]:
        return opinions_on(self.document, self.judgments)

    @property
    def parts(self) -> list[Part]:
        text = self.document.text or ""
        spans = sorted(span for one in self.judgments if (span := evidence_in(one.event, text)))
        marks: list[tuple[int, int]] = []
        for start, end in spans:
            if marks and start <= marks[-1][1]:
                marks[-1] = marks[-1][0], max(marks[-1][1], end)
            else:
                marks.append((start, end))
        return marked_parts(text, marks)


def explain(collection: Collection, query_id: str, document_id: str, rule: str = "majority") -> Explanation:
    """Explain the label of a pair by the collection's own ids; `InputError` for one that is not in it."""
    query = collection.queries.filter(external_id=query_id).first()
    document = collection.documents.filter(external_id=document_id).first()
    if query is None:
        raise _absent("query", query_id)
    if document is None:
        raise _absent("document", document_id)
    pair = {"query": query, "document": document}
    judgments = (
        Judgment.objects.filter(**pair).select_related("annotator", "event", "quarantine").order_by("event")
    )
    relevance, source, because = _label(collection, query_id, document_id, rule)
    if not because:
        because = OUTCOMES["not_counted"] if judgments else "Nobody has judged it."
    events = JudgmentEvent.objects.filter(brought_by__deleted_at=None, **pair).order_by("pk")
    return Explanation(
        query,
        document,
        rule,
        relevance,
        source,
        because,
        list(judgments),
        list(events.select_related("annotator", "prelabeler", "brought_by")),
        ImportedLabel.objects.filter(**pair).select_related("imported_by").first(),
        GoldQuestion.objects.filter(**pair).select_related("created_by").first(),
    )


def _label(collection: Collection, query_id: str, document_id: str, rule: str) -> tuple[int | None, str, str]:
    """Relevance, source and a sentence, for a label or an outcome; rules see all verdicts, as some learn."""
    labels = current_labels(collection, rule)
    pair = (pl.col("query_id") == query_id) & (pl.col("document_id") == document_id)
    rows = labels.frame.filter(pair)
    if rows.height:
        row = rows.row(0, named=True)
        how = SOURCES[row["source"]].format(rule=rule, words=RULES_IN_WORDS[rule])
        return row["relevance"], row["source"], f"It was labelled {how}."
    undecided = labels.undecided.filter(pair)
    if undecided.height:
        return None, "", OUTCOMES[undecided["outcome"][0]]
    return None, "", ""


def _absent(name: str, value: str) -> InputError:
    return InputError(f"There is no {name} “{value}” in this collection.", field=name, missing=True)
