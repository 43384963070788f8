"""A pool that is judged whole and has no audit, on a collection whose relevant documents are all known: what
was found is said to be that, and nothing else."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from pooling.formats.pools import read_pool
from tests.testdata import DATA, needs_data

RUNS, QUERIES, DEPTH = ("bm25s", "lsa", "tfidf"), 12, 10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The runs of the first queries, their pool, and the labels of all its pairs."""
    lines = (DATA / "cranfield" / "qrels.txt").read_text().splitlines()
    relevant = {(row[0], row[2]) for row in map(str.split, lines) if int(row[3]) > 0}
    asked = set(sorted({query for query, _ in relevant})[:QUERIES])
    for name in RUNS:
        rows = (DATA / "cranfield" / "runs" / f"{name}.run").read_text().splitlines(keepends=True)
        (tmp_path / f"{name}.run").write_text("".join(row for row in rows if row.split()[0] in asked))
    paths = [str(tmp_path / f"{name}.run") for name in RUNS]
    call_command("pool", *paths, "--depth", str(DEPTH), "--output", str(tmp_path / "pool.tsv"))
    pairs = read_pool(tmp_path / "pool.tsv").select("query_id", "document_id").rows()
    labels = "".join(f"{query} 0 {one} {int((query, one) in relevant)}\n" for query, one in pairs)
    (tmp_path / "qrels.txt").write_text(labels)
    whole = "".join(f"{query} 0 {one} 1\n" for query, one in sorted(relevant) if query in asked)
    (tmp_path / "all.txt").write_text(whole)
    return tmp_path


def evaluated(folder: Path, labels: str, *options: str) -> str:
    out = StringIO()
    paths = [str(folder / labels), *(str(folder / f"{name}.run") for name in RUNS)]
    call_command("evaluate", *paths, "--k", str(DEPTH), *options, stdout=out, stderr=StringIO())
    return out.getvalue()


@needs_data
@pytest.mark.slow
def test_what_was_found_is_called_that_and_the_rest_has_a_price(folder: Path) -> None:
    pool = ("--pool", str(folder / "pool.tsv"))
    result = json.loads(evaluated(folder, "qrels.txt", *pool, "--format", "json"))
    told = evaluated(folder, "qrels.txt", *pool)
    truth = json.loads(evaluated(folder, "all.txt", "--complete", "--format", "json"))

    answer: dict[str, Any] = result["answer"]
    run, key = answer["run"], f"recall@{DEPTH}"
    figure = result["runs"][run][key]
    assert figure["mean"] > 1.3 * truth["runs"][run][key]["mean"], "what is printed is not of the collection"
    assert (answer["basis"], answer["low"], answer["high"], answer["frame"]) == ("labels", None, None, None)
    assert figure["estimate"] is None
    assert figure["bounds"] == [figure["mean"], figure["mean"]], "of the pool and the first ten alone"
    first = told.splitlines()[1]
    assert f"of the {answer['found']['relevant']} relevant documents found so far" in first
    assert "[" not in first.partition(";")[0]
    sentence = result["estimates"]["sentence"]
    assert "what lies outside it nobody knows" in sentence
    assert f"about {QUERIES * 10} judgments, 10 a query" in sentence
