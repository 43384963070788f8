"""Is A better than B: bounds against every completion of the labels, the verdicts, and what would decide."""

from itertools import combinations, product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import compare, compare_all, comparison_table, deciding_labels, evaluate
from evaluation.comparisons.comparing import Method, compare_at
from evaluation.comparisons.verdict import Comparison, Difference

documents = st.sampled_from(list("abcdef"))
lists = st.lists(documents, min_size=1, max_size=3, unique=True)
labels = st.dictionaries(documents, st.sampled_from([-1, 0, 1]), max_size=4)


def ranked(*names: str) -> dict[str, float]:
    return {name: float(-place) for place, name in enumerate(names)}


def differences(labelled: Any, tops: Any, measure: str, k: int) -> list[float]:
    """The difference under every way to label what has no label, for one query, counted with plain sets."""
    first, second = map(set, tops)
    known = {name for name, label in labelled.items() if label == 1}
    opened = sorted(name for name in first | second | set(labelled) if labelled.get(name, -1) < 0)
    found = []
    for outcome in product((0, 1), repeat=len(opened)):
        relevant = known | {name for name, label in zip(opened, outcome, strict=True) if label}
        ahead = len(first & relevant) - len(second & relevant)
        found.append(ahead / (k if measure == "precision" else len(relevant)))
    return found


@given(labelled=labels, a=lists, b=lists, measure=st.sampled_from(["recall", "precision"]))
def test_the_bounds_are_the_extremes_over_all_labels(labelled: Any, a: Any, b: Any, measure: str) -> None:
    qrels = {"q": {**labelled, "known": 1}}
    runs = {"a": {"q": ranked(*a)}, "b": {"q": ranked(*b)}}
    found = compare(evaluate(qrels, runs, 3, [measure]), "a", "b", measure, samples=1, permutations=1)
    every = differences(qrels["q"], (a, b), measure, 3)

    assert found.bounds == pytest.approx((min(every), max(every)))
    if found.leader:
        assert all(difference > 0 if found.leader == "a" else difference < 0 for difference in every)


@given(labelled=labels, a=lists, b=lists)
def test_exchanging_the_runs_exchanges_the_bounds(labelled: Any, a: Any, b: Any) -> None:
    qrels = {"q": {**labelled, "known": 1}}
    result = evaluate(qrels, {"a": {"q": ranked(*a)}, "b": {"q": ranked(*b)}}, 2)
    there, back = (compare(result, *pair, samples=9, permutations=9) for pair in (("a", "b"), ("b", "a")))

    assert there.bounds is not None
    assert back.bounds is not None
    assert there.bounds == pytest.approx((-back.bounds[1], -back.bounds[0]))
    assert there.leader == back.leader


# Ten queries with two relevant documents: a finds both, b one and a document without a label.
QRELS = {f"q{number}": {"d1": 1, "d2": 1, "d3": 0} for number in range(10)}
BETTER = {query: ranked("d1", "d2") for query in QRELS}
OPEN = {query: ranked("d1", "x") for query in QRELS}
JUDGED = {query: ranked("d1", "d3") for query in QRELS}


def compared(first: Any, second: Any, **options: Any) -> Comparison:
    return compare(evaluate(QRELS, {"a": first, "b": second}, 2), "a", "b", **options)


def test_a_difference_that_no_label_can_turn_is_decided() -> None:
    found = compared(BETTER, JUDGED)

    assert (found.leader, found.difference, found.bounds, found.settled) == ("a", 0.5, (0.5, 0.5), 10)
    assert found.verdict() == (
        "a beats b on these queries (a − b: Recall@2 +0.500 [+0.500, +0.500]), decided whatever the unjudged "
        "documents in the pool turn out to be, bounds +0.500 to +0.500. Another choice of queries would "
        f"rarely reverse it (randomisation p = {found.p_value:.3g}, 10 queries)."
    )


def test_a_difference_that_labels_can_turn_is_not_ranked() -> None:
    # x relevant: 2 of 3 against 2 of 3.
    found = compared(BETTER, OPEN)

    assert found.leader is None
    assert found.bounds == (0.0, 0.5)
    assert found.open_pairs == 10
    assert found.verdict().startswith("Not ranked (a − b: Recall@2 +0.500")
    assert "judging the 10 that only one of the two has would help most" in found.verdict()


def test_an_estimate_from_an_audit_decides_where_the_bounds_do_not() -> None:
    assert compared(BETTER, OPEN, estimated=(0.1, 0.4)).leader == "a"
    assert (
        "by the estimate from the audit, +0.100 to +0.400"
        in compared(BETTER, OPEN, estimated=(0.1, 0.4)).verdict()
    )
    assert compared(BETTER, OPEN, estimated=(-0.1, 0.4)).leader is None


# Ten queries in which the first run has more of the labels found first, and the audit may say otherwise.
def audited(first: Any, second: Any, **said: Any) -> Comparison:
    result = evaluate(QRELS, {"a": first, "b": second}, 2)
    (made,) = compare_at(result, [2], audited={("a", "b", 2): Difference(**said)})
    return made


def test_a_verdict_of_the_audit_speaks_of_the_audit_alone() -> None:
    found = audited(BETTER, OPEN, value=0.2, interval=(0.1, 0.3), p_value=0.003)

    assert (found.leader, found.decided_by) == ("a", "audit")
    assert found.verdict() == (
        "a beats b on these queries by the estimate from the audit, +0.200 [+0.100, +0.300] in micro "
        "Recall@2 (a − b; p = 0.003 by Holm). That covers which documents the audit drew, not which queries "
        "were asked."
    )


def test_labels_found_first_and_audit_that_favour_different_runs_rank_none() -> None:
    for said in ({"value": -0.2, "interval": (-0.3, -0.1)}, {"value": -0.2, "interval": (-0.5, 0.1)}):
        found = audited(BETTER, OPEN, **said, p_value=0.003)

        assert (found.leader, found.decided_by, found.contradicted) == (None, None, True)
        assert found.verdict() == (
            "Not ranked: the labels found first favour a, the audit favours b. Judging the 10 unjudged that "
            "only one of the two has would help most."
        )
    turned = audited(OPEN, BETTER, value=0.2, interval=(0.1, 0.3), p_value=0.003)
    assert turned.verdict().startswith("Not ranked: the labels found first favour b, the audit favours a.")
    assert compared(BETTER, OPEN, estimated=(-0.4, -0.1)).leader is None


def test_an_estimate_that_holds_0_is_told_with_its_own_p_value() -> None:
    found = audited(BETTER, OPEN, value=0.1, interval=(-0.1, 0.3), p_value=0.4, more_labels=1200)

    assert found.leader is None
    assert found.verdict() == (
        "Not ranked: the audit’s estimate of a − b in micro Recall@2, +0.100 [−0.100, +0.300], p = 0.4 by "
        "Holm, includes 0. It takes about 1,200 more audit labels to decide it, even if it stays. "
        "Judging the 10 unjudged that only one of the two has would help most."
    )


def test_the_audit_is_corrected_for_all_pairs_however_many_the_bounds_leave_open() -> None:
    runs = {"a": BETTER, "b": OPEN, "c": OPEN, "d": JUDGED}
    said = Difference(0.2, (0.05, 0.3), p_value=0.02)
    result = evaluate(QRELS, runs, 2)
    made = compare_at(result, [2], audited={(*pair, 2): said for pair in combinations("abcd", 2)})
    found = {(one.first, one.second): one for one in made}

    # a − d is decided by its bounds, and one of six all the same: 6 · 0.02 is beyond 0.05.
    assert found["a", "d"].decided_by == "bounds"
    assert found["a", "b"].estimate_p_value == found["a", "d"].estimate_p_value == pytest.approx(0.12)
    assert found["a", "b"].leader is None
    assert "is not significant after correction for multiple comparisons" in found["a", "b"].verdict()
    alone = compare_at(result, [2], audited={("a", "b", 2): said}, method=Method(correction="none"))
    assert alone[0].leader == "a"


# Lower limit, value and upper limit of one quantity.
spans = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(sorted)
chances = st.floats(0.0001, 1)


@given(spans, spans, st.floats(0, 1), chances, chances)
def test_no_verdict_has_two_signs(
    raw: list[float], audit: list[float], open_part: float, p_value: float, audit_p: float
) -> None:
    (low, difference, high), (least, estimate, most) = raw, audit
    bounds = difference - open_part, difference + open_part / 2
    made = Comparison(
        *("a", "b", "recall", 10, 20, difference, low, high, p_value, "randomisation", "holm", None, None),
        *(bounds, 0, 3, (least, most), (1.0, 1.0), estimate),
        estimate_p_value=audit_p,
    )
    said = made.verdict()

    if made.leader is None:
        assert said.startswith("Not ranked")
        return
    ahead = 1 if made.leader == "a" else -1
    assert said.startswith("a beats b" if ahead > 0 else "b beats a")
    assert difference * ahead >= -1e-12  # the last digits of a sum
    if made.decided_by == "audit":
        assert min(ahead * end for end in audit) > 0
        assert "reverse it" not in said
    if "rarely" in said:
        assert p_value <= 0.05
        assert low > 0 or high < 0


def test_runs_that_were_not_judged_alike_are_not_to_be_read_raw() -> None:
    assert compared(BETTER, JUDGED).warnings == ()
    assert "judged@K is 100.0 % for a and 50.0 % for b" in compared(BETTER, OPEN).warnings[0]


def test_equal_runs_are_not_ranked() -> None:
    found = compared(JUDGED, JUDGED)

    assert (found.leader, found.difference, found.p_value, found.effect) == (None, 0.0, 1.0, None)
    assert "every document that only one of them has is judged" in found.verdict()


def test_a_measure_without_bounds_is_compared_but_not_ranked() -> None:
    result = evaluate(QRELS, {"a": BETTER, "b": JUDGED}, 2, ["map"])
    found = compare(result, "a", "b", "map", test="t")

    assert (found.difference, found.k, found.bounds, found.leader) == (0.5, None, None, None)
    assert "; compare the runs by recall or precision" in found.verdict()


def test_without_a_common_query_nothing_is_compared() -> None:
    found = compare(
        evaluate({"q": {"x": 0}}, {"a": {"q": ranked("x")}, "b": {"q": ranked("x")}}, 1), "a", "b"
    )

    assert (found.difference, found.p_value, found.bounds, found.judged) == (None, None, None, (None, None))
    assert found.verdict() == "Not ranked: no query counts for both a and b."
    assert found.power() == "Fewer than two queries count, so the power is unknown."


def test_all_pairs_are_corrected_for_being_many() -> None:
    result = evaluate(QRELS, {"a": BETTER, "b": OPEN, "c": JUDGED}, 2)
    alone = compare(result, "a", "b")
    table = comparison_table(compare_all(result))

    assert table[["first", "second"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]
    # Three comparisons of which two have the same small p: Holm multiplies it by three.
    assert alone.p_value is not None
    assert table["p_value"].tolist() == pytest.approx([3 * alone.p_value, 3 * alone.p_value, 1.0])
    assert "by Holm" in table["verdict"][0]


def test_the_pool_that_was_given_counts_among_the_bounds() -> None:
    # b leads by one of two; two more documents of the pool bring it nearer to 0 when they are relevant.
    qrels, runs = {"q": {"d1": 1, "d2": 1}}, {"a": {"q": ranked("d1")}, "b": {"q": ranked("d1", "d2")}}
    pool = pl.DataFrame({"query_id": ["q", "q", "q"], "document_id": ["d1", "y", "z"]})

    found = compare(evaluate(qrels, runs, 2, pool=pool), "a", "b")

    assert found.bounds == (-0.5, -0.25)


def test_the_labels_that_decide_are_those_that_only_one_run_has() -> None:
    # q1 has one relevant document and q2 four, so that a label of q1 moves more.
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1, "d2": 1, "d3": 1, "d4": 1}}
    runs = {
        "a": {"q1": ranked("d1", "both", "mine"), "q2": ranked("x")},
        "b": {"q1": ranked("both", "d1"), "q2": ranked("d1")},
    }

    table = deciding_labels(evaluate(qrels, runs, 3), "a", "b")

    assert table[["query_id", "document_id", "run", "rank"]].to_numpy().tolist() == [
        ["q1", "mine", "a", 3],
        ["q2", "x", "a", 1],
    ]
    # q1: from 0/1 to 1/2; q2: from -1/4 to 0/5; both over two queries.
    assert table["swing"].tolist() == pytest.approx([1 / 4, 1 / 8])


def test_files_are_read_again_and_a_run_that_is_gone_says_so(tmp_path: Path) -> None:
    for name, run in (("a", BETTER), ("b", OPEN)):
        lines = (f"{q} Q0 {d} 1 {s} t\n" for q, held in run.items() for d, s in held.items())
        (tmp_path / f"{name}.run").write_text("".join(lines))
    result = evaluate(QRELS, [tmp_path / "a.run", tmp_path / "b.run"], 2)

    assert compare(result, "a", "b").bounds == (0.0, 0.5)
    (tmp_path / "b.run").unlink()
    with pytest.raises((ValueError, OSError), match=r"b\.run"):
        compare(result, "a", "b")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a", "c"), "no run 'c'"),
        (("a", "b", "recall@5"), "Recall@5 was not evaluated"),
        (("a", "b", "map"), "MAP was not evaluated"),
        (("a", "b", "recal"), "no measure 'recal'"),
    ],
)
def test_what_was_not_evaluated_cannot_be_compared(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compare(evaluate(QRELS, {"a": BETTER, "b": OPEN}, 2), *arguments)
    with pytest.raises(ValueError, match="choose one of randomisation, t"):
        compared(BETTER, OPEN, test="sign")
