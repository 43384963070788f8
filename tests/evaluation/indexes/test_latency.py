"""Settings of an index: the file with their latency, the Pareto front, and the cheapest that will do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.indexes.latency import (
    LatencyTable,
    latency_table,
    pareto_front,
    parse_index_settings,
    settings_of_runs,
)
from evaluation.indexes.recall import recall_against
from pooling.formats import FormatError

EXACT = {f"q{number}": {"a": 2.0, "b": 1.0} for number in range(4)}
HALF = {query: {"a": 1.0} for query in EXACT}
MOST = {**EXACT, "q3": {"a": 1.0}}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no setting in it"),
        ("run,latency_ms\n", "there is no setting in it"),
        ("run,ms\na,1\n", "line 1: no column latency_ms among 'run, ms'"),
        ("run,latency_ms,latency_ms\na,1,1\n", "line 1: more than one column latency_ms"),
        ("run,latency_ms,ef,ef\na,1,1,1\n", "line 1: the column 'ef' is there twice"),
        ("run,latency_ms,\na,1,1\n", "line 1: a column has no name"),
        ("run,latency_ms\na,1\nb\n", "line 3: 1 values instead of 2"),
        ("run,latency_ms\na,fast\n", "line 2: the latency is 'fast'"),
        ("run,latency_ms\na,0\n", "line 2: the latency is '0'"),
        ("run,latency_ms\na,nan\n", "line 2: the latency is 'nan'"),
        ("run,latency_ms\n,1\n", "line 2: the run has no name"),
        ("run,latency_ms\na,1\n\na,2\n", "line 4: run 'a' appears again"),
        ('run,latency_ms\n"a,1\n', "no CSV"),
    ],
)
def test_a_wrong_file_of_settings_names_its_line(text: str, sentence: str) -> None:
    with pytest.raises(FormatError) as error:
        parse_index_settings(text.encode(), "settings.csv")
    assert str(error.value).startswith("settings.csv")
    assert sentence in str(error.value)


def test_bytes_that_are_no_text_name_their_line() -> None:
    with pytest.raises(FormatError, match="line 2: not UTF-8"):
        parse_index_settings(b"run,latency_ms\n\xff,1\n", "settings.csv")


def test_every_run_has_a_line_and_every_line_a_run() -> None:
    settings = parse_index_settings(b"run,latency_ms\na,1\nb,2\n", "s.csv")

    with pytest.raises(ValueError, match=r"s.csv has no line for run c"):
        settings_of_runs(settings, ["a", "b", "c"], "s.csv")
    with pytest.raises(ValueError, match=r"a line for b, which is none of the runs: a\."):
        settings_of_runs(settings, ["a"], "s.csv")


def table(target: float | None) -> LatencyTable:
    found = recall_against(EXACT, {"half": HALF, "most": MOST, "all": EXACT, "late": HALF}, [2])
    text = b"run,latency_ms\nall,3\nhalf,1\nmost,2\nlate,4\n"
    return latency_table(found, parse_index_settings(text, "s.csv"), 2, target)


def test_the_front_leaves_out_what_another_setting_beats() -> None:
    assert [row["run"] for row in table(None).rows] == ["half", "most", "all", "late"]
    assert table(None).front == ["half", "most", "all"]


def test_the_cheapest_is_told_by_the_mean_and_by_the_lower_end_of_its_interval() -> None:
    def often(run: Any) -> Any:
        return {f"{query}-{copy}": ranked for query, ranked in run.items() for copy in range(5)}

    runs = {name: often(run) for name, run in {"half": HALF, "most": MOST, "all": EXACT}.items()}
    found = recall_against(often(EXACT), runs, [2])
    text = b"run,latency_ms\nall,3\nhalf,1\nmost,2\n"
    reached = latency_table(found, parse_index_settings(text, "s.csv"), 2, 0.8)
    most = found.figure("most", 2)

    assert most["low"] < 0.8
    assert reached.target == {"at_least": 0.8, "cheapest": "most", "cheapest_clear": "all"}
    assert reached.sentence() == (
        "The cheapest setting that reaches Recall@2 0.8 is most with 0.875 "
        f"[{most['low']:.3f}, {most['high']:.3f}] at 2 ms. The lower end of its 95 % interval does not reach "
        "it; the cheapest whose lower end does is all with 1.000 [0.832, 1.000] at 3 ms."
    )


def test_of_few_queries_no_setting_is_clear_of_the_target() -> None:
    reached = table(0.8)

    assert reached.target == {"at_least": 0.8, "cheapest": "most", "cheapest_clear": None}
    assert reached.sentence() == (
        "The cheapest setting that reaches Recall@2 0.8 is most with 0.875 "
        "(too few queries for an interval) at 2 ms."
    )


def test_a_target_that_nothing_reaches_names_the_best() -> None:
    found = recall_against(EXACT, {"half": HALF}, [2])
    alone = latency_table(found, parse_index_settings(b"run,latency_ms\nhalf,1\n", "s.csv"), 2, 0.9)

    assert alone.sentence() == (
        "No setting reaches Recall@2 0.9; the best is half with 0.500 "
        "(too few queries for an interval) at 1 ms."
    )


points = st.tuples(st.sampled_from([1.0, 2.0, 3.0, 4.0]), st.sampled_from([0.1, 0.2, 0.3]))


@given(st.lists(points, min_size=1, max_size=12))
def test_a_point_is_on_the_front_when_no_other_dominates_it(found: list[tuple[float, float]]) -> None:
    def dominated(one: tuple[float, float]) -> bool:
        return any(other != one and other[0] <= one[0] and other[1] >= one[1] for other in found)

    assert pareto_front(found) == [not dominated(one) for one in found]
