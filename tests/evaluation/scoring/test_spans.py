"""Measures over excerpts: what the first K chunks hold of the characters that answer."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import soundings
from evaluation import Conventions, evaluate_spans
from tests.testdata import DATA, needs_data

CHUNKS = DATA / "living" / "chunks"


def chunk(name: str, start: int, end: int, document: str = "d") -> dict[str, Any]:
    return {"chunk_id": name, "document_id": document, "start": start, "end": end}


def span(query: str, start: int, end: int, document: str = "d") -> dict[str, Any]:
    return {"query_id": query, "document_id": document, "start": start, "end": end}


MAP = [chunk("a", 0, 100), chunk("b", 50, 150), chunk("e", 0, 50, "e")]


def test_characters_count_once_in_the_measures_and_as_often_as_they_come_in_the_context() -> None:
    spans = [span("q", 40, 120), span("q", 60, 80), span("q", 0, 20, "e")]
    result = evaluate_spans(spans, MAP, {"r": {"q": ["a", "b", "e"]}}, (1, 2, 3, 9))
    means = {key: (figure["mean"], figure["characters"]) for key, figure in result.runs["r"].items()}
    assert means == {
        "span_recall@1": (0.6, 100),
        "span_recall@2": (0.8, 200),
        "span_recall@3": (1.0, 250),
        "span_recall@9": (1.0, 250),
        "span_precision@1": (0.6, 100),
        "span_precision@2": (80 / 150, 200),
        "span_precision@3": (0.5, 250),
        "span_precision@9": (0.5, 250),
    }
    assert result.counts == {"queries": 1, "excerpts": 3, "characters": 100}


def test_a_query_that_the_run_lacks_counts_0_or_is_skipped() -> None:
    spans, runs = [span("q", 0, 50), span("p", 0, 50)], {"r": {"q": ["a"], "strange": ["b"]}}
    result = evaluate_spans(spans, MAP, runs, 1, measures=["span_recall"])
    assert result.runs["r"]["span_recall@1"]["mean"] == 0.5
    assert result.missing == {"r": (1, 1)}
    assert "2 of 2 queries (1 missing from the run) · missing = 0" in result.line("r", "span_recall@1")
    skipped = evaluate_spans(spans, MAP, runs, 1, conventions=Conventions(missing="skip"))
    assert skipped.runs["r"]["span_recall@1"]["mean"] == 1.0
    assert skipped.runs["r"]["span_recall@1"]["queries"] == 1


def test_chunks_and_excerpts_without_a_place_are_counted_with_an_example() -> None:
    spans = [span("q", 0, 50), span("q", 140, 160), span("q", 0, 9, "z")]
    notes = evaluate_spans(spans, MAP, {"r": {"q": ["x", "a"]}}, 2).notes
    assert list(notes) == [
        "1 of 3 excerpts in spans is in no chunk of chunk_map, such as 'z' 0–9; no run can hold what is "
        "outside.",
        "1 of 3 excerpts in spans has characters in no chunk of chunk_map, such as 'd' 140–160; no run can "
        "hold what is outside.",
        "Run r: 1 of the 2 chunks in its lists is not in chunk_map, such as 'x'; it holds nothing.",
    ]


@pytest.mark.parametrize(
    ("spans", "chunks", "run", "sentence"),
    [
        ([], MAP, {"q": ["a"]}, "spans: the file is empty"),
        ([span("q", 0, 9, "z")], MAP, {"q": ["a"]}, "No excerpt of spans is in a chunk of chunk_map"),
        (
            [span("q", 0, 9)],
            MAP,
            {"q": ["x"]},
            r"Run r has no chunk of chunk_map\. The only one of",
        ),
        ([span("q", 0, 9)], MAP, {"p": ["a"]}, "Run r has no query in common with spans"),
        ([span("q", 9, 9)], MAP, {"q": ["a"]}, "spans, line 1: it starts at 9 and ends at 9"),
        ([{"query_id": "q"}], MAP, {"q": ["a"]}, "spans, line 1: no document_id among the fields"),
        (["q"], MAP, {"q": ["a"]}, "spans, line 1: a str, 'q' in place of a record"),
        (7, MAP, {"q": ["a"]}, "spans is an int, '7'; give a path, a frame, or a list of dicts"),
        ([span("q", 0, 9)], [MAP[0], MAP[0]], {"q": ["a"]}, "chunk_map, line 2: chunk 'a' appears again"),
    ],
)
def test_what_does_not_meet_is_refused(spans: Any, chunks: Any, run: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        evaluate_spans(spans, chunks, {"r": run}, 1)


ranges = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda one: (one[0], sum(one)))
documents = st.sampled_from("de")
placed = st.lists(st.tuples(documents, ranges), min_size=1, max_size=6)


@given(placed, placed, st.integers(1, 7))
def test_recall_and_precision_are_those_of_sets_of_characters(
    spans: list[tuple[str, tuple[int, int]]], chunks: list[tuple[str, tuple[int, int]]], k: int
) -> None:
    def characters(some: list[tuple[str, tuple[int, int]]]) -> set[tuple[str, int]]:
        return {(document, place) for document, (start, end) in some for place in range(start, end)}

    chunks = [(spans[0][0], (0, 1)), *chunks, *spans[:1]]
    rows = [chunk(str(number), *at, document) for number, (document, at) in enumerate(chunks)]
    marked = [span("q", *at, document) for document, at in spans]
    result = evaluate_spans(marked, rows, {"r": {"q": [row["chunk_id"] for row in rows]}}, k).runs["r"]
    evidence, context = characters(spans), characters(chunks[:k])
    shared = len(evidence & context)
    assert result[f"span_recall@{k}"]["mean"] == pytest.approx(shared / len(evidence))
    assert result[f"span_precision@{k}"]["mean"] == pytest.approx(shared / len(context))
    assert result[f"span_recall@{k}"]["characters"] == sum(end - start for _, (start, end) in chunks[:k])


@needs_data
@pytest.mark.parametrize("chunking", ["fixed-400", "fixed-800", "sliding-800-400"])
def test_span_recall_is_that_of_the_repository_s_own_functions(chunking: str) -> None:
    questions = map(json.loads, (CHUNKS / "questions.jsonl").read_text().splitlines())
    spans = pd.DataFrame(
        (question["id"], question["corpus"], one["start_index"], one["end_index"])
        for question in questions
        for one in question["references"]
    ).set_axis(["query_id", "document_id", "start", "end"], axis=1)
    run, chunks = CHUNKS / f"{chunking}.run", CHUNKS / f"{chunking}.chunks.tsv"
    figures = evaluate_spans(spans, chunks, [run], (1, 3, 5, 10), bootstrap_samples=100).runs[chunking]
    expected = json.loads((CHUNKS / "span.expected.json").read_text())["figures"][chunking]
    assert {key: figures[key]["mean"] for key in expected if key != "chunks"} == pytest.approx(
        {key: value for key, value in expected.items() if key != "chunks"}, abs=1e-9
    )


def test_python_has_them_next_to_measures_over_labels() -> None:
    options: dict[str, Any] = {"spans": [span("q", 0, 50)], "chunk_map": MAP}
    labels, run = {"q": {"a": 1, "b": 0}}, {"r": {"q": ["b", "a"]}}
    result = soundings.evaluate(labels, run, (1, 2), ["recall", "span_recall"], **options)
    assert result.figure("r", "span_recall", 2)["mean"] == 1.0
    assert result.figure("r", "recall", 2)["mean"] == 1.0
    assert result.convention_line("r", "span_recall", 1).startswith("Span recall@1 0.000 (too few queries")
    rows = result.summary().set_index(["measure", "k"])
    assert rows.loc[("span_recall", 2), ["mean", "characters"]].tolist() == [1.0, 200.0]
    assert list(result.to_dict()["runs"]["r"]) == [
        "recall@1", "recall@2", "judged@1", "judged@2", "span_recall@1", "span_recall@2",
    ]  # fmt: skip
    assert result.to_dict()["spans"]["counts"]["characters"] == 50
    assert "Span recall" in repr(result)
    both = soundings.evaluate(labels, run, 1, "recall", **options)
    assert both.figure("r", "span_precision", 1)["mean"] == 0.0
    for wrong, sentence in (
        ({"measures": ["span_recall"]}, "span_recall is measured over excerpts"),
        ({"chunk_map": MAP}, "A map of chunks is for measures over excerpts"),
        ({"spans": options["spans"]}, "measured by chunk_map"),
    ):
        with pytest.raises(ValueError, match=sentence):
            soundings.evaluate(labels, run, 1, **wrong)
