"""The formats of other tools in which labels are exported, with what each needs and what it loses."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from labeling.qrels import engines
from labeling.qrels.engines import element, mapping, object_with
from labeling.qrels.labelled import NO_TEXT, Labelled
from pooling.formats.registry import Format
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.ranking.ranking import order_run
from pooling.runs.stored import read_stored_run, runs_named

# For judging tools and Python libraries: Quepid, Ragas, and dicts as evaluators of retrievers take them.


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
    """A SingleTurnSample a line: the run's first K and what is relevant, of queries with a relevant label."""
    options = labels.options
    if not options.run:
        raise InputError("ragas needs a run, whose first documents are given. Name it as “run”.", field="run")
    (run,) = runs_named(labels.collection, [options.run])
    top = order_run(read_stored_run(run), depth=labels.options.k)
    by_query = top.group_by("query_id", maintain_order=True).agg("document_id")
    # The first K documents of each query in a run, in the order in which it is measured.
    retrieved = dict(by_query.iter_rows())
    for query in labels.by_query():
        relevant = query.relevant(options.min_relevance)
        if not relevant:
            continue
        context_ids = retrieved.get(query.id, [])
        texts = labels.texts({*context_ids, *relevant})
        yield (
            element(
                {
                    "user_input": query.text,
                    "retrieved_context_ids": context_ids,
                    "retrieved_contexts": [texts.get(one, NO_TEXT).whole for one in context_ids],
                    "reference_context_ids": relevant,
                    "reference_contexts": [texts.get(one, NO_TEXT).whole for one in relevant],
                }
            )
            + "\n"
        )


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


# A folder for MTEB and the Hugging Face hub: corpus, queries and labels as JSON lines, with a card.


# Configuration -> its split and file, as MTEB reads a retrieval task.
CONFIGURATIONS = {
    "corpus": ("corpus", "corpus.jsonl"),
    "queries": ("queries", "queries.jsonl"),
    "default": ("test", "qrels/test.jsonl"),
}


def folder(labels: Labelled) -> Iterator[tuple[str, Iterator[str]]]:
    yield "corpus.jsonl", _corpus(labels)
    yield "queries.jsonl", _queries(labels)
    yield "qrels/test.jsonl", _labels(labels)
    yield "README.md", iter([card(labels)])
    yield (
        "release.meta.json",
        iter([json.dumps(labels.sidecar, ensure_ascii=False, indent=2, sort_keys=True)]),
    )


def _corpus(labels: Labelled) -> Iterator[str]:
    for document, text in labels.documents():
        yield element({"_id": document, "title": text.title, "text": text.text}) + "\n"


def _queries(labels: Labelled) -> Iterator[str]:
    for query, (text, _) in labels.queries.items():
        yield element({"_id": query, "text": text}) + "\n"


def _labels(labels: Labelled) -> Iterator[str]:
    for query, document, relevance in labels.frame.iter_rows():
        yield element({"query-id": query, "corpus-id": document, "score": relevance}) + "\n"


def card(labels: Labelled) -> str:
    """The dataset card: how the hub reads the files, and how the labels came about."""
    side = labels.sidecar
    relevant = int((labels.frame["relevance"] > 0).sum())
    settings = [
        f"pretty_name: {element(labels.name)}",
        f"language: [{element(labels.collection.language)}]",
        "task_categories: [text-retrieval]",
        "configs:",
    ]
    for name, (split, file) in CONFIGURATIONS.items():
        settings += [f"- config_name: {name}", "  data_files:", f"  - split: {split}", f"    path: {file}"]
    facts = [
        f"{counted(labels.frame.height, 'label')} of {counted(len(labels.queries), 'query')}, "
        f"{relevant:,} of them relevant.",
        f"Rule of consensus: {side.get('rule', 'not known')}.",
        f"Released {str(side.get('released_at', ''))[:10]}; SHA-256 of the release {side.get('sha256', '')}.",
    ]
    if side.get("judged_from"):
        facts.append(f"Judged {str(side['judged_from'])[:10]} to {str(side['judged_until'])[:10]}.")
    facts += [
        f"Pool {_plain(pool['name'])}: strategy {pool['strategy']}, depth {pool['depth']}, audit share "
        f"{pool['audit_share']:g}, seed {pool['seed']}."
        for pool in side.get("pools", ())
    ]
    lines = [
        "---",
        *settings,
        "---",
        "",
        f"# {_plain(labels.name)}",
        "",
        *(f"- {fact}" for fact in facts),
        "",
    ]
    lines += [
        "A score of 0 was judged and is not relevant. Nobody judged a pair that is not listed.",
        "",
        f"`release.meta.json` has the whole provenance. Question: {_plain(labels.collection.question)}",
        "",
    ]
    return "\n".join(lines)


def _plain(text: str) -> str:
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


JSON = "application/json"

# What is in a file, in words, and what of the labels is not.


def _every_label(labels: Labelled) -> tuple[str, list[str]]:
    return counted(labels.frame.height, "label"), []


def _queries_alone(labels: Labelled) -> tuple[str, list[str]]:
    return counted(len(labels.queries), "query"), [counted(labels.frame.height, "label")]


def _relevant_alone(labels: Labelled) -> tuple[str, list[str]]:
    rows = labels.frame.filter(pl.col("relevance") >= labels.options.min_relevance)
    words = counted(rows.height, "relevant document")
    other = labels.frame.height - rows.height
    queries = counted(rows["query_id"].n_unique(), "query")
    return f"{words} of {queries}", [f"{other:,} judged not relevant"] if other else []


def _answered_queries(labels: Labelled) -> tuple[str, list[str]]:
    words, left_out = _relevant_alone(labels)
    empty = sum(not query.relevant(labels.options.min_relevance) for query in labels.by_query())
    none = f"{counted(empty, 'query')} that {plural(empty, 'has', 'have')} none"
    return words, [*left_out, none] if empty else left_out


def _refuse_nothing_relevant(labels: Labelled, export: Export) -> None:
    least, most = labels.options.min_relevance, int(labels.frame["relevance"].max())  # type: ignore[arg-type]
    if "min_relevance" in export.options and most < least:
        raise InputError(
            f"No label of release “{labels.release}” is {least} or more (the highest is {most}), so "
            f"{export.name} would have nothing relevant. Lower “min_relevance”, or choose another release.",
            field="min_relevance",
        )


@dataclass(frozen=True)
class Export(Format):
    """A format that is only written, with the texts that belong to the labels.

    options: the names of those in `ExportOptions` that it reads, and of them the `required`. lost: what it
    cannot hold, in sentences. words: what is in the file and what of the labels is not, in words. write: the
    text in pieces; or files: of a ZIP, each with its pieces.
    """

    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    lost: str = ""
    words: Callable[[Labelled], tuple[str, list[str]]] = _every_label
    write: Callable[[Labelled], Iterator[str]] | None = None
    files: Callable[[Labelled], Iterator[tuple[str, Iterator[str]]]] | None = None

    def content(self, labels: Labelled) -> IO[bytes]:
        """The file, made on disk; `InputError` for what it cannot hold, and without a relevant label."""
        _refuse_nothing_relevant(labels, self)
        file = tempfile.TemporaryFile()  # noqa: SIM115  the response, or whoever reads it, closes it
        try:
            if self.files:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                    for name, pieces in self.files(labels):
                        # With a fixed time, so that equal content is an equal file.
                        with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as part:
                            part.writelines(piece.encode() for piece in pieces)
            elif self.write:
                file.writelines(piece.encode() for piece in self.write(labels))
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file


_TEXTS = "The same text twice is refused: queries are known by their texts."
_ALL = (
    Export(
        name="rank-eval",
        title="Elasticsearch and OpenSearch _rank_eval",
        suffix="-rank-eval.json",
        media_type=JSON,
        options=("index", "request", "k", "min_relevance"),
        required=("index",),
        lost="The answer has no bounds and no coverage; it lists documents without a label.",
        write=engines.rank_eval,
    ),
    Export(
        name="srw",
        title="OpenSearch judgment list",
        suffix="-judgments.json",
        media_type=JSON,
        lost=f"No query ids. {_TEXTS}",
        write=engines.judgment_list,
    ),
    Export(
        name="srw-queries",
        title="OpenSearch query set",
        suffix="-query-set.json",
        media_type=JSON,
        lost=f"Texts only. {_TEXTS}",
        words=_queries_alone,
        write=engines.query_set,
    ),
    Export(
        name="quepid",
        title="Quepid book",
        suffix="-book.json",
        media_type=JSON,
        lost=f"No query ids, and a label instead of what each person said. {_TEXTS}",
        write=quepid_book,
    ),
    Export(
        name="quepid-ratings",
        title="Quepid ratings (CSV)",
        suffix="-ratings.csv",
        media_type="text/csv; charset=utf-8",
        lost=f"No query ids. {_TEXTS}",
        write=quepid_ratings,
    ),
    Export(
        name="ragas",
        title="Ragas samples",
        suffix="-ragas.jsonl",
        media_type="application/jsonl",
        options=("run", "k", "min_relevance"),
        required=("run",),
        lost="What was judged not relevant looks unjudged. Queries without a relevant label are left out.",
        words=_answered_queries,
        write=ragas_samples,
    ),
    Export(
        name="retrieval-dicts",
        title="Dicts for sentence-transformers, Vespa, LlamaIndex",
        suffix="-dicts.json",
        media_type=JSON,
        options=("min_relevance",),
        lost="What was judged not relevant looks unjudged. No grades.",
        words=_relevant_alone,
        write=retrieval_dicts,
    ),
    Export(
        name="mteb",
        title="MTEB and Hugging Face folder",
        suffix="-mteb.zip",
        media_type="application/zip",
        lost="Nothing is lost: the release's sidecar is in it.",
        files=folder,
    ),
    Export(
        name="ltr",
        title="Learning to Rank judgment list",
        suffix="-ltr.txt",
        lost="Queries have numbers instead of ids.",
        write=engines.learning_to_rank,
    ),
)
EXPORTS = {export.name: export for export in _ALL}
