"""Where runs fail: one measure by groups of queries, against tables worked out by hand."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation import broken_down, evaluate
from evaluation.failures.breakdown import (
    Breakdown,
    Values,
    break_down,
    draws_of,
    limits_of,
    ordered_groups,
    undrawn_limits,
)
from evaluation.failures.query_groups import group_queries, offered
from evaluation.measures.intervals import LARGEST_RESAMPLED, Resampling, mean_intervals

HOW, WHAT = {"type": "how"}, {"type": "what"}
QUERIES: dict[str, dict[str, Any]] = {
    "q1": {**HOW, "tags": ["short"], "weight": 60},
    "q2": {**HOW, "tags": ["short", "bus"], "weight": 20},
    "q3": {**HOW, "tags": ["bus"], "weight": 10},
    "q4": {**HOW, "weight": 5},
    "q5": {**HOW, "weight": 5},
    "q6": {**WHAT, "tags": "bus"},
}
RELEVANT = {"q1": 1, "q2": 2, "q3": 5, "q4": 6, "q5": 21}
VALUES = {"a": [1.0, 0.5, 0.0, 0.25, 0.75, np.nan], "b": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}


def values(table: Mapping[str, list[float]] = VALUES, weights: list[float] | None = None) -> Values:
    ids = tuple(f"q{number}" for number in range(1, len(next(iter(table.values()))) + 1))
    held = [60, 20, 10, 5, 5, np.nan] if weights is None else weights
    return Values(
        "recall", 10, ids, tuple(table), np.array(list(table.values())).T, np.array(held, dtype=float)
    )


def broken_by(by: str, threshold: float = 0.5) -> Breakdown:
    grouping = group_queries(by, list(QUERIES), QUERIES, RELEVANT)
    return break_down(values(), grouping, Resampling(500, 0, 0.9), threshold=threshold)


def members(by: str) -> dict[str | None, tuple[str, ...]]:
    grouping = group_queries(by, list(QUERIES), QUERIES, RELEVANT)
    return {group.name: group.query_ids for group in grouping.groups if group.kind != "all"}


def test_groups_by_tag_overlap_and_those_without_a_tag_are_named() -> None:
    assert members("tag") == {"bus": ("q2", "q3", "q6"), "short": ("q1", "q2"), None: ("q4", "q5")}
    assert broken_by("tag").grouping.overlapping
    assert not broken_by("type").grouping.overlapping


def test_groups_by_any_single_value_by_relevant_documents_and_by_traffic() -> None:
    assert members("type") == {"how": ("q1", "q2", "q3", "q4", "q5"), "what": ("q6",)}
    assert members("relevant") == {
        "0": ("q6",), "1": ("q1",), "2–5": ("q2", "q3"), "6–20": ("q4",), "21+": ("q5",)
    }  # fmt: skip
    # Thirds of 100: q1 has 0 to 60, most of it in the first; q2 has 60 to 80, most of it in the last.
    assert members("weight") == {"head": ("q1",), "tail": ("q2", "q3", "q4", "q5"), None: ("q6",)}
    assert members("run") == {}


def test_all_that_was_asked_once_is_the_tail_where_it_is_most_of_the_traffic() -> None:
    frequencies = [30, 20, 5, 5] + [1] * 60
    queries = {f"q{number}": {"frequency": many} for number, many in enumerate(frequencies)}

    groups = group_queries("weight", list(queries), queries, {}).groups[1:]

    # Of 120: 0 to 50, 50 to 60, and 60 to 120, of which 40 lie in the last third.
    assert [(group.name, len(group.query_ids)) for group in groups] == [
        ("head", 2),
        ("torso", 2),
        ("tail", 60),
    ]


def test_queries_asked_equally_often_are_never_parted() -> None:
    queries = {f"q{number}": {"frequency": 1} for number in range(9)}

    grouping = group_queries("weight", list(queries), queries, {})

    assert [(group.name, len(group.query_ids)) for group in grouping.groups] == [(None, 9), ("head", 9)]


def test_a_key_that_nobody_has_and_one_with_too_many_values_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"under metadata.colour; .* broken down by tag, type, relevant, weight, run"
    ):
        group_queries("colour", list(QUERIES), QUERIES, RELEVANT)
    many = {str(number): {"source": str(number)} for number in range(101)}
    with pytest.raises(ValueError, match=r"There are 101 values of metadata.source; .* at most 100 groups"):
        group_queries("source", list(many), many, {})
    assert offered(many.values()) == ["relevant", "run"]


def test_the_figures_of_a_group_as_worked_out_by_hand() -> None:
    whole, how, what = broken_by("type").groups
    run = how.runs["a"]

    assert (run.n, run.mean, run.share_zero, run.share_reaching) == (5, 0.5, 0.2, 0.6)
    assert run.percentiles == pytest.approx({10: 0.1, 25: 0.25, 50: 0.5, 75: 0.75, 90: 0.9})
    # (60 · 1 + 20 · 0.5 + 5 · 0.25 + 5 · 0.75) / 100
    assert run.weighted is not None
    assert (run.weighted.n, run.weighted.mean) == (5, 0.75)
    assert whole.runs["b"].mean == pytest.approx(1 / 6)
    assert what.runs["b"].weighted is None


def test_the_interval_of_a_group_is_that_of_its_queries_and_below_ten_there_is_none() -> None:
    table = values({"a": [0.0, 0.5, 1.0] * 7}, [1.0, 2.0, 3.0] * 7)
    metadata = {query: {"type": "few" if at < 9 else "many"} for at, query in enumerate(table.query_ids)}
    grouping = group_queries("type", table.query_ids, metadata, {})
    by_name = {
        one.group.name: one.runs["a"] for one in break_down(table, grouping, Resampling(500, 0, 0.9)).groups
    }

    low, high = mean_intervals(table.table[9:], samples=500, seed=0, level=0.9)
    many, few = by_name["many"], by_name["few"]
    assert (many.low, many.high) == (low[0], high[0])
    assert many.weighted is not None
    assert (many.weighted.low or 1) < many.weighted.mean < (many.weighted.high or 0)
    assert (few.n, few.low, few.high, few.is_small) == (9, None, None, False)
    assert few.weighted is not None
    assert (few.weighted.low, few.weighted.high) == (None, None)


def test_a_small_group_has_its_mean_and_says_that_it_is_small() -> None:
    small = broken_by("tag").groups[1].runs["a"]

    assert (small.n, small.mean, small.is_small) == (2, 0.25, True)
    assert (small.low, small.high, set(small.percentiles.values())) == (None, None, {None})


def test_a_group_in_which_nothing_counts_is_undefined() -> None:
    nothing = broken_by("type").groups[2].runs["a"]

    assert (nothing.n, nothing.mean, nothing.share_zero, nothing.weighted) == (0, None, None, None)


def test_queries_without_a_weight_are_named_and_the_threshold_is_reached_by_equality() -> None:
    found = broken_by("type", threshold=0.75).to_dict()

    assert found["without_weight_ids"] == ["q6"]
    assert found["groups"][1]["runs"]["a"]["share_reaching"] == 0.4
    assert found["groups"][1]["runs"]["a"]["weighted"]["n"] == 5


def test_the_worst_groups_come_first_and_small_ones_last() -> None:
    groups = ordered_groups(broken_by("tag").groups, "worst")

    assert [(one.group.kind, one.group.name) for one in groups] == [
        ("all", None), ("none", None), ("group", "bus"), ("group", "short")
    ]  # fmt: skip
    grouping = group_queries("type", list(QUERIES), QUERIES, RELEVANT)
    good_but_one = values({"a": [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]})
    ordered = ordered_groups(break_down(good_but_one, grouping, Resampling(9, 0, 0.9)).groups, "worst")
    assert [one.group.name for one in ordered] == [None, "how", "what"]


def test_the_rows_are_a_frame_with_a_row_per_group_and_run() -> None:
    frame = broken_by("type").frame()

    assert frame[["group", "run", "queries"]].to_numpy().tolist()[2:] == [
        ["how", "a", 5], ["how", "b", 5], ["what", "a", 0], ["what", "b", 1]
    ]  # fmt: skip
    assert frame["weighted_mean"].tolist()[2] == 0.75


def test_a_notebook_breaks_an_evaluation_down() -> None:
    result = evaluate(
        {"q1": {"a": 1}, "q2": {"b": 1}}, {"bm25": {"q1": {"a": 1.0}}}, k=1, bootstrap_samples=9
    )

    frame = broken_down(result, "type", {"q1": {"type": "how"}, "q2": {"type": "what"}}).frame()

    assert frame["kind"].tolist() == ["all", "group", "group"]
    assert frame["mean"].tolist() == [0.5, 1.0, 0.0]


def test_all_queries_have_the_mean_and_interval_of_the_evaluation() -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(9)}
    run = {f"q{number}": {"a" if number % 3 else "b": 1.0} for number in range(9)}
    result = evaluate(qrels, {"bm25": run, "dense": {"q1": {"a": 1.0}}}, k=1, bootstrap_samples=300, seed=3)
    weights = {query: {"weight": 2} for query in list(qrels)[:7]}

    for metadata in ({}, weights, {query: {"weight": 2} for query in qrels}):
        whole = broken_down(result, "run", metadata).groups[0].runs
        for name, figures in whole.items():
            own = result.to_dict()["runs"][name]["recall@1"]
            assert (figures.mean, figures.low, figures.high) == (own["mean"], own["low"], own["high"])


@pytest.mark.parametrize("weights", [[np.nan] * 12, [np.nan] * 6 + [2.0] * 6, list(range(1, 13))])
def test_limits_over_all_queries_that_are_known_stand_and_the_rest_is_drawn_as_before(
    weights: list[float],
) -> None:
    table = values({"a": [0, 1] * 6, "b": [0.5] * 5 + [1] * 7}, weights)
    metadata = {query: {"type": "how" if at < 7 else "what"} for at, query in enumerate(table.query_ids)}
    grouping = group_queries("type", table.query_ids, metadata, {})
    made = Resampling(200, 1, 0.9)
    drawn = limits_of(table, grouping, made)
    marked = np.array([[0.1, 0.2], [0.3, 0.4]])

    known = limits_of(table, grouping, made, whole=marked)
    undrawn = undrawn_limits(table, grouping, marked)

    assert known[0, :, :2].tolist() == undrawn[0, :, :2].tolist() == marked.tolist()
    assert np.allclose(known[0, :, 2:], drawn[0, :, 2:], atol=1e-12, equal_nan=True)
    assert np.array_equal(known[1:], drawn[1:], equal_nan=True)
    assert np.isnan(undrawn[1:]).all()


def test_the_draws_are_those_of_groups_with_an_interval_and_of_the_weighted_mean() -> None:
    def draws(queries: int, weighted: int) -> int:
        table = values({"a": [0.5] * queries}, [1.0] * weighted + [np.nan] * (queries - weighted))
        metadata = {query: {"type": "few" if at < 4 else "many"} for at, query in enumerate(table.query_ids)}
        return draws_of(table, group_queries("type", table.query_ids, metadata, {}), samples=100)

    assert draws(20, 0) == 100 * 16  # the whole is known, and four are too few
    assert draws(20, 20) == 100 * (20 + 16)
    assert draws(20, 14) == 100 * (14 + 16 + 10)
    assert draws(20, 13) == 100 * (13 + 16)  # nine with a weight are too few
    assert draws(LARGEST_RESAMPLED + 5, 0) == 0


numbers = st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0, float("nan")]), min_size=5, max_size=30)


@given(numbers, st.sampled_from([0.5, 1.0, 3.0]), st.integers(0, 5))
def test_equal_weights_give_the_plain_mean_and_its_interval(
    column: list[float], weight: float, seed: int
) -> None:
    table = values({"a": column}, [weight] * len(column))
    grouping = group_queries("run", table.query_ids, {}, {})

    figures = break_down(table, grouping, Resampling(200, seed, 0.9)).groups[0].runs["a"]

    if figures.n:
        assert figures.weighted is not None
        weighted = (figures.weighted.mean, figures.weighted.low, figures.weighted.high)
        assert weighted == pytest.approx((figures.mean, figures.low, figures.high))


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50), max_size=40))
def test_groups_by_relevant_documents_part_the_queries(relevant: dict[str, int]) -> None:
    if relevant:
        grouping = group_queries("relevant", list(relevant), {}, relevant)

        parted = [query for group in grouping.groups if group.kind != "all" for query in group.query_ids]
        assert sorted(parted) == sorted(relevant)


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=40))
def test_head_torso_and_tail_fall_and_part_the_queries(weights: list[float]) -> None:
    queries = {str(number): {"weight": weight} for number, weight in enumerate(weights)}

    groups = group_queries("weight", list(queries), queries, {}).groups[1:]

    ordered = [[queries[query]["weight"] for query in group.query_ids] for group in groups]
    assert [weight for group in ordered for weight in group] == sorted(weights, reverse=True)
    assert groups[0].name == "head"


def test_weighted_intervals_of_many_queries_are_the_normal_limit_of_the_ratio() -> None:
    generator = np.random.default_rng(0)
    column, weights = generator.random(10_001)[:, None], generator.random(10_001) + 0.1
    mean = (column[:, 0] * weights).sum() / weights.sum()

    low, high = mean_intervals(column, weights=weights)
    drawn = mean_intervals(column[:9_999], weights=weights[:9_999], samples=2_000)

    assert low[0] + high[0] == pytest.approx(2 * mean)
    assert (low[0], high[0]) == pytest.approx((drawn[0][0], drawn[1][0]), abs=0.002)


FILES = {
    "qrels.txt": "".join(f"q{number} 0 a 1\n" for number in range(1, 7)),
    "good.run": "".join(f"q{number} Q0 a 1 1 t\n" for number in range(1, 7)),
    "half.run": "".join(f"q{number} Q0 {'a' if number < 4 else 'x'} 1 1 t\n" for number in range(1, 7)),
    "queries.jsonl": "".join(
        json.dumps({"_id": f"q{number}", "text": "t", "metadata": facts}) + "\n"
        for number, facts in {
            1: {"type": "what", "tags": ["all", "few"], "weight": 1},
            2: {"type": "what", "tags": ["all"], "weight": 2},
            3: {"type": "what", "tags": ["all"], "weight": 3},
            4: {"type": "how", "tags": ["all"], "weight": 4},
            5: {"type": "how", "tags": ["all"], "weight": 5},
        }.items()
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def printed(folder: Path, *arguments: str, form: str = "table") -> str:
    paths = [folder / name for name in ("qrels.txt", "good.run", "half.run")]
    named = [str(folder / word) if word in FILES else word for word in arguments]
    out = StringIO()
    call_command("evaluate", *map(str, paths), "--k", "1", "--format", form, *named, stdout=out)
    return out.getvalue()


def test_the_command_adds_the_breakdown_to_every_format(folder: Path) -> None:
    asked = ("--queries", "queries.jsonl", "--by", "type", "--by-threshold", "1")

    plain, as_json = printed(folder, form="json"), printed(folder, *asked, form="json")
    found = json.loads(as_json)
    broken = found.pop("breakdown")
    assert found == json.loads(plain)  # nothing else moved
    assert [(group["group"], group["kind"]) for group in broken["groups"]] == [
        (None, "all"), ("how", "group"), ("what", "group"), (None, "none")
    ]  # fmt: skip
    whole = broken["groups"][0]["runs"]["half"]
    assert (whole["n"], whole["mean"], whole["share_reaching"]) == (6, 0.5, 0.5)
    assert whole["weighted"]["mean"] == 6 / 15
    assert broken["without_weight_ids"] == ["q6"]
    table = printed(folder, *asked)
    assert "recall@1 by type" in table
    assert "Without a weight, and so in no weighted mean: q6." in table
    assert "| All queries | half | 6 | 0.500 |" in printed(folder, *asked, form="markdown")
    assert "without type & good & 1 & 1.000" in printed(folder, *asked, form="latex")
    rows = list(csv.DictReader(StringIO(printed(folder, *asked, form="csv"))))
    assert [row["group"] for row in rows if row["kind"] == "group"] == ["how", "how", "what", "what"]
    assert {row["kind"] for row in rows if row["line"]} == {""}


def test_relevant_documents_need_no_file_and_tags_may_be_chosen_beside(folder: Path) -> None:
    assert "recall@1 by number of relevant documents" in printed(folder, "--by", "relevant")
    both = printed(
        folder, "--queries", "queries.jsonl", "--by", "tag", "--tag", "few", "--by-measure", "precision@1"
    )
    assert "precision@1 by tag" in both
    assert "Groups overlap" in both


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--by", "type"],
            "--by type needs the metadata of the queries; name their file with --queries FILE.",
        ),
        (["--by", "relevant", "--by-measure", "map"], "map was not evaluated; choose one of recall@1,"),
        (["--by", "relevant", "--by-threshold", "2"], "The threshold is 2; name a share from 0 to 1."),
        (["--by-threshold", "1"], "--by-measure and --by-threshold belong to --by; name it too."),
        (["--queries", "queries.jsonl", "--by", "colour"], "No query says anything under metadata.colour"),
    ],
)
def test_what_the_command_cannot_break_down_is_one_sentence(
    folder: Path, arguments: list[str], sentence: str
) -> None:
    with pytest.raises(CommandError) as error:
        printed(folder, *arguments)
    assert sentence in str(error.value)
    assert error.value.returncode == 2
