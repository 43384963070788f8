"""What must hold for the measures on any labels and lists: definitions over sets, order, and invariance."""

from __future__ import annotations

from itertools import pairwise
from math import isnan, log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import Conventions, evaluate

Labels = dict[str, int]
Figures = dict[str, float]
Case = tuple[Labels, list[str]]

DOCUMENTS = "abcdefgh"
WHOLE = ["map", "mrr", "rprecision", "bpref", "infap"]
CUTOFFS = (1, 2, 3, 5, 9)
AT_K = ["recall", "precision", "f1", "success", "capped_recall", "judged", "ndcg"]
KEYS = [*WHOLE, *(f"{name}@{k}" for name in [*AT_K, "map", "mrr"] for k in CUTOFFS)]

lists = st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True)


def labels_of(least: int, most: int) -> Any:
    """Labels of which one at least is relevant; a negative one is a document of the pool, not judged."""
    some = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(least, most))
    return st.builds(
        lambda pairs, one, label: pairs | {one: label}, some, st.sampled_from(DOCUMENTS), st.integers(1, most)
    )


def cases(least: int = -1, most: int = 3) -> Any:
    """Queries with their labels and what a run found, several at a time: one evaluation takes them all."""
    return st.lists(st.tuples(labels_of(least, most), lists), min_size=1, max_size=8)


def ranked(documents: Any) -> dict[str, float]:
    return {document: float(-place) for place, document in enumerate(documents)}


def values(some: list[Case], keys: list[str] = KEYS, **conventions: Any) -> list[Figures]:
    """Every measure of each query, NaN where it is undefined."""
    qrels = {f"q{number}": labels for number, (labels, _) in enumerate(some)}
    run = {f"q{number}": ranked(documents) for number, (_, documents) in enumerate(some)}
    held = Conventions(**conventions)
    result = evaluate(qrels, {"run": run}, CUTOFFS, keys, held, bootstrap_samples=1)
    found: dict[str, Figures] = {query: {} for query in qrels}
    for _, query, measure, k, value in result.per_query_frame().iter_rows():
        key = measure if k is None else f"{measure}@{k}"
        if key in keys:  # judged@K comes along unasked
            found[query][key] = float("nan") if value is None else value
    return list(found.values())


def by_sets(labels: Labels, documents: list[str], k: int, least: int) -> Figures:
    """The measures that are counts, from sets."""
    relevant = {document for document, label in labels.items() if label >= least}
    judged = {document for document, label in labels.items() if label >= 0}
    top = set(documents[:k])
    recall, precision = len(top & relevant) / len(relevant), len(top & relevant) / k
    found = {
        "precision": precision,
        "success": float(bool(top & relevant)),
        "judged": len(top & judged) / k,
        "recall": recall,
        "f1": 2 / (1 / precision + 1 / recall) if precision else 0.0,
        "capped_recall": len(top & relevant) / min(len(relevant), k),
    }
    return {f"{name}@{k}": value for name, value in found.items()}


@settings(max_examples=5)
@given(some=cases(), least=st.integers(1, 3))
def test_counts_are_those_of_sets(some: list[Case], least: int) -> None:
    # A query without a relevant document has no value at all; test_measures.py has that case.
    some = [(labels | {"a": 3}, documents) for labels, documents in some]

    for (labels, documents), found in zip(some, values(some, min_relevance=least), strict=True):
        expected = {
            key: value for k in CUTOFFS for key, value in by_sets(labels, documents, k, least).items()
        }
        assert {key: found[key] for key in expected} == pytest.approx(expected)


@settings(max_examples=5)
@given(some=cases(0, 1))
def test_measures_stand_in_their_order(some: list[Case]) -> None:
    for (labels, _), found in zip(some, values(some), strict=True):
        for k in CUTOFFS:
            at = {name: found[f"{name}@{k}"] for name in [*AT_K, "map", "mrr"]}
            assert at["map"] <= at["recall"] + 1e-12
            assert at["mrr"] <= at["success"]
            assert at["capped_recall"] == pytest.approx(max(at["recall"], at["precision"]))
            assert min(at["recall"], at["precision"]) - 1e-12 <= at["f1"] <= at["capped_recall"] + 1e-12
            assert at["precision"] <= at["judged"]
            if k == sum(labels.values()):
                assert at["recall"] == at["precision"] == at["f1"] == found["rprecision"]
        assert found["ndcg@1"] == found["precision@1"] == found["success@1"] == found["mrr@1"]
        # What stands at 9 is the whole of a run of at most eight documents.
        assert (found["map@9"], found["mrr@9"]) == pytest.approx((found["map"], found["mrr"]))
        assert found["bpref"] <= found["recall@9"] + 1e-12
        for shallow, deep in pairwise(CUTOFFS):
            for name in ("recall", "success", "map", "mrr"):
                assert found[f"{name}@{shallow}"] <= found[f"{name}@{deep}"] + 1e-12
            assert found[f"precision@{shallow}"] * shallow <= found[f"precision@{deep}"] * deep + 1e-12


@settings(max_examples=5)
@given(some=cases(), at=st.integers(0, 6))
def test_a_relevant_document_that_moves_up_lowers_no_measure(some: list[Case], at: int) -> None:
    pairs = [
        (
            labels | {documents[at]: min(labels.get(documents[at], 0), 0), documents[at + 1]: 1 + at % 3},
            documents,
        )
        for labels, documents in some
        if at + 1 < len(documents)
    ]
    moved = [
        (labels, [*documents[:at], documents[at + 1], documents[at], *documents[at + 2 :]])
        for labels, documents in pairs
    ]
    # infAP expects relevant documents among those that the sample left out, and judged@K counts no label.
    keys = [key for key in KEYS if key != "infap" and not key.startswith("judged")]

    for before, after in zip(values(pairs), values(moved), strict=True) if pairs else ():
        assert all(after[key] >= before[key] - 1e-12 for key in keys)
        assert after["map"] > before["map"]
        assert after[f"recall@{at + 1}"] > before[f"recall@{at + 1}"] if at + 1 in CUTOFFS else True


@settings(max_examples=5)
@given(some=cases(), more=lists)
def test_documents_added_at_the_end_lower_nothing(some: list[Case], more: list[str]) -> None:
    longer = [(labels, list(dict.fromkeys([*documents, *more]))) for labels, documents in some]

    for (_, documents), before, after in zip(some, values(some), values(longer), strict=True):
        assert all(after[key] >= before[key] - 1e-12 for key in KEYS)
        for k in CUTOFFS:
            if k <= len(documents):
                assert all(after[f"{name}@{k}"] == pytest.approx(before[f"{name}@{k}"]) for name in AT_K)


@settings(max_examples=5)
@given(some=cases(), others=st.lists(st.sampled_from("xyz"), unique=True))
def test_the_best_order_has_every_measure_of_ranks_at_its_most(some: list[Case], others: list[str]) -> None:
    best = [(labels, [*sorted(labels, key=lambda one: -labels[one]), *others]) for labels, _ in some]
    most = [
        "map",
        "mrr",
        "rprecision",
        "bpref",
        *(f"{name}@{k}" for name in ("ndcg", "capped_recall") for k in CUTOFFS),
    ]

    for (labels, _), found in zip(best, values(best), strict=True):
        assert {key: found[key] for key in most} == pytest.approx(dict.fromkeys(most, 1.0))
        assert found["infap"] == pytest.approx(1, abs=1e-4)
        relevant = sum(label > 0 for label in labels.values())
        assert [found[f"recall@{k}"] for k in CUTOFFS] == [min(k, relevant) / relevant for k in CUTOFFS]


@settings(max_examples=5)
@given(
    some=cases(0, 1),
    between=st.lists(st.tuples(st.integers(0, 8), st.sampled_from("uvwxyz")), unique_by=lambda one: one[1]),
)
def test_bpref_looks_past_documents_without_a_label(some: list[Case], between: list[tuple[int, str]]) -> None:
    judged = [
        (labels, [one for one in documents if one in labels] or list(labels)) for labels, documents in some
    ]
    filled = []
    for labels, documents in judged:
        longer = list(documents)
        for place, document in between:
            longer.insert(place, document)
        filled.append((labels, longer))

    assert values(filled, ["bpref"]) == values(judged, ["bpref"])


@settings(max_examples=5)
@given(some=cases(0, 1))
def test_inferred_ap_of_a_pool_that_is_judged_whole_is_average_precision(some: list[Case]) -> None:
    whole = [(dict.fromkeys(documents, 0) | labels, documents) for labels, documents in some]

    for found in values(whole, ["map", "infap"]):
        assert found["infap"] == pytest.approx(found["map"], abs=1e-4)


@settings(max_examples=5)
@given(
    some=cases(),
    names=st.permutations("stuvwxyz"),
    scale=st.sampled_from([1e-6, 3.0, 1e9]),
    shift=st.integers(-5, 5),
    chance=st.randoms(use_true_random=False),
)
def test_names_scales_and_the_order_of_rows_are_no_part_of_a_value(
    some: list[Case], names: Any, scale: float, shift: int, chance: Any
) -> None:
    other = dict(zip(DOCUMENTS, names, strict=True))

    def shuffled(rows: dict[str, Any]) -> dict[str, Any]:
        return dict(chance.sample(list(rows.items()), len(rows)))

    def means(qrels: Any, run: Any) -> Any:
        found = evaluate(qrels, {"run": run}, CUTOFFS, KEYS, bootstrap_samples=1)
        return {key: figure["mean"] for key, figure in found.runs["run"].figures.items()}

    labels = {f"q{at}": labels for at, (labels, _) in enumerate(some)}
    run = {f"q{at}": ranked(documents) for at, (_, documents) in enumerate(some)}
    renamed = {
        f"{10 - at}p": shuffled({other[name]: label for name, label in labels[f"q{at}"].items()})
        for at in range(len(some))
    }
    rescored = {
        f"{10 - at}p": shuffled(
            {other[name]: scale * (score + shift) for name, score in run[f"q{at}"].items()}
        )
        for at in range(len(some))
    }
    assert means(shuffled(renamed), shuffled(rescored)) == pytest.approx(means(labels, run))


# Two graded queries. In the run: q1 b(2) x(-) a(1) n(0) c(3), of a b c d relevant; q2 n(0) e(1).
GRADED = {"q1": {"a": 1, "b": 2, "c": 3, "d": 1, "n": 0, "m": 0}, "q2": {"e": 1, "n": 0}}
FOUND = {"q1": ranked("bxanc"), "q2": ranked("ne")}


@pytest.mark.parametrize(
    ("key", "first", "second"),
    [
        ("recall@3", 2 / 4, 1.0),
        ("f1@3", 2 * 2 / (3 + 4), 2 * 1 / (3 + 1)),
        ("capped_recall@3", 2 / 3, 1.0),  # three places for four relevant documents, one for one
        ("judged@3", 2 / 3, 2 / 3),  # x has no label; the third place of q2 is empty
        ("map", (1 + 2 / 3 + 3 / 5) / 4, 1 / 2),
        ("map@4", (1 + 2 / 3) / 4, 1 / 2),
        ("mrr", 1.0, 1 / 2),
        ("rprecision", 2 / 4, 0.0),  # b and a in the first four; n in the first one
        ("bpref", (1 + 1 + (1 - 1 / 2)) / 4, 0.0),  # one of two judged not relevant stands above c
        # b: 1. a at 3: 1/3 + 1/3 · 1. c at 5: 1/5 + 3/5 · 2/3, of three pooled above it two are relevant.
        ("infap", (1 + 2 / 3 + (1 / 5 + 3 / 5 * 2 / 3)) / 4, 1 / 2),
        # 2 + 1 / log2(4) of 3 + 2 / log2(3) + 1 / log2(4); q2: 1 / log2(3) of 1.
        ("ndcg@3", 2.5 / (3.5 + 2 / log2(3)), 1 / log2(3)),
        # c at 5 gains 3 / log2(6), and the best order ends with 1 / log2(5).
        ("ndcg@5", (2.5 + 3 / log2(6)) / (3.5 + 2 / log2(3) + 1 / log2(5)), 1 / log2(3)),
    ],
)
def test_two_graded_queries_by_hand(key: str, first: float, second: float) -> None:
    result = evaluate(GRADED, {"run": FOUND}, CUTOFFS, [key])
    rows = result.per_query_frame().iter_rows(named=True)
    measure, _, k = key.partition("@")
    asked = [row for row in rows if row["measure"] == measure and row["k"] == (int(k) if k else None)]

    assert {row["query_id"]: row["value"] for row in asked} == pytest.approx(
        {"q1": first, "q2": second}, abs=1e-5
    )
    assert result.runs["run"].figures[key]["mean"] == pytest.approx((first + second) / 2, abs=1e-5)


@pytest.mark.parametrize(
    ("least", "recall", "bpref", "rprecision"),
    [
        (1, 3 / 4, (1 + 1 + 1 / 2) / 4, 2 / 4),
        # a and d count as judged not relevant now, as m and n do; above c stand a and n, two of R = 2.
        (2, 2 / 2, (1 + 0) / 2, 1 / 2),
        (3, 1 / 1, 0.0, 0.0),  # b alone is enough to break the one preference
    ],
)
def test_what_counts_as_relevant_moves_what_counts_as_not(
    least: int, recall: float, bpref: float, rprecision: float
) -> None:
    query = [(GRADED["q1"], list("bxanc"))]
    (found,) = values(query, ["recall@5", "bpref", "rprecision", "ndcg@5"], min_relevance=least)

    assert (found["recall@5"], found["bpref"], found["rprecision"]) == pytest.approx(
        (recall, bpref, rprecision)
    )
    # The gains are the labels, whatever counts as relevant.
    assert found["ndcg@5"] == values(query, ["ndcg@5"])[0]["ndcg@5"]
    assert not any(map(isnan, found.values()))
