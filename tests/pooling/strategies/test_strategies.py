"""Every strategy through its one interface: told labels, asked for the next documents."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from pooling.merging.merging import build_pool, merge_runs, with_score_sums
from pooling.strategies import DEFAULT_ADAPTIVE, STRATEGIES, Strategy, candidates_of, strategy_named
from tests.pooling.pools_at_random import pool_of, random_pool, random_runs, runs_of

#: Strategies in which the order of the labels matters by definition.
BY_ORDER = {"mtf", "mtf-global", "hybrid"}
ANY_ORDER = sorted(set(STRATEGIES) - BY_ORDER)

Log = list[tuple[str, str, bool | None]]


def judged(strategy: Strategy, labels: int, chance: random.Random) -> Log:
    """Let a strategy judge some documents; the log of what it was told."""
    log: Log = []
    for _ in range(labels):
        query_id = chance.choice(sorted(strategy.candidates))
        for document in strategy.next(query_id):
            log.append((query_id, document, chance.random() < 0.4))
            strategy.tell(*log[-1])
    return log


def told(name: str, seed: int, log: Log) -> Strategy:
    strategy = STRATEGIES[name].start(random_pool(seed), seed=seed)
    for event in log:
        strategy.tell(*event)
    return strategy


def all_next(strategy: Strategy) -> dict[str, list[str]]:
    return {query_id: strategy.next(query_id, 3) for query_id in strategy.candidates}


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_document_comes_once_and_then_no_more(name: str) -> None:
    strategy = STRATEGIES[name].start(random_pool(1))
    one = strategy.candidates["q0"]
    seen = []
    while documents := strategy.next("q0", 3):
        seen += documents
        for document in documents:
            strategy.tell("q0", document, document < "f")
    assert sorted(seen) == sorted(one.documents)


@pytest.mark.parametrize("name", STRATEGIES)
def test_taken_documents_are_passed_over_and_a_label_taken_back_opens_its_document(name: str) -> None:
    strategy = STRATEGIES[name].start(random_pool(2))
    first, second = strategy.next("q0", 2)
    assert first not in strategy.next("q0", 20, taken=[first, "elsewhere"])
    strategy.tell("q0", first, True)
    assert first not in strategy.next("q0", 20)
    strategy.tell("q0", first, None)
    assert first in strategy.next("q0", 20)
    assert second in strategy.next("q0", 20)


@pytest.mark.parametrize("name", ANY_ORDER)
@pytest.mark.parametrize("seed", range(4))
def test_a_log_in_any_order_with_repeats_and_revisions_leads_to_the_same_next(name: str, seed: int) -> None:
    chance = random.Random(seed)
    strategy = STRATEGIES[name].start(random_pool(seed), seed=seed)
    log = judged(strategy, 9, chance)
    wrong_first = [(query, document, not relevant) for query, document, relevant in log[:4]]
    shuffled = chance.sample(log + log[2:5], len(log) + 3)
    assert all_next(told(name, seed, wrong_first + shuffled)) == all_next(strategy)


@pytest.mark.parametrize("name", sorted(BY_ORDER))
def test_the_same_questions_and_labels_lead_to_the_same_next(name: str) -> None:
    first, second = (STRATEGIES[name].start(random_pool(3), seed=3) for _ in range(2))
    assert judged(first, 9, random.Random(3)) == judged(second, 9, random.Random(3))
    assert all_next(first) == all_next(second)


@pytest.mark.parametrize("name", ["mtf", "mtf-global"])
def test_a_revised_label_keeps_its_place_in_the_fronts(name: str) -> None:
    strategy = STRATEGIES[name].start(random_pool(4), seed=4)
    log = judged(strategy, 10, random.Random(4))
    query_id, document, relevant = log[2]
    strategy.tell(query_id, document, not relevant)
    revised = [*log[:2], (query_id, document, not relevant), *log[3:]]
    assert all_next(strategy) == all_next(told(name, 4, revised))


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_is_told_of_documents_outside_the_pool_changes_nothing(name: str) -> None:
    strategy, other = (STRATEGIES[name].start(random_pool(5), seed=5) for _ in range(2))
    strategy.tell("q0", "elsewhere", True)
    strategy.tell("q99", "a", True)
    assert all_next(strategy) == all_next(other)


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"hybrid"}))
def test_a_pool_is_in_the_order_a_strategy_takes_without_labels(name: str) -> None:
    runs = random_runs(6, documents=20)
    pooled = build_pool(runs, depth=15, strategy=name, seed=6)
    strategy = STRATEGIES[name].start(pool_of(runs, depth=15), seed=6)
    for (query_id,), some in pooled.group_by("query_id"):
        documents = some.sort("position")["document_id"].to_list()
        assert strategy.next(str(query_id), len(documents)) == documents


@pytest.mark.parametrize("name", ["depth", "rrf"])
def test_the_sort_of_the_whole_frame_is_the_order_of_the_strategy(name: str) -> None:
    merged = merge_runs(random_runs(7, queries=5, documents=20), depth=12)
    strategy = STRATEGIES[name].start(candidates_of(merged))
    for (query_id,), some in STRATEGIES[name](merged).group_by("query_id", maintain_order=True):
        assert strategy.next(str(query_id), some.height) == some["document_id"].to_list()


def test_the_default_of_adaptive_queues_is_a_strategy_that_learns() -> None:
    assert STRATEGIES[DEFAULT_ADAPTIVE].make.learns


def test_an_unknown_strategy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="Unknown strategy 'dept'; known are borda, combmnz, depth"):
        strategy_named("dept")


# Hand-made orders


def order(name: str, *lists: str) -> str:
    strategy = STRATEGIES[name].start(pool_of(runs_of(q=list(lists))))
    return "".join(strategy.next("q", 100))


def test_depth_goes_by_best_rank_then_rrf() -> None:
    assert order("depth", "abc", "cad") == "acbd"


def test_combmnz_multiplies_normalised_scores_by_the_number_of_runs() -> None:
    # a: 1 + .5, twice found: 3. c: 0 + 1, twice: 2. b: .5 once. d: 0 once.
    assert order("combmnz", "abc", "cad") == "acbd"
    # b: .5 + .5 by two = 2; a and c: 1 by one.
    assert order("combmnz", "abx", "cby")[0] == "b"


def test_combmnz_says_what_it_lacks() -> None:
    merged = merge_runs(runs_of(q=["ab"]), depth=2)
    with pytest.raises(ValueError, match="combmnz needs the scores"):
        STRATEGIES["combmnz"](merged)


def test_equal_scores_are_all_at_the_top() -> None:
    runs = runs_of(q=["ab"])
    runs["run0"] = runs["run0"].with_columns(score=1.0)
    summed = with_score_sums(merge_runs(runs, depth=2), runs, depth=2)
    assert summed["score_sum"].to_list() == [1.0, 1.0]


def test_borda_shares_out_the_points_of_documents_not_found() -> None:
    # n = 4. Run 0 gives a 4, b 3, c and d (4 - 2 + 1)/2 = 1.5. Run 1 gives c 4, the others 2; run 2 d 4.
    # a = 4 + 2 + 2, b = 3 + 2 + 2, c = 1.5 + 4 + 2, d = 1.5 + 2 + 4.
    assert order("borda", "ab", "c", "d") == "adcb"


def test_rbp_cares_for_the_first_ranks() -> None:
    # d at rank 1: .2; x at ranks 5 to 8 of four runs: .2 (.8^4 + .8^5 + .8^6 + .8^7) = .24.
    assert order("rbp", "d").startswith("d")
    assert order("rbp", "abcdx", "efghix", "jklmnox", "qrstuvwx")[0] == "x"


def test_of_two_runs_disagreement_takes_what_only_one_found() -> None:
    assert order("disagreement", "abcd", "bax") == "xcdba"


def test_of_more_runs_disagreement_goes_by_the_entropy_of_their_votes() -> None:
    # Of four runs a was found by all, b by two, c by one.
    assert order("disagreement", "ab", "ab", "ac", "a") == "bca"


# Strategies that learn, step by step


def steps(name: str, lists: list[str], relevant: str) -> Iterator[str]:
    strategy = STRATEGIES[name].start(pool_of(runs_of(q=lists)))
    while documents := strategy.next("q"):
        yield documents[0]
        strategy.tell("q", documents[0], documents[0] in relevant)


def test_maxmean_lets_a_label_count_for_every_finder() -> None:
    # x first: RRF leads. It is not relevant, which counts against both finders, so the third run plays on.
    lists = ["xab", "xcd", "efg"]
    assert "".join(steps("maxmean", lists, "efg"))[:4] == "xefg"


def test_mtf_stays_with_a_run_while_it_brings_relevant_documents() -> None:
    assert "".join(steps("mtf", ["abcde", "fghij"], "fgh"))[:5] == "fghia"


def test_global_mtf_stays_with_the_query_that_pays() -> None:
    strategy = STRATEGIES["mtf-global"].start(pool_of(runs_of(easy=["abc"], hard=["xyz"])))
    pairs = []
    while pair := strategy.next_pair():  # type: ignore[attr-defined]
        pairs.append(pair)
        strategy.tell(*pair, pair[0] == "easy")
    assert [query for query, _ in pairs] == ["easy", "easy", "easy", "hard", "hard", "hard"]


def test_global_mtf_passes_over_taken_pairs() -> None:
    strategy = STRATEGIES["mtf-global"].start(pool_of(runs_of(q1=["ab"], q2=["x"])))
    assert strategy.next_pair(taken=[("q1", "a"), ("q2", "x")]) == ("q1", "b")  # type: ignore[attr-defined]


KNOWN = runs_of(**{f"q{number}": ["abcdef", "uvwxyz"] for number in (1, 2, 3)}, new=["abc", "xyz"])


def test_learned_carries_what_it_knows_of_a_run_to_another_query() -> None:
    strategy = STRATEGIES["learned"].start(pool_of(KNOWN))
    assert strategy.next("new") == ["x"]
    for query in ("q1", "q2", "q3"):
        for document in "abcdefuvwxyz":
            strategy.tell(query, document, document < "g")
    assert strategy.next("new", 2) == ["a", "b"]


def test_thompson_draws_anew_for_each_document_and_each_seed() -> None:
    candidates = pool_of(runs_of(q=["abcdef", "ghijkl", "mnopqr"]))
    orders = {"".join(STRATEGIES["thompson"].start(candidates, seed=seed).next("q", 18)) for seed in range(5)}
    assert len(orders) == 5
