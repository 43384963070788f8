"""Estimates over queries that were drawn from a log: each stands for others, in value and interval alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from evaluation.estimates.from_audit import Places, difference_estimate, recall_estimates, within_pool
from evaluation.estimates.sample import AuditSample, audit_sample
from evaluation.measures.hajek import Design

DOCUMENTS, CERTAIN, DRAWN, K = 30, 8, 8, 10


def campaign(queries: Sequence[int]) -> tuple[AuditSample, Places]:
    """The same documents, places and labels for the same number of a query, whatever its place."""
    rows, labels, places = [], [], []
    for place, number in enumerate(queries):
        rng = np.random.default_rng(number)
        query = f"q{place:03d}"
        relevant = rng.random(DOCUMENTS) < 0.6 * np.exp(-np.arange(DOCUMENTS) / 10)
        other = rng.permutation(DOCUMENTS)
        audit = CERTAIN + rng.permutation(DOCUMENTS - CERTAIN)
        rank = {int(document): at for at, document in enumerate(audit)}
        for document in range(DOCUMENTS):
            is_certain, is_drawn = document < CERTAIN, rank.get(document, DOCUMENTS) < DRAWN
            chance = 1.0 if is_certain else DRAWN / (DOCUMENTS - CERTAIN) if is_drawn else None
            at = rank.get(document, 0)
            rows.append((query, f"d{document}", 1, at, is_drawn, chance, False, False))
            places.append((query, f"d{document}", document + 1, int(other[document]) + 1))
            if is_certain or is_drawn:
                labels.append((query, f"d{document}", bool(relevant[document])))
    pair = ["query_id", "document_id"]
    columns = [*pair, "draw", "audit_rank", "in_audit", "inclusion_probability", "known", "cannot_judge"]
    pool = pl.DataFrame(rows, schema=columns, orient="row")
    made = audit_sample(pool, pl.DataFrame(labels, schema=[*pair, "relevant"], orient="row"))
    ranks = pl.DataFrame(places, schema=[*pair, "rank_0", "rank_1"], orient="row")
    return made, Places(ranks, ("a", "b"))


def drawn(importance: Sequence[float], probability: float = 0.01) -> Design:
    return Design(
        np.array(importance, dtype=float),
        np.full(len(importance), probability),
        np.zeros(len(importance), dtype=np.int64),
    )


def of(design: Design, ids: Sequence[str]) -> Design:
    return design.of(np.array([int(one[1:]) for one in ids]))


def test_equal_weights_leave_each_value_as_it_is() -> None:
    audit, places = campaign(range(20))
    plain = recall_estimates(audit, places, [K])["a"]["recall@10"]
    design = drawn([1.0] * 20)
    weighed = recall_estimates(audit, places, [K], design_of=lambda ids: of(design, ids))["a"]["recall@10"]
    for average in ("micro", "macro"):
        assert weighed[average]["value"] == pytest.approx(plain[average]["value"])  # type: ignore[literal-required]
    low, high = (weighed["macro"][end] for end in ("low", "high"))  # type: ignore[literal-required]
    assert low < plain["macro"]["value"] < high


def test_a_query_of_twice_the_weight_counts_like_two() -> None:
    twice, places_of_both = campaign([0, 0, *range(1, 12)])
    once, places = campaign(range(12))
    design = drawn([2.0] + [1.0] * 11)
    weighed = once.weighed(lambda ids: of(design, ids))
    both = recall_estimates(twice, places_of_both, [K])["a"]["recall@10"]
    found = recall_estimates(once, places, [K], design_of=lambda ids: of(design, ids))["a"]["recall@10"]
    assert found["micro"]["value"] == pytest.approx(both["micro"]["value"])
    assert found["micro"]["high"] >= both["micro"]["high"] - 1e-9
    pair = difference_estimate(weighed, within_pool(weighed, places), ("a", "b"), K)
    equal = difference_estimate(twice, within_pool(twice, places_of_both), ("a", "b"), K)
    assert pair["value"] == pytest.approx(equal["value"])


def test_queries_outside_the_draw_are_in_no_estimate() -> None:
    audit, places = campaign(range(16))
    design = drawn([1.0] * 12 + [0.0] * 4)
    found = recall_estimates(audit, places, [K], design_of=lambda ids: of(design, ids))["a"]["recall@10"]
    alone, its_places = campaign(range(12))
    assert (
        found["micro"]["value"]
        == recall_estimates(alone, its_places, [K])["a"]["recall@10"]["micro"]["value"]
    )


def test_one_query_that_is_most_of_the_traffic_has_no_mean_over_queries() -> None:
    audit, places = campaign(range(20))
    design = drawn([1000.0] + [1.0] * 19)
    found = recall_estimates(audit, places, [K], design_of=lambda ids: of(design, ids))["a"]["recall@10"]
    assert found["macro"]["value"] is None
    assert found["headline"]["average"] == "micro"


def test_queries_without_an_estimate_are_spoken_for_by_their_stratum() -> None:
    design = Design(np.ones(4), np.full(4, 0.5), np.array([0, 0, 1, 1]))
    assert design.of(np.array([0, 2, 3])).weights.tolist() == [4.0, 2.0, 2.0]
