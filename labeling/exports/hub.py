"""A folder for MTEB and the Hugging Face hub: corpus, queries and labels as JSON lines, with a card."""

from __future__ import annotations

import json
from collections.abc import Iterator

from labeling.exports.labelled import Labelled
from labeling.exports.pieces import element
from pooling.formats.wording import counted

# Configuration -> its split and file, as MTEB reads a retrieval task.
CONFIGURATIONS = {
    "corpus": ("corpus", "corpus.jsonl"),
    "queries": ("queries", "queries.jsonl"),
    "default": ("test", "qrels/test.jsonl"),
}


def folder(labels: Labelled) -> Iterator[tuple[str, Iterator[str]]]:
    """The files of the folder, by their names."""
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
    """A text of people's as one line of Markdown."""
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())
