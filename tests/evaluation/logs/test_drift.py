"""`drift`: what is told between a log and a set, how certain that is, and what people act on."""

from __future__ import annotations

import io
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation.logs.distances import mmd2, psi, psi_p, squared_jensen_shannon, tell_apart
from evaluation.logs.report import features, script_of
from tests.evaluation.logs.helpers import drift, ran
from tests.testdata import DATA, needs_data

DRIFT = DATA / "living" / "drift"
PLACES = ("harbour", "station", "airport", "museum", "castle", "market", "bridge", "library")
VEHICLES = ("bus", "ferry", "tram", "night bus", "train", "taxi")


def journeys(count: int, seed: int) -> list[str]:
    """Queries of one source."""
    chance = random.Random(seed)
    return [
        f"{chance.choice(VEHICLES)} to {chance.choice(PLACES)} line {chance.choice('abcdefgh')}"
        for _ in range(count)
    ]


def log_of(path: Path, texts: list[str]) -> Path:
    path.write_text("query\tcount\n" + "".join(f"{text}\t1\n" for text in dict.fromkeys(texts)))
    return path


def set_of(path: Path, texts: list[str], metadata: dict[str, Any] | None = None) -> Path:
    rows = [{"_id": f"q{n}", "text": text, "metadata": metadata or {}} for n, text in enumerate(texts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_two_samples_of_one_source_show_no_shift(tmp_path: Path) -> None:
    log, chosen = (
        log_of(tmp_path / "log.tsv", journeys(400, 1)),
        set_of(tmp_path / "q.jsonl", journeys(80, 2)),
    )
    found = drift(log, chosen)
    assert not found["shift"]
    text = ran(log, chosen)
    assert text.startswith("No shift can be told")
    assert 0.55 < found["classifier"]["visible_auc"] < 0.75
    assert f"four of five shifts whose AUC is {found['classifier']['visible_auc']:.2f} or more" in text


def test_another_source_is_told_with_where_it_differs(tmp_path: Path) -> None:
    strangers = [
        f"why should one insure the {place} against flood number {n}" for n in range(8) for place in PLACES
    ]
    log, chosen = log_of(tmp_path / "log.tsv", journeys(400, 1)), set_of(tmp_path / "q.jsonl", strangers)
    found = drift(log, chosen)
    assert {one["feature"] for one in found["features"] if one["shift"]} == {"words", "first word", "digits"}
    assert (found["classifier"]["words"], found["shift"]) == ("clearly different", True)
    told = ran(log, chosen)
    assert "The set no longer looks like the log: words, first word, digits, the words themselves." in told
    assert "a shift: none has 100 % of the log, 0 % of the set" in told


def test_what_people_act_on_is_counted_in_traffic(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    rows = [
        ("night bus", 60),
        ("bus to the night market", 20),
        *((f"word{n} other{n}", 2) for n in range(10)),
    ]
    log.write_text("query\tcount\n" + "".join(f"{text}\t{count}\n" for text, count in rows))
    chosen = set_of(
        tmp_path / "q.jsonl", ["Night  Bus", "the night bus to market", *(f"no{n} such{n}" for n in range(9))]
    )
    covered = drift(log, chosen)["covered"]
    assert covered == pytest.approx({"traffic_in_set": 0.6, "traffic_near_set": 0.8, "set_in_log": 1 / 11})


def test_a_drawn_set_stands_for_the_traffic_by_its_draw(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    rows = [(f"short {n}", 50) for n in range(20)] + [
        (f"a much longer query number {n}", 1) for n in range(400)
    ]
    log.write_text("query\tcount\n" + "".join(f"{text}\t{count}\n" for text, count in rows))
    chosen = tmp_path / "queries.jsonl"
    call_command("draw_queries", str(log), "--n", "80", "--output", str(chosen), stdout=io.StringIO())
    drawn = drift(log, chosen)
    assert drawn["set"]["weighted"]
    assert "drift of that log and this one sees far more" in ran(log, chosen)
    assert not any(one["shift"] for one in drawn["features"])
    by_length = next(one for one in drawn["features"] if one["feature"] == "words")
    assert all(one["set"] == pytest.approx(one["log"], abs=0.1) for one in by_length["bins"])


def test_new_queries_of_a_log_are_seen_though_the_set_is_in_it_as_well() -> None:
    chance = np.random.default_rng(0)
    own = [f"{vehicle} to {place} {n}" for n in range(3) for vehicle in VEHICLES for place in PLACES]
    strangers = [f"insure the {place} against floods in {n}" for n in range(10) for place in PLACES]
    auc, p, *_ = tell_apart([*own, *strangers], own, chance)
    assert auc > 0.6
    assert p < 0.05
    auc, p, *_ = tell_apart([*own, *own], own, chance)
    assert auc == pytest.approx(0.5, abs=0.05)
    assert p > 0.05


def test_the_level_is_spent_over_looks_and_a_report_is_the_same_each_time(tmp_path: Path) -> None:
    log, chosen = (
        log_of(tmp_path / "log.tsv", journeys(300, 1)),
        set_of(tmp_path / "q.jsonl", journeys(60, 2)),
    )
    found = drift(log, chosen, "--looks", 12)
    assert found["level"] == pytest.approx(0.05 / 12)
    assert drift(log, chosen, "--looks", 12) == found


def test_vectors_of_both_sides_join_the_tests(tmp_path: Path) -> None:
    log, chosen = (
        log_of(tmp_path / "log.tsv", journeys(300, 1)),
        set_of(tmp_path / "q.jsonl", journeys(60, 2)),
    )
    chance = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", chance.normal(size=(60, 8)))
    np.savez(tmp_path / "b.npz", vectors=chance.normal(1, size=(50, 8)), ids=np.arange(50))
    mmd = drift(log, chosen, "--vectors", tmp_path / "a.npz", tmp_path / "b.npz")["mmd"]
    assert (mmd["shift"], mmd["sizes"]) == (True, [60, 50])
    told = ran(log, chosen, "--vectors", tmp_path / "a.npz", tmp_path / "b.npz")
    assert "the vectors" in told
    assert re.search(r"The vectors are 60 for the log's \d+ queries and 50 for the set's 60\.", told)
    with pytest.raises(
        CommandError, match=r"a\.npz: 60 vectors of 20 queries\. Name the file of the log first"
    ):
        ran(log, set_of(tmp_path / "q.jsonl", journeys(20, 2)), "--vectors", *[tmp_path / "a.npz"] * 2)


def test_a_query_of_the_set_is_not_least_like_it(tmp_path: Path) -> None:
    texts = [*journeys(40, 1), "wireless mouse", "gold ring"]
    found = drift(log_of(tmp_path / "log.tsv", texts), set_of(tmp_path / "q.jsonl", texts[:20]))
    told = {one["query"] for one in found["least_alike"]}
    assert {"wireless mouse", "gold ring"} <= told
    assert not told & set(texts[:20])


WRONG = {
    "there is no such file": ("missing.npz", "b.npz"),
    "it is no .npz file": ("log.tsv", "b.npz"),
    "it has 2 arrays": ("two.npz", "b.npz"),
    "no table of numbers": ("flat.npz", "b.npz"),
    "vectors of 8 dimensions": ("narrow.npz", "b.npz"),
}


@pytest.mark.parametrize("problem", WRONG)
def test_vectors_that_cannot_be_used_are_told(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log, chosen = log_of(Path("log.tsv"), journeys(100, 1)), set_of(Path("q.jsonl"), journeys(20, 2))
    np.savez("b.npz", np.ones((5, 8)))
    np.savez("narrow.npz", np.ones((5, 4)))
    np.savez("two.npz", a=np.ones((5, 8)), b=np.ones((5, 8)))
    np.savez("flat.npz", np.ones(5))
    with pytest.raises(CommandError, match=problem):
        ran(log, chosen, "--vectors", *WRONG[problem])


def test_too_few_queries_are_refused(tmp_path: Path) -> None:
    log, chosen = log_of(tmp_path / "log.tsv", journeys(100, 1)), set_of(tmp_path / "q.jsonl", journeys(9, 2))
    with pytest.raises(CommandError, match="the set 9; each needs 10"):
        ran(log, chosen)
    with pytest.raises(CommandError, match="--looks is a number of reports"):
        ran(log, set_of(tmp_path / "q.jsonl", journeys(20, 2)), "--looks", 0)


COUNTS = st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any)


@given(COUNTS, st.data())
def test_distances_are_symmetric_and_zero_for_equal_shares(first: list[int], data: st.DataObject) -> None:
    second = data.draw(st.lists(st.integers(0, 50), min_size=len(first), max_size=len(first)).filter(any))
    p, q = np.array(first, float), np.array(second, float)
    for distance in (psi, squared_jensen_shannon):
        assert distance(p, q) == pytest.approx(distance(q, p))
        assert distance(p, q) >= -1e-12
        assert distance(p, p) == pytest.approx(0, abs=1e-12)
    assert squared_jensen_shannon(p, q) <= 1 + 1e-12


@pytest.mark.parametrize("size", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_the_null_of_the_index_holds_at_sizes_of_evaluation_sets(size: int) -> None:
    chance = np.random.default_rng(size)
    shares = np.full(9, 1 / 9)
    ps = []
    for _ in range(300):
        p, q = chance.multinomial(size, shares).astype(float), chance.multinomial(size, shares).astype(float)
        ps.append(psi_p(p, q, sizes=(size, size), chance=chance))
    assert np.mean(np.array(ps) < 0.05) < 0.09
    assert 0.4 < np.mean(ps) < 0.65


def test_queries_of_every_script_have_a_bin() -> None:
    assert [script_of(text) for text in ("bus", "автобус", "バス", "42")] == [
        "latin",
        "cyrillic",
        "katakana",
        "no letters",
    ]
    found = features(["a b", "c"], ["x y z"], np.ones(2))
    assert [one.name for one in found] == ["words", "first word", "script", "digits"]


@needs_data
def test_vectors_give_the_figures_of_the_reference() -> None:
    expected = json.loads((DRIFT / "expected.mmd.json").read_text())["stored"]
    with np.load(DRIFT / "vectors.npz") as stored:
        for names, figures in expected.items():
            told, p, gamma = mmd2(*(stored[name] for name in names.split(" / ")))
            assert (told, gamma) == pytest.approx((figures["mmd2_u"], figures["gamma"]), rel=1e-9)
            assert p == figures["p_999_seed0"]


@needs_data
@pytest.mark.parametrize("name", ["dl20", "rag24", "researchy", "fiqa"])
def test_real_sets_are_told_apart_as_by_the_reference(name: str) -> None:
    """The reference drew its 300 queries and has another linear classifier: figures are near, not equal."""
    expected = json.loads((DRIFT / "expected.text.json").read_text())[name]
    log, texts = (
        (DRIFT / file).read_text().splitlines()[:300] for file in ("msmarco-dev-1200.txt", f"{name}.txt")
    )
    auc, p, *_ = tell_apart(log, texts, np.random.default_rng(0))
    assert auc == pytest.approx(expected["c2st_auc"], abs=0.05)
    assert (p < 0.05) == (expected["c2st_p_20"] < 0.05)
