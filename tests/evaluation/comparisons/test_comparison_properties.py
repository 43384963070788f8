"""Comparing any two runs: the other way round, at each cutoff alone, with a label more, over all labels."""

from __future__ import annotations

import random
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import compare, compare_all, comparison_table, deciding_labels, evaluate
from evaluation.comparisons.comparing import Method, compare_at
from evaluation.comparisons.stored import turned
from evaluation.comparisons.verdict import Comparison
from evaluation.measures.significance import adjusted, t_test

DOCUMENTS = "abcdef"
CUTOFFS = (1, 2, 3)
DRAWS: dict[str, Any] = {"samples": 40, "permutations": 40}

labels = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([-1, 0, 1]), max_size=4)
found = st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=3, unique=True)
#: Of each query the labels, beside one document that is known to be relevant, and what three runs found.
queries = st.lists(st.tuples(labels, st.tuples(found, found, found)), min_size=1, max_size=3)


def drawn(seed: int) -> list[Any]:
    """As many queries as it takes for an interval."""
    chance = random.Random(seed)
    return [
        (
            {document: chance.choice([-1, 0, 1]) for document in chance.sample(DOCUMENTS, 3)},
            tuple(chance.sample([*DOCUMENTS, "known"], chance.randint(1, 3)) for _ in range(3)),
        )
        for _ in range(12)
    ]


def evaluated(some: list[Any], measures: Any = ("recall",), names: str = "abc", **options: Any) -> Any:
    qrels = {f"q{at}": {**labelled, "known": 1} for at, (labelled, _) in enumerate(some)}
    runs = {
        name: {
            f"q{at}": {d: float(-place) for place, d in enumerate(lists[number])}
            for at, (_, lists) in enumerate(some)
        }
        for number, name in enumerate(names)
    }
    return evaluate(qrels, runs, CUTOFFS, list(measures), bootstrap_samples=1, **options)


@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
def test_the_other_way_round_a_comparison_says_the_same(seed: int) -> None:
    result = evaluated(drawn(seed))
    there, back = (compare(result, *pair, **DRAWS).to_dict() for pair in (("a", "b"), ("b", "a")))
    mirrored = turned(there, "b")

    said = {"verdict", "warnings"}
    for name, value in back.items():
        if name in said:
            continue
        same = mirrored[name]
        if isinstance(value, str) or value is None or isinstance(value, int):
            assert same == value, name
        else:
            assert same == pytest.approx(list(value) if isinstance(value, tuple) else value, abs=1e-9), name
    assert back["verdict"].startswith("Not ranked") == there["verdict"].startswith("Not ranked")


@settings(max_examples=4)
@given(some=queries, measure=st.sampled_from(["recall", "precision"]), k=st.sampled_from(CUTOFFS))
def test_the_bounds_of_a_mean_are_its_extremes_over_the_labels_of_a_pool_of_three(
    some: list[Any], measure: str, k: int
) -> None:
    made = compare(evaluated(some, [measure]), "a", "b", f"{measure}@{k}", **DRAWS)
    lowest, highest, open_pairs = [], [], 0
    for labelled, (first, second, third) in some:
        known = {"known", *(d for d, label in labelled.items() if label == 1)}
        judged = {"known", *(d for d, label in labelled.items() if label >= 0)}
        tops = [set(first[:k]), set(second[:k])]
        opened = sorted((tops[0] | tops[1] | set(third[:k]) | set(labelled)) - judged)
        every = []
        for outcome in product((False, True), repeat=len(opened)):
            relevant = known | {d for d, is_one in zip(opened, outcome, strict=True) if is_one}
            ahead = len(tops[0] & relevant) - len(tops[1] & relevant)
            every.append(ahead / (k if measure == "precision" else len(relevant)))
        lowest.append(min(every))
        highest.append(max(every))
        open_pairs += len((tops[0] ^ tops[1]) - judged)

    assert made.bounds is not None
    assert made.bounds == pytest.approx((np.mean(lowest), np.mean(highest)))
    assert made.open_pairs == open_pairs
    assert made.settled == sum(low > 0 or high < 0 for low, high in zip(lowest, highest, strict=True))
    assert made.difference is not None
    assert made.bounds[0] - 1e-12 <= made.difference <= made.bounds[1] + 1e-12


@settings(max_examples=4)
@given(some=queries, label=st.sampled_from([0, 1]), at=st.integers(0, 9))
def test_one_label_more_never_widens_the_bounds(some: list[Any], label: int, at: int) -> None:
    before = compare(evaluated(some), "a", "b", "recall@3", **DRAWS).bounds
    missing = [
        (number, document)
        for number, (labelled, lists) in enumerate(some)
        for document in DOCUMENTS
        if labelled.get(document, -1) < 0 and (document in labelled or any(document in one for one in lists))
    ]
    if not missing:
        return
    query, document = missing[at % len(missing)]
    more = [
        (labelled | {document: label} if number == query else labelled, lists)
        for number, (labelled, lists) in enumerate(some)
    ]
    after = compare(evaluated(more), "a", "b", "recall@3", **DRAWS).bounds

    assert before is not None
    assert after is not None
    assert before[0] - 1e-12 <= after[0] <= after[1] <= before[1] + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_corrected_with_the_others_at_their_cutoff_alone(seed: int) -> None:
    result = evaluated(drawn(seed))
    method = Method(test="t", samples=40)
    together = compare_at(result, CUTOFFS, method=method)

    assert together == [one for k in CUTOFFS for one in compare_at(result, [k], method=method)]
    for k in CUTOFFS:
        made = [one for one in together if one.k == k]
        pairs = [(one.first, one.second) for one in made]
        assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]
        values = np.column_stack([result.runs[name].values["recall"][:, k - 1] for name in "abc"])
        raw = t_test(values[:, [0, 0, 1]] - values[:, [1, 2, 2]])
        assert [one.p_value for one in made] == pytest.approx(adjusted(raw).tolist())


@settings(max_examples=4)
@given(some=queries)
def test_the_swing_of_a_label_is_what_the_difference_moves_by_when_it_is_given(some: list[Any]) -> None:
    result = evaluated(some)
    before = compare(result, "a", "b", "recall@2", **DRAWS).difference
    table: Any = deciding_labels(result, "a", "b", 2)

    assert table["swing"].is_monotonic_decreasing
    for row in table.head(2).itertuples(index=False):
        query = int(row.query_id[1:])
        more = [
            (labelled | {row.document_id: 1} if at == query else labelled, lists)
            for at, (labelled, lists) in enumerate(some)
        ]
        after = compare(evaluated(more), "a", "b", "recall@2", **DRAWS).difference
        assert abs(after - before) == pytest.approx(row.swing)  # type: ignore[operator]
        own, others = (some[query][1]["ab".index(name)][:2] for name in (row.run, "ba"["ab".index(row.run)]))
        assert own.index(row.document_id) + 1 == row.rank
        assert row.document_id not in others


def test_of_all_pairs_only_the_p_values_are_corrected() -> None:
    chance = random.Random(4)
    some: list[Any] = [({}, [chance.sample([*"abc", "known"], 4) for _ in range(4)]) for _ in range(15)]
    result = evaluated(some, names="wxyz")
    options: dict[str, Any] = {"measure": "recall@2", "test": "t", "samples": 20}
    alone = [compare(result, *pair, **options) for pair in combinations("wxyz", 2)]
    raw = [float(one.p_value or 0) for one in alone]
    assert len(set(raw)) > 3

    for correction in ("holm", "benjamini-hochberg", "none"):
        made = compare_all(result, correction=correction, **options)
        table: Any = comparison_table(made)
        assert table["p_value"].tolist() == pytest.approx(adjusted(raw, correction).tolist())
        for name in ("difference", "low", "high", "effect"):
            assert table[name].tolist() == pytest.approx([getattr(one, name) for one in alone]), name
        assert [one.correction for one in made] == [correction] * 6


def test_a_comparison_by_hand() -> None:
    # K = 2. Ten queries: a finds the one known of two in 8, b in 3 of them and in 1 that a does not.
    some: list[Any] = [
        ({}, (["known"] if at < 8 else ["x"], ["known"] if at in (0, 1, 2, 9) else ["x"], ["x"]))
        for at in range(10)
    ]
    made: Comparison = compare(evaluated(some), "a", "b", "recall@2", test="t", samples=40)

    # Differences: 0 in q0 to q2 and q8, +1 in q3 to q7, -1 in q9: mean .4, Σd² = 6.
    assert made.difference == pytest.approx(0.4)
    assert made.deviation == pytest.approx(((6 - 10 * 0.4**2) / 9) ** 0.5)
    assert made.effect == pytest.approx(0.4 / (4.4 / 9) ** 0.5)
    # x has no label; where the two differ one of them has it.
    assert made.open_pairs == 6
    # a ahead with "known" against x: 1 of 1, or 1/2 - 1/2 once x is relevant. Five queries against one.
    assert made.bounds == pytest.approx(((0 * 5 - 1) / 10, (1 * 5 + 0) / 10))
    assert made.settled == 0
    assert made.p_value == pytest.approx(0.1039, abs=5e-5)  # t = .4 / (.6992 / √10) = 1.809 on 9
