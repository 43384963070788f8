"""What is missing: Chao's floor by hand, and what a run loses when its own finds are taken away."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation import evaluate, leave_one_out, missing_floor
from evaluation.estimates.missing import chao2, further_loss, new_retriever_line
from tests.evaluation.comparisons.test_comparison import ranked


def test_the_floor_and_its_interval_by_hand() -> None:
    # 4/5 · 10 · 9 / (2 · 9) = 4 more. Variance 4 + 0.64 · 10 · 361 / 324 + 0.64 · 100 · 8 · 81 / 26244.
    floor = chao2(seen=40, once=10, twice=8, runs=5)
    spread = math.exp(1.959964 * math.sqrt(math.log(1 + (4 + 7.130864 + 1.580247) / 16)))

    assert floor.total == pytest.approx(44)
    assert floor.low == pytest.approx(40 + 4 / spread, rel=1e-6)
    assert floor.high == pytest.approx(40 + 4 * spread, rel=1e-6)
    assert "At least about 4 relevant documents beyond the 40" in floor.sentence()
    assert "A floor" in floor.sentence()


def test_runs_that_complement_each_other_can_make_it_too_high_and_it_says_so() -> None:
    """All there are is a hundred; each of two runs finds sixty, twenty of them both."""
    floor = chao2(seen=100, once=80, twice=20, runs=2)

    assert floor.total == pytest.approx(100 + 80 * 79 / (2 * 2 * 21))
    assert floor.total > 1.7 * 100
    assert "Of runs that each find other documents it can be too high." in floor.sentence()


@pytest.mark.parametrize(("twice", "runs"), [(4, 5), (8, 1)])
def test_too_little_overlap_gives_no_floor(twice: int, runs: int) -> None:
    floor = chao2(seen=40, once=10, twice=twice, runs=runs)

    assert floor.total is None
    assert "No floor" in floor.sentence()


@given(once=st.integers(0, 500), twice=st.integers(5, 500), more=st.integers(0, 500), runs=st.integers(2, 80))
def test_the_floor_is_never_below_what_was_seen(once: int, twice: int, more: int, runs: int) -> None:
    floor = chao2(once + twice + more, once, twice, runs)

    assert floor.low is not None
    assert floor.total is not None
    assert floor.high is not None
    assert floor.seen <= floor.low <= floor.total <= floor.high


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="parts of what was seen"):
        chao2(seen=3, once=2, twice=2, runs=5)


def test_the_floor_counts_relevant_documents_within_a_depth() -> None:
    qrels = {"q": dict.fromkeys("abcd", 1) | {"n": 0}}
    runs = {"one": {"q": ranked("a", "b", "n", "c")}, "two": {"q": ranked("a", "n", "b")}}

    floor = missing_floor(evaluate(qrels, runs, (2, 4)), depth=3)

    assert (floor.seen, floor.once, floor.twice, floor.runs) == (2, 0, 2, 2)
    assert missing_floor(evaluate(qrels, runs, (2, 4))).once == 1  # c, at 4


# own: only `one` finds it. Both find a; two alone finds b.
QRELS = {"q1": {"own": 1, "a": 1, "b": 1, "nobody": 1}, "q2": {"a": 1}}
RUNS = {
    "one": {"q1": ranked("own", "a"), "q2": ranked("a")},
    "two": {"q1": ranked("a", "b"), "q2": ranked("x")},
}


def test_a_run_without_its_own_finds() -> None:
    table = leave_one_out(evaluate(QRELS, RUNS, 2), 2).set_index("run")

    # q1: 2 of 4 becomes 1 of 3; q2 stays 1 of 1.
    assert table.loc["one", "unique"] == 2  # own, and a of q2, which two does not return
    assert table.loc["one", "lost"] == 1  # q2 has no other relevant document
    assert table.loc["one", "recall"] == pytest.approx(2 / 4)
    assert table.loc["one", "without"] == pytest.approx(1 / 3)
    assert table.loc["one", "relative_drop"] == pytest.approx(1 / 3)
    assert table.loc["two", "without"] == pytest.approx((1 / 3 + 0) / 2)


def test_a_family_loses_what_only_the_family_finds() -> None:
    runs = {**RUNS, "twin": RUNS["one"]}
    result = evaluate(QRELS, runs, 2)

    alone = leave_one_out(result, 2).set_index("run")
    families = leave_one_out(result, 2, families={"one": "ones", "twin": "ones"}).set_index("run")

    assert alone.loc["one", "drop"] == 0  # its twin hides the loss
    assert families.loc["one", "drop"] == pytest.approx(2 / 4 - 1 / 3)
    assert families["family"].tolist() == ["ones", "two", "ones"]


def test_only_what_the_pool_reaches_was_found() -> None:
    # At depth 1, a and b are no finds of `two`, so that taking its finds away changes nothing for q1's b.
    table = leave_one_out(evaluate(QRELS, RUNS, (1, 2)), 2, depth=1).set_index("run")

    assert table.loc["two", "unique"] == 1  # a of q1


def test_the_loss_is_said_in_a_sentence() -> None:
    table = leave_one_out(evaluate(QRELS, RUNS, 2), 2).assign(judged=0.8)

    line = new_retriever_line(table, 2, 0.5)

    # They lose 1/6 of 1/2 and 1/12 of 1/4: a third each.
    assert "would get about 0.062 less Recall@2 (16.7 %), on average, than had it helped" in line
    assert "unknown: no run keeps" in new_retriever_line(table.iloc[:0], 2, 0.5)
    assert "unknown: few." in new_retriever_line(table, 2, 0.0, "few")
    raised = table.assign(drop=-0.01, relative_drop=-0.02)
    assert "would not be under-scored" in new_retriever_line(raised.assign(judged=0.8), 2, 0.5)


def test_of_a_run_with_gaps_nobody_learns_what_would_be_lost() -> None:
    # Of what two has in its first 2 places, x and n have no label: 2 of 4.
    runs = RUNS | {"two": {"q1": ranked("a", "n"), "q2": ranked("a", "x")}}
    table = leave_one_out(evaluate(QRELS, runs, 2), 2, depth=2)
    assert table["judged"].tolist() == [1.0, 0.5]
    line = new_retriever_line(table, 2, 0.5)
    assert line.endswith("is unknown: of what two has down to the pool's depth, 50.0 % has a label.")


def test_one_more_run_loses_less_than_those_that_the_others_searched_without() -> None:
    qrels = {"q": dict.fromkeys("abcde", 1) | {"x": 0}}
    runs = {
        "one": {"q": ranked("a", "b", "c")},
        "two": {"q": ranked("a", "b", "d")},
        "three": {"q": ranked("a", "x", "e")},
    }
    result, depths = evaluate(qrels, runs, 3), dict.fromkeys(runs, 3)

    # c, d and e are found once, b twice: 2 · 3 / (2 · 3 + 2 · 1).
    assert further_loss(result, depths, {}) == (pytest.approx(0.75), "")
    assert further_loss(result, depths, {"one": "a", "two": "a"})[1] == "it takes 3 runs that differ to tell"
    del qrels["q"]["x"]
    few = further_loss(evaluate(qrels, runs, 3), depths, {})[1]
    assert few == "11.1 % of the places that were to be judged have no label"


@pytest.mark.slow
def test_what_a_new_retriever_would_lose_is_what_the_next_run_loses() -> None:
    random = np.random.default_rng(1)
    names, count, size, k = ("a", "b", "c", "d", "new"), 20, 60, 5

    def loss() -> tuple[float, float, float]:
        relevant = random.random((count, size)).argsort(axis=1) < random.integers(2, 12, (count, 1))
        alike = random.normal(size=relevant.shape)
        tops = {
            name: (-(2 * relevant + 0.7 * alike + 0.7 * random.normal(size=relevant.shape))).argsort(axis=1)
            for name in names
        }
        runs = {
            name: {
                f"q{q}": {f"d{d}": -float(at) for at, d in enumerate(row[:k])} for q, row in enumerate(top)
            }
            for name, top in tops.items()
        }

        def qrels(*judged: str) -> dict[str, dict[str, int]]:
            return {
                f"q{q}": {f"d{d}": int(relevant[q, d]) for name in judged for d in tops[name][q, :k]}
                for q in range(count)
            }

        old = {name: runs[name] for name in names[:-1]}
        labels = evaluate(qrels(*old), old, k, bootstrap_samples=1)
        drop = leave_one_out(labels, k)["drop"].mean()
        expected = drop * further_loss(labels, dict.fromkeys(old, k), {})[0]
        helped, without = (
            evaluate(qrels(*judged), {"new": runs["new"]}, k, bootstrap_samples=1)
            .runs["new"]
            .values["recall"]
            for judged in (names, old)
        )
        return drop, expected, float(np.nanmean(helped - without))

    alone, expected, true = np.array([loss() for _ in range(100)]).T
    off = expected - true
    assert abs(off.mean()) < 2 * off.std() / 10 + 0.1 * true.mean()
    assert alone.mean() > 1.25 * true.mean()


def test_a_cutoff_that_was_not_evaluated_is_refused() -> None:
    with pytest.raises(ValueError, match="K = 5 was not evaluated"):
        leave_one_out(evaluate(QRELS, RUNS, 2), 5)
