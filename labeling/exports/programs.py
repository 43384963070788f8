"""For judging tools and Python libraries: Quepid, Ragas, and dicts as evaluators of retrievers take them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from labeling.exports.labelled import NO_TEXT, Labelled
from labeling.exports.pieces import element, mapping, object_with
from pooling.interface.problems import InputError
from pooling.ranking.ranking import order_run
from pooling.runs.stored import read_stored_run, runs_named


def quepid_book(labels: Labelled) -> Iterator[str]:
    """A book: each pair with its texts, and its label as a judgement of nobody."""
    labels.refuse_equal_texts()
    most = max(1, int(labels.frame["relevance"].max() or 0))  # type: ignore[arg-type]
    scale = list(range(most + 1))
    words = (
        {str(grade): f"Grade {grade}" for grade in scale}
        if most > 1
        else {"0": "Not relevant", "1": "Relevant"}
    )
    explanation = f"Label of release “{labels.release}”"
    pairs = (
        {
            "query_text": query.text,
            "doc_id": document,
            "position": None,
            # Quepid keeps the fields as a text that holds JSON.
            "document_fields": element(texts.get(document, NO_TEXT)._asdict()),
            "information_need": query.narrative or None,
            "notes": None,
            "options": None,
            "judgements": [
                {
                    "rating": float(relevance),
                    "unrateable": False,
                    "judge_later": False,
                    "explanation": explanation,
                }
            ],
        }
        for query in labels.by_query()
        for texts in [labels.texts(query.labels)]
        for document, relevance in query.labels.items()
    )
    return object_with(
        {"query_doc_pairs": pairs},
        name=labels.name,
        show_rank=False,
        support_implicit_judgements=False,
        scale=scale,
        scale_with_labels=words,
    )


def quepid_ratings(labels: Labelled) -> Iterator[str]:
    """`query,docid,rating` for a case; a text that a spreadsheet would calculate has a blank before it."""
    labels.refuse_equal_texts()
    yield "query,docid,rating\n"
    for query in labels.by_query():
        text = f" {query.text}" if query.text.startswith(("-", "=", "+", "@")) else query.text
        lines = io.StringIO()
        rows = ((text, document, relevance) for document, relevance in query.labels.items())
        csv.writer(lines, lineterminator="\n").writerows(rows)
        yield lines.getvalue()


def ragas_samples(labels: Labelled) -> Iterator[str]:
    """A SingleTurnSample on each line: what the run returns in its first K places, and what is relevant.

    Queries without a relevant label are left out: their recall is not defined.
    """
    options = labels.options
    if not options.run:
        raise InputError("ragas needs a run, whose first documents are given. Name it as “run”.", field="run")
    retrieved = _top(labels, options.run)
    for query in labels.by_query():
        relevant = query.relevant(options.min_relevance)
        if not relevant:
            continue
        found = retrieved.get(query.id, [])
        texts = labels.texts({*found, *relevant})
        yield (
            element(
                {
                    "user_input": query.text,
                    "retrieved_context_ids": found,
                    "retrieved_contexts": [texts.get(one, NO_TEXT).whole for one in found],
                    "reference_context_ids": relevant,
                    "reference_contexts": [texts.get(one, NO_TEXT).whole for one in relevant],
                }
            )
            + "\n"
        )


def _top(labels: Labelled, name: str) -> dict[str, list[str]]:
    """The first K documents of each query in a run, in the order in which it is measured."""
    (run,) = runs_named(labels.collection, [name])
    top = order_run(read_stored_run(run), depth=labels.options.k)
    by_query = top.group_by("query_id", maintain_order=True).agg("document_id")
    return dict(by_query.iter_rows())


def retrieval_dicts(labels: Labelled) -> Iterator[str]:
    """`queries`, `corpus` and `relevant_docs` in one object, all by id."""
    least = labels.options.min_relevance
    relevant = ((query.id, query.relevant(least)) for query in labels.by_query())
    yield "{\n"
    yield from mapping("queries", ((query, text) for query, (text, _) in labels.queries.items()))
    yield ",\n"
    yield from mapping("corpus", ((document, text.whole) for document, text in labels.documents()))
    yield ",\n"
    yield from mapping("relevant_docs", ((query, documents) for query, documents in relevant if documents))
    yield "\n}\n"
