"""Paths to ids and scores, and what is said of an answer that has not what a path names."""

from __future__ import annotations

from typing import Any

import pytest

from pooling.engines.answers import Hits, hits_in
from pooling.engines.paths import LONGEST_SHAPE, PathError, read_path, read_paths, shape_of
from pooling.engines.presets import PRESETS
from tests.pooling.engines.server import FOUND, SHAPES


def found(answer: Any, ids: str, scores: str = "", k: int = 10) -> Hits:
    return hits_in(answer, *read_paths(ids, scores), k)


@pytest.mark.parametrize("name", SHAPES)
def test_the_paths_of_a_preset_fit_the_documented_answer(name: str) -> None:
    preset = PRESETS[name]
    hits = found(SHAPES[name](FOUND), preset.id_path, preset.score_path)
    ids = ["1", "4", "2"] if name.startswith("qdrant") else ["d1", "d4", "d2"]
    assert hits == Hits(ids, [7.5, 3.25, 3.25])


@pytest.mark.parametrize("name", SHAPES)
def test_an_answer_without_hits_is_an_empty_list(name: str) -> None:
    preset = PRESETS[name]
    assert found(SHAPES[name]([]), preset.id_path, preset.score_path).ids == []


def test_names_places_and_nested_lists_are_read() -> None:
    answer = {"odd name": [{"groups": [{"hits": [{"id": 1}, {"id": 2}]}, {"hits": [{"id": 3}]}]}]}
    assert found(answer, "$['odd name'][0].groups[*].hits[*].id").ids == ["1", "2", "3"]


def test_a_document_counts_at_its_first_place_and_k_is_never_passed() -> None:
    answer = {"r": [{"id": "a"}, {"id": "b"}, {"id": "a"}, {"id": "c"}]}
    assert found(answer, "r[*].id", k=2) == Hits(["a", "b"], None, repeated=1)


@pytest.mark.parametrize(
    "scores",
    [
        [0.1, 0.2, 0.3],  # distances
        [3.0, None, 1.0],
        [3.0, "NaN", 1.0],
        [3.0, True, 1.0],
    ],
)
def test_scores_that_do_not_fall_or_are_missing_are_no_scores(scores: list[Any]) -> None:
    answer = {"r": [{"id": str(place), "s": score} for place, score in enumerate(scores)]}
    assert found(answer, "r[*].id", "r[*].s").scores is None


@pytest.mark.parametrize(
    ("ids", "scores", "problem"),
    [
        ("hits.hits._id", "", r"no \[\*\]"),
        ("hits..[*].id", "", "is not read"),
        ("hits[?(@.a)].id", "", "is not read"),
        ("a[*].id", "b[*].score", "differ before"),
        ("", "", r"no \[\*\]"),
    ],
)
def test_a_path_that_cannot_be_read_says_why(ids: str, scores: str, problem: str) -> None:
    with pytest.raises(PathError, match=problem):
        read_paths(ids, scores)


@pytest.mark.parametrize(
    ("answer", "path", "problem"),
    [
        ({"hits": {"total": 3}}, "hits.hits[*]._id", r"no “hits” .* {hits: {total: number}}"),
        ({"hits": "none"}, "hits[*]._id", r"no list .* {hits: text}"),
        ({"hits": [{"id": 1}]}, "hits[*]._id", r"Hit 1 has no id .* {id: number}"),
        ({"hits": [{"_id": {}}]}, "hits[*]._id", "Hit 1 has no id"),
        ([], "hits[*]._id", "an empty list"),
        (None, "hits[*]._id", "null"),
    ],
)
def test_what_does_not_fit_a_path_is_shown_by_its_shape(answer: Any, path: str, problem: str) -> None:
    with pytest.raises(PathError, match=problem):
        found(answer, path)


def test_a_shape_is_short_and_has_no_values() -> None:
    answer = {f"name{number}": {"secret": ["sk-value"] * 9} for number in range(100)}
    told = shape_of(answer)  # type: ignore[arg-type]
    assert len(told) <= LONGEST_SHAPE
    assert "sk-value" not in told


def test_a_path_is_read_the_same_with_and_without_a_dollar() -> None:
    assert read_path("$.a[*].b") == read_path("a[*].b")
