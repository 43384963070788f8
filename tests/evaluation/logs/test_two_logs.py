"""`drift OLD NEW`: the new traffic on queries that the old log lacks, beside what chance leaves out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError

from tests.evaluation.logs.helpers import drift, ran
from tests.testdata import DATA, needs_data


def log_of(path: Path, counts: dict[str, int], share: float = 1.0) -> Path:
    rows = (f"{text}\t{count}\t{share}\n" for text, count in counts.items() if count)
    path.write_text("query\tcount\tshare_of_log\n" + "".join(rows))
    return path


def month(searches: int, seed: int, *, queries: int = 2000, strangers: float = 0.0) -> dict[str, int]:
    """Counts by Zipf's law; strangers: this share of the searches is on as many queries of another kind."""
    chance = np.random.default_rng(seed)
    law = 1 / np.arange(1, queries + 1)
    other = chance.binomial(searches, strangers)
    own, new = (chance.multinomial(count, law / law.sum()) for count in (searches - other, other))
    return {f"{kind} {at}": int(n) for kind, ns in (("own", own), ("new", new)) for at, n in enumerate(ns)}


def test_new_traffic_is_counted_with_its_largest_queries(tmp_path: Path) -> None:
    old = log_of(tmp_path / "old.tsv", {"night bus": 60, "ferry": 40})
    new = log_of(tmp_path / "new.tsv", {"Night  Bus": 50, "ferry": 20, "tram": 20, "strike": 10})
    found = drift(old, new)
    assert (found["unseen"], found["halves"]["high"]) == (0.3, 0)
    assert found["unseen_by_half"] == pytest.approx(0.3, abs=0.03)
    assert found["largest"] == [
        {"query": "tram", "count": 20, "share": 0.2},
        {"query": "strike", "count": 10, "share": 0.1},
    ]
    assert found["new"] == {"queries": 4, "traffic": 100, "shown": 1}
    assert "30.0 % of the new traffic asks queries that the old log lacks" in ran(old, new)
    assert "  tram  (20, 20.0 %)" in ran(old, new)


def test_the_next_month_of_one_source_shows_no_shift(tmp_path: Path) -> None:
    old, new = log_of(tmp_path / "old.tsv", month(50_000, 1)), log_of(tmp_path / "new.tsv", month(50_000, 2))
    found = drift(old, new)
    assert found["unseen"] < 0.008 < found["halves"]["low"] < found["halves"]["high"] < 0.016
    assert not found["shift"]
    assert 0.001 < found["visible"] < 0.01
    assert f"shifts of {100 * found['visible']:.1f} % of the traffic, it finds four of five" in ran(old, new)


@pytest.mark.parametrize(("queries", "searches"), [(2000, 50_000), (50_000, 8_000)])
@pytest.mark.parametrize("least", [1, 2])
def test_a_quarter_of_strangers_is_told_whatever_the_tail(
    tmp_path: Path, queries: int, searches: int, least: int
) -> None:
    """In a log of mostly rare queries most of a month is new; tables without rare ones show less of it."""
    logs = []
    for seed, strangers in ((1, 0.0), (2, 0.25), (3, 0.0)):
        counts = month(searches, seed, queries=queries, strangers=strangers)
        kept = {text: count for text, count in counts.items() if count >= least}
        logs.append(log_of(tmp_path / f"{seed}.tsv", kept, sum(kept.values()) / searches))
    old, new, same = logs
    found = drift(old, new)
    assert (found["shift"], found["least_count"]) == (True, least)
    assert found["another_kind"] == pytest.approx(0.25, abs=0.03 if least == 1 else 0.08)
    assert not drift(old, same)["shift"]


@needs_data
def test_halves_of_a_real_log_show_no_shift_and_strangers_do(tmp_path: Path) -> None:
    chance, first, second = np.random.default_rng(1), {}, {}
    for line in (DATA / "living/sampling/chorus_queries.tsv").read_text().splitlines()[1:]:
        text, frequency, *_ = line.split("\t")
        first[text.strip('"')] = int(chance.binomial(int(frequency), 0.5))
        second[text.strip('"')] = int(frequency) - first[text.strip('"')]
    old, new = log_of(tmp_path / "old.tsv", first), log_of(tmp_path / "new.tsv", second)
    found = drift(old, new)
    assert not found["shift"]
    assert found["unseen"] > 0.6
    strangers = (DATA / "living/drift/fiqa.txt").read_text().splitlines()
    mixed = log_of(tmp_path / "mixed.tsv", second | dict.fromkeys(strangers[: sum(second.values()) // 3], 1))
    assert drift(old, mixed)["shift"]


def test_raw_logs_are_counted_without_what_one_person_asked(tmp_path: Path) -> None:
    for name, texts in (("old", ["ferry", "night bus"]), ("new", ["ferry", "tram"])):
        rows = [
            {"query_id": f"{text}{n}", "client_id": f"c{n}", "user_query": text}
            for text in texts
            for n in range(40)
        ]
        rows.append({"query_id": "x", "client_id": "c1", "user_query": f"my own address {name}"})
        (tmp_path / f"{name}.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = drift(tmp_path / "old.ndjson", tmp_path / "new.ndjson")
    assert found["unseen"] == 0.5
    assert [one["query"] for one in found["largest"]] == ["tram"]
    assert found["old"]["shown"] == pytest.approx(80 / 81)


def test_options_of_a_set_and_tiny_logs_are_refused(tmp_path: Path) -> None:
    log = log_of(tmp_path / "log.tsv", {f"ferry {n}": 3 for n in range(100)})
    with pytest.raises(CommandError, match="--looks is for a log and a set"):
        ran(log, log, "--looks", 12)
    rare = log_of(tmp_path / "rare.tsv", {f"ferry {n}": 9 for n in range(100)})
    with pytest.raises(CommandError, match="Too few searches to compare"):
        ran(rare, rare)
