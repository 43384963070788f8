"""Queries drawn from a log: numbers that stay, known probabilities, and the same draw from the same seed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooling.formats import read_queries
from pooling.formats.errors import FormatError
from pooling.logs.drawing import (
    LoggedQuery,
    allocated,
    draw,
    inclusion_probabilities,
    permanent_number,
    query_key,
    sequential_poisson,
    strata_by_traffic,
)
from pooling.logs.population import query_id, read_log_table, sample_lines
from tests.testdata import DATA, needs_data

POPULATION = [
    LoggedQuery(f"query {number}", f"Query {number}", float(size), "head" if size > 5 else "tail")
    for number, size in enumerate([40, 20, 10, 8, 5, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1])
]


def test_a_query_keeps_its_number_whatever_else_the_log_holds() -> None:
    assert permanent_number(7, "night bus") == permanent_number("7", query_key("  Night BUS"))
    assert permanent_number(7, "night bus") != permanent_number(8, "night bus")
    smaller = {one.query.key for one in draw(POPULATION, 8, seed=3)}
    assert smaller <= {one.query.key for one in draw(POPULATION, 11, seed=3)}


def test_a_stratum_that_would_get_nothing_is_told() -> None:
    many = [LoggedQuery(f"query {n}", f"Query {n}", 3.0, f"app {n // 10}") for n in range(79)]
    with pytest.raises(ValueError, match=r"3 of 8 strata, such as .* none of 5 queries.* Draw 40 or more"):
        draw(many, 5)
    assert len({one.query.stratum for one in draw(many, 40)}) == 8


def test_a_draw_is_made_again_bit_for_bit() -> None:
    again = [list(sample_lines(draw(POPULATION, 8, seed=3), draw="a", window="")) for _ in range(2)]
    assert again[0] == again[1] != list(sample_lines(draw(POPULATION, 8, seed=4), draw="a", window=""))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(1, 40))
def test_probabilities_add_up_and_follow_size(sizes: list[int], n: int) -> None:
    held = np.array(sizes, dtype=np.float64)
    found = inclusion_probabilities(held, n)
    assert found.sum() == pytest.approx(min(n, len(sizes)))
    assert ((found > 0) & (found <= 1 + 1e-12)).all()
    below = found < 1
    if below.any():
        assert np.ptp(found[below] / held[below]) == pytest.approx(0, abs=1e-12)
        assert held[~below].min(initial=np.inf) >= held[below].max()


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12),
    st.integers(1, 80),
    st.sampled_from(("both", "traffic")),
)
def test_every_query_that_can_be_drawn_is_allocated(sizes: list[int], n: int, target: str) -> None:
    strata = {str(number): np.arange(1.0, size + 1) for number, size in enumerate(sizes)}
    found = allocated(strata, n, target)
    assert sum(found.values()) == min(n, sum(sizes))
    assert all(0 <= found[name] <= len(members) for name, members in strata.items())
    if n >= 5 * len(sizes):
        assert all(found[name] >= min(5, len(members)) for name, members in strata.items())


def test_what_is_asked_once_or_twice_is_the_tail() -> None:
    assert strata_by_traffic([30, 5, 4, 2, 1]) == ["head", "torso", "torso", "tail", "tail"]
    assert strata_by_traffic([1, 1]) == ["tail", "tail"]
    assert strata_by_traffic([10, 10, 10, 60]) == ["torso", "torso", "torso", "head"]


@pytest.mark.parametrize(
    ("population", "n", "told"), [([], 5, "no query to draw from"), (POPULATION, 0, "at least 1")]
)
def test_what_cannot_be_drawn_is_told(population: list[LoggedQuery], n: int, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        draw(population, n)


def written(folder: Path, content: str, name: str = "log.tsv") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_rows_of_the_same_query_are_one(tmp_path: Path) -> None:
    log = read_log_table(written(tmp_path, "query\tcount\nnight bus\t2\nNight  Bus\t5\nferry\t1\n"))
    assert [(one.key, one.text, one.size) for one in log.queries] == [
        ("night bus", "Night Bus", 7.0),
        ("ferry", "ferry", 1.0),
    ]
    assert (log.merged, log.traffic) == (1, 8.0)


def test_other_tables_and_strata_of_ones_own(tmp_path: Path) -> None:
    lines = [
        json.dumps({"user_query": text, "frequency": 3, "app": app})
        for text, app in (("a", "web"), ("b", "ios"))
    ]
    log = read_log_table(written(tmp_path, "\n".join(lines), "log.jsonl"), "app")
    assert [one.stratum for one in log.queries] == ["web", "ios"]
    quoted = read_log_table(written(tmp_path, 'query\tn\n"a ""b"""\t1\n"c"\t1\n'), "none")
    assert [one.text for one in quoted.queries] == ['a "b"', "c"]
    assert {one.stratum for one in quoted.queries} == {"all"}


BAD = {
    "no query": ("word\tcount\na\t1\n", "traffic", "no query among the columns"),
    "no count": ("query\ttimes asked\na\t1\n", "traffic", "no count among the columns"),
    "count of none": ("query\tcount\na\t0\n", "traffic", "line 2: the count '0' is not a number above 0"),
    "count in words": ("query\tcount\na\toften\n", "traffic", "the count 'often' is not a number"),
    "endless count": ("query\tcount\na\tinf\n", "traffic", "the count 'inf' is not a number"),
    "empty query": ("query\tcount\n \t1\n", "traffic", "line 2: the query is empty"),
    "no such column": ("query\tcount\na\t1\n", "app", "no app among the columns"),
    "two strata": ("query\tcount\tapp\na\t1\tweb\nA\t1\tios\n", "app", "query 'A' is in the stratum 'ios'"),
    "header alone": ("query\tcount\n", "traffic", "nothing but a header"),
    "HTML": ("<html>\n<body></body>\n", "traffic", "no query among the columns"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_log_is_one_sentence(tmp_path: Path, name: str) -> None:
    content, strata, told = BAD[name]
    with pytest.raises(FormatError) as error:
        read_log_table(written(tmp_path, content), strata)
    assert told in str(error.value)


def test_a_draw_is_a_file_of_queries(tmp_path: Path) -> None:
    lines = "".join(sample_lines(draw(POPULATION, 8, seed=3), draw="seed 3", window="2026-10"))
    queries = read_queries(written(tmp_path, lines, "queries.jsonl"))
    assert len(queries) == 8
    first = queries[0]
    assert (first.id, first.text) == (query_id("query 0"), "Query 0")
    sampling = first.metadata["sampling"]
    assert sampling["pi"] == 1.0
    assert (sampling["N_h"], sampling["size"], sampling["stratum"]) == (4, 40.0, "head")
    assert (sampling["draw"], sampling["window"]) == ("seed 3", "2026-10")
    assert 0 <= sampling["prn"] < 1


@needs_data
def test_the_reference_draw_from_a_real_log() -> None:
    folder = DATA / "living/sampling"
    expected = json.loads((folder / "expected.json").read_text())
    with (folder / "chorus_queries.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    columns = {name: np.array([float(row[name]) for row in rows]) for name in ("frequency", "pi_100", "prn")}
    found = inclusion_probabilities(columns["frequency"], 100)
    assert found == pytest.approx(columns["pi_100"], abs=1e-9)
    assert int((found >= 1).sum()) == expected["certainty"]
    members = sequential_poisson(columns["prn"], found, 100)
    assert members.tolist() == [at for at, row in enumerate(rows) if row["in_sample_100"] == "1"]
    larger = sequential_poisson(columns["prn"], inclusion_probabilities(columns["frequency"], 120), 120)
    assert len(set(members.tolist()) & set(larger.tolist())) == expected["kept_when_n_goes_to_120"]
    strata = {
        name: np.array([float(row["frequency"]) for row in rows if row["stratum"] == name])
        for name in ("head", "torso", "tail")
    }
    assert list(allocated(strata, 100, "traffic").values()) == expected["neyman_100"]
    log = read_log_table(folder / "chorus_queries.tsv", "stratum")
    assert (len(log.queries) + log.merged, log.traffic) == (expected["N"], expected["traffic"])
