"""Two runs compared by facts: bounds against every way in which the unjudged pairs can turn out."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from evaluation.facts.comparing import ComparedRun, FactDifference, compared_facts, open_facts, top_of
from evaluation.facts.table import fact_table, run_places
from evaluation.measures.intervals import interval_settings
from pooling.formats.facts.records import FactRecord, SupportRecord, support_frame
from pooling.heavy import np, pl

INTERVALS = interval_settings(2, 50, 0, 0.95)
Supports = dict[tuple[str, str, str], float | None]


def difference(
    supports: Supports, runs: list[dict[str, list[str]]], k: int, facts: int = 2, irrelevant: str = ""
) -> FactDifference:
    records = [FactRecord(query, f"f{n}") for query in runs[0] for n in range(facts)]
    rows = support_frame(SupportRecord(*pair, weight) for pair, weight in supports.items())
    labels = None
    if irrelevant:
        labels = pl.DataFrame({"query_id": ["q"], "document_id": [irrelevant], "relevance": [0]})
    table = fact_table(records, rows, labels=labels)
    known, both = open_facts(table), []
    for run in runs:
        listed = [(query, one, n) for query, some in run.items() for n, one in enumerate(some, 1)]
        names = ["query_id", "document_id", "position"]
        ordered = pl.DataFrame(listed, schema=names, orient="row")
        placed = run_places(table, ordered, k)
        place = [
            np.min(np.where(one.supports, places[:, None], np.inf), axis=0, initial=np.inf)
            for one, places in zip(table.queries, placed.places, strict=True)
        ]
        both.append(ComparedRun(np.concatenate(place), top_of(table, known, placed)))
    query = np.repeat(np.arange(len(table.query_ids)), [len(some) for some in table.facts])
    judged = np.concatenate([one.is_judged.any(axis=0) for one in table.queries])
    return compared_facts((both[0], both[1]), k, INTERVALS, query=query, is_judged=judged)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_a_difference_are_those_over_all_verdicts(seed: int) -> None:
    drawn = Random(seed)
    documents = ["a", "b", "c"]
    runs = [{"q": drawn.sample(documents, 2)} for _ in range(2)]
    pairs = list(itertools.product(["q"], ["f0", "f1"], documents))
    known: Supports = {pair: drawn.choice([1.0, 0.0, None, None]) for pair in pairs}
    known["q", "f0", "z"] = 0.0  # so that somebody judged a pair of the query
    is_open = [pair for pair in pairs if known[pair] is None]
    every = [
        difference({**known, **dict(zip(is_open, verdicts, strict=True))}, runs, 2)["difference"]
        for verdicts in itertools.product([0.0, 1.0], repeat=len(is_open))
    ]
    figures = difference(known, runs, 2)
    ends = [figures["bound_low"], figures["bound_high"]]
    assert ends == pytest.approx([min(map(float, every)), max(map(float, every))])  # type: ignore[arg-type]


def test_a_document_of_both_runs_moves_both_and_one_that_nobody_judged_is_open_for_every_fact() -> None:
    judged: Supports = {("q", "f0", "a"): 1.0, ("q", "f1", "a"): 0.0}
    shared = difference(judged, [{"q": ["a", "x"]}, {"q": ["x"]}], 2)
    # x can give f1 to both at once, and f0, which the first has, to the second.
    assert (shared["difference"], shared["bound_low"], shared["bound_high"]) == (0.5, 0.0, 0.5)
    ruled = difference(judged, [{"q": ["a", "x"]}, {"q": ["y"]}], 2, irrelevant="y")
    assert (ruled["bound_low"], ruled["bound_high"]) == (0.5, 1.0)  # x may give f1, y nothing


def test_a_query_of_which_nobody_judged_a_pair_is_in_no_difference() -> None:
    runs = [{"q": ["a"], "r": ["a"]}, {"q": ["b"], "r": ["b"]}]
    figures = difference({("q", "f0", "a"): 1.0}, runs, 1, facts=1)
    assert (figures["queries"], figures["difference"], figures["other"]) == (1, 1.0, 0.0)
