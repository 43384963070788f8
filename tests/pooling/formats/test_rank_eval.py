"""An answer of `_rank_eval` is read as a run, and what is no such answer is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import soundings
from pooling.formats import FormatError, read_qrels, read_run


def hit(document: str, score: float | None, *, index: str = "docs-1", rating: int | None = None) -> Any:
    return {"hit": {"_index": index, "_id": document, "_score": score}, "rating": rating}


def answer(**hits: Any) -> dict[str, Any]:
    """As Elasticsearch 8 answers; a query's unrated documents are listed out of its hits."""
    return {
        "metric_score": 0.5,
        "details": {
            query: {
                "metric_score": 0.5,
                "unrated_docs": [
                    {"_index": one["hit"]["_index"], "_id": one["hit"]["_id"]}
                    for one in held
                    if one["rating"] is None
                ],
                "hits": held,
                "metric_details": {"recall": {"relevant_docs_retrieved": 1, "relevant_docs": 2}},
            }
            for query, held in hits.items()
        },
        "failures": {},
    }


ANSWER = answer(q1=[hit("a", 2.5, rating=1), hit("b", 1.5)], q2=[hit("a", 0.5, rating=0)], q3=[])
ROWS = [("q1", "a", 2.5, 1), ("q1", "b", 1.5, 2), ("q2", "a", 0.5, 1)]
QRELS = {"q1": {"b": 1}, "q2": {"a": 1}}


def written(folder: Path, content: object) -> Path:
    path = folder / "bm25.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize("value", ["metric_score", "quality_level"])  # from version 7 on, and before
def test_an_answer_is_a_run_in_the_order_of_its_hits(tmp_path: Path, value: str) -> None:
    renamed = {value if name == "metric_score" else name: held for name, held in ANSWER.items()}
    run = read_run(written(tmp_path, renamed), with_rank=True)

    assert run.frame.rows() == ROWS
    assert run.name == "bm25"


def test_without_scores_the_order_of_the_hits_counts(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, answer(q1=[hit("b", None), hit("a", None)])))

    assert run.frame.rows() == [("q1", "b", -1.0), ("q1", "a", -2.0)]


def test_an_answer_in_memory_is_what_it_is_in_a_file(tmp_path: Path) -> None:
    in_memory, in_file = (
        soundings.evaluate(QRELS, source, k=1).figure(name, "recall", 1)["mean"]
        for name, source in (("run", ANSWER), ("bm25", written(tmp_path, ANSWER)))
    )

    assert in_memory == in_file == 0.5


WRONG: dict[str, tuple[object, str]] = {
    "cut": (json.dumps(ANSWER)[:-40], "not JSON (it ends in the middle)"),
    "HTML": (
        "<!DOCTYPE html>\n<title>Sign in</title>",
        "line 1: this is HTML or XML, not JSON. Save the answer",
    ),
    "an error": (
        {"error": {"root_cause": [], "reason": "no such index [docs]"}, "status": 404},
        "the engine answered with an error (no such index [docs]). Ask it again.",
    ),
    "failures": (
        ANSWER | {"failures": {"q9": {"error": {"type": "parsing_exception", "reason": "[match] unknown"}}}},
        "the engine failed for 1 query, such as 'q9' ([match] unknown). Ask again",
    ),
    "no details": (ANSWER | {"details": []}, "the details of the answer are not an object"),
    "no hits": (ANSWER | {"details": {"q1": {}}}, "the details of query 'q1' have no list of hits"),
    "a hit of text": (answer() | {"details": {"q1": {"hits": ["a"]}}}, "a hit of query 'q1' has no _id"),
    "some scores": (
        answer(q1=[hit("a", 1), hit("b", None)]),
        "document 'b': the score 'None' is not a number",
    ),
    "nothing found": (answer(q1=[]), "there is no hit in this answer"),
    "two indexes": (
        answer(q1=[hit("a", 1)], q2=[hit("a", 1, index="docs-2")]),
        "document 'a' is in the indexes 'docs-1' and 'docs-2'. Ask one index at a time",
    ),
    "one hit twice": (answer(q1=[hit("a", 2), hit("a", 1)]), "document 'a' appears again for query 'q1'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_whole_answer_is_one_sentence(tmp_path: Path, name: str) -> None:
    content, sentence = WRONG[name]
    with pytest.raises(FormatError) as caught:
        read_run(written(tmp_path, content))

    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_answer_is_not_read_as_labels(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"an answer of _rank_eval, which is a run .* Read it as a run"):
        read_qrels(written(tmp_path, ANSWER))


def test_queries_with_the_names_of_an_answer_are_queries(tmp_path: Path) -> None:
    run = read_run(
        written(tmp_path, {"details": {"a": 1.0}, "metric_score": {"b": 2.0}, "error": {"c": 3.0}})
    )

    assert run.frame["query_id"].to_list() == ["details", "metric_score", "error"]
