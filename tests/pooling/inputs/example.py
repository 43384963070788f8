"""The example collection as programs of others hold it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pooling.formats import read_qrels, read_queries, read_run

ROOT = Path(__file__).resolve().parents[3]
QRELS, BM25 = ROOT / "examples" / "qrels.txt", ROOT / "examples" / "runs" / "bm25.run"
RECALL_AT_10 = 0.48137626262626263


@cache
def qrels() -> dict[str, dict[str, int]]:
    return nested(read_qrels(QRELS).frame.rows())


@cache
def run() -> dict[str, dict[str, float]]:
    return nested(read_run(BM25).frame.rows())


@cache
def texts() -> dict[str, str]:
    return {query.id: query.text for query in read_queries(ROOT / "examples" / "queries.jsonl")}


def nested(rows: list[Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for query, document, value in rows:
        found.setdefault(query, {})[document] = value
    return found


def relevant() -> dict[str, set[str]]:
    return {query: {one for one, label in held.items() if label} for query, held in qrels().items()}


def frames(query: str, document: str, label: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Labels and run as pandas frames with these names of columns."""
    labels, scores = read_qrels(QRELS).frame.rows(), read_run(BM25).frame.rows()
    return (
        pd.DataFrame(labels, columns=[query, document, label]),
        pd.DataFrame(scores, columns=[query, document, "score"]),
    )


def arrays() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], list[str]]:
    """(Q, 50) numbers of documents, -1 for an empty place, their scores, and the ids of the documents."""
    ids = sorted({document for held in run().values() for document in held})
    number = {document: place for place, document in enumerate(ids)}
    found, scores = np.full((len(run()), 50), -1), np.full((len(run()), 50), -np.inf, dtype=np.float64)
    for row, held in enumerate(run().values()):
        found[row, : len(held)] = [number[document] for document in held]
        scores[row, : len(held)] = list(held.values())
    return found, scores, ids
