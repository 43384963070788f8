"""Recall of integer arrays, against sets."""

import numpy as np
import pytest

from evaluation.scoring.arrays import recall_of_arrays


@pytest.mark.parametrize("depth", [1, 63, 64, 65, 130])
def test_recall_equals_the_count_with_sets(depth: int) -> None:
    generator = np.random.default_rng(depth)
    ranked = np.array([generator.permutation(200)[:depth] for _ in range(50)], dtype=np.int32)
    relevant = np.array([generator.permutation(200)[:12] for _ in range(50)], dtype=np.int32)
    cutoffs = (1, 3, 64, 100)

    recall = recall_of_arrays(ranked, relevant, cutoffs)

    by_sets = [
        [len({*row[:k]} & {*wanted}) / 12 for k in cutoffs]
        for row, wanted in zip(ranked, relevant, strict=True)
    ]
    assert np.allclose(recall, by_sets)


def test_negative_numbers_fill_short_rows_and_never_match() -> None:
    ranked = np.array([[4, -1, -1], [-1, -1, -1], [1, 2, 3]])
    relevant = np.array([[4, 5], [1, -1], [-1, -1]])

    assert np.array_equal(recall_of_arrays(ranked, relevant, 3), [[0.5], [0.0], [np.nan]], equal_nan=True)


def test_a_relevant_id_twice_in_a_row_is_refused() -> None:
    with pytest.raises(ValueError, match="more than once"):
        recall_of_arrays(np.array([[1, 1]]), np.array([[1, -1]]), 2)
