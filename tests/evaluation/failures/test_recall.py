"""Recall of groups of documents: tables counted by hand, and what holds for any labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.failures.cutting import cut_documents, offered_keys
from evaluation.failures.document_recall import GroupedRecall, recall_by_documents
from evaluation.measures.intervals import Resampling
from evaluation.measures.significance import adjusted

SAMPLES = Resampling(500, 0, 0.95)


def of(pairs: list[tuple[int, str, bool]], groups: dict[str, str]) -> GroupedRecall:
    query, ids, hit = zip(*pairs, strict=True)
    cut = cut_documents("age", {id: {"age": groups[id]} if groups[id] else {} for id in ids})
    found = np.array(hit, dtype=bool)
    return recall_by_documents(np.array(query), list(ids), found, cut, resampling=SAMPLES)


def test_recall_of_a_group_is_counted_over_all_queries() -> None:
    # Old: a is found for query 0 and missed for 1, b is missed: 1 of 3. New: c and d are found: 2 of 2.
    pairs = [(0, "a", True), (1, "a", False), (1, "b", False), (0, "c", True), (2, "d", True)]
    found = of(pairs, {"a": "old", "b": "old", "c": "new", "d": "new"})
    new, old = found.groups
    assert (old.name, old.documents, old.queries, old.relevant, old.found) == ("old", 2, 2, 3, 1)
    assert old.recall.value == pytest.approx(1 / 3)
    assert (new.recall.value, found.everything.recall.value) == (1.0, pytest.approx(3 / 5))
    assert old.difference.value == pytest.approx(1 / 3 - 1)
    # Too little for an interval or a test.
    assert (old.is_small, old.recall.low, old.p, old.p_holm) == (True, None, None, None)


def test_two_groups_are_one_comparison_and_three_are_corrected_by_holm() -> None:
    draw = np.random.default_rng(1)
    pairs = [
        (q, f"{g}{q}{n}", bool(draw.random() < at))
        for q in range(30)
        for g, at in (("x", 0.8), ("y", 0.4), ("z", 0.5))
        for n in range(3)
    ]
    three = of(pairs, {id: id[0] for _, id, _ in pairs})
    p = [one.p for one in three.groups]
    assert [one.p_holm for one in three.groups] == pytest.approx(adjusted(np.array(p)))
    assert three.groups[0].p_holm is not None
    assert three.groups[0].p_holm < 0.05
    two = of(pairs, {id: "x" if id[0] == "x" else "" for _, id, _ in pairs})
    assert [one.name for one in two.groups] == ["x", "without age"]
    assert two.groups[0].p == two.groups[0].p_holm == two.groups[1].p
    first, second = (one.difference for one in two.groups)
    assert (first.value, first.low) == (
        pytest.approx(-(second.value or 0)),
        pytest.approx(-(second.high or 0)),
    )
    assert (first.low or 0) > 0


def test_equal_groups_do_not_differ_and_one_group_has_no_rest() -> None:
    pairs = [(q, f"{g}{q}", True) for q in range(12) for g in "xy"]
    found = of(pairs, {id: id[0] for _, id, _ in pairs})
    least = pytest.approx(0.025 ** (1 / 12))  # of 12 queries that all find everything
    assert [(one.recall.low, one.recall.high, one.p) for one in found.groups] == [(least, 1.0, 1.0)] * 2
    alone = of(pairs, {id: "x" for _, id, _ in pairs})
    assert (alone.groups[0].difference.value, alone.groups[0].p) == (None, None)


@given(
    st.lists(
        st.tuples(st.integers(0, 14), st.integers(0, 9), st.booleans()),
        min_size=1,
        unique_by=lambda pair: pair[:2],
    ),
    st.lists(st.sampled_from(["old", "new", "newer", ""]), min_size=10, max_size=10).filter(any),
)
def test_recall_of_the_groups_adds_up_to_that_of_all(
    pairs: list[tuple[int, int, bool]], groups: list[str]
) -> None:
    if not any(groups[document] for _, document, _ in pairs):
        return
    found = of([(q, str(d), hit) for q, d, hit in pairs], {str(d): name for d, name in enumerate(groups)})
    assert sum(one.relevant for one in found.groups) == found.everything.relevant == len(pairs)
    weighted = sum((one.recall.value or 0) * one.relevant for one in found.groups)
    assert weighted / len(pairs) == pytest.approx(sum(hit for *_, hit in pairs) / len(pairs))
    for one in found.groups:
        if one.recall.low is not None and one.recall.high is not None:
            assert 0 <= one.recall.low <= (one.recall.value or 0) <= one.recall.high <= 1


def cut(values: list[Any]) -> dict[str, int]:
    found = cut_documents("at", {str(n): {"at": value} for n, value in enumerate(values)})
    counts = dict.fromkeys(found.names, 0)
    for place in found.place.values():
        counts[found.names[place]] += 1
    return counts


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["de", "en", "de", None, ["x"]], {"de": 2, "en": 1, "without at": 2}),
        # More than two years: by year.
        (["2024-05-01", "2021-01-01T08:00:00Z", "2024-06"], {"2021": 1, "2024": 2}),
        (["2024-05-01", "2023-06-30"], {"2023-06": 1, "2024-05": 1}),
        # Ten numbers, two in each part; numbers that are equal stay together.
        (list(range(10)), {"0 to 1": 2, "2 to 3": 2, "4 to 5": 2, "6 to 7": 2, "8 to 9": 2}),
        ([1] * 8 + [2, 3, 4, 5, 6], {"1": 8, "2 to 3": 2, "4 to 6": 3}),
        ([0.5, 2.25], {"0.5": 1, "2.25": 1}),
        ([True, False], {"false": 1, "true": 1}),
        # One that is no date makes all of them texts.
        (["2024-05-01", "2024-13-01"], {"2024-05-01": 1, "2024-13-01": 1}),
        # Twelve years, in five periods.
        (
            [f"{year}-01-01" for year in range(2000, 2010)],
            {f"{y} to {y + 1}": 2 for y in range(2000, 2010, 2)},
        ),
    ],
)
def test_values_are_cut(values: list[Any], expected: dict[str, int]) -> None:
    assert cut(values) == expected


def test_a_key_that_nobody_has_or_with_many_texts_is_refused() -> None:
    known = {"a": {"source": "wiki", "title": "A"}, "b": {}}
    with pytest.raises(ValueError, match=r"metadata\.age; the documents can be grouped by source\."):
        cut_documents("age", known)
    many = {str(n): {"id": f"x{n}", "n": n} for n in range(60)}
    assert offered_keys(many.values()) == ["n"]
    with pytest.raises(ValueError, match="There are 60 values"):
        cut_documents("id", many)
