"""`draw_queries`: the plan, the file, and what cannot be drawn."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

LOG = "query\tcount\n" + "".join(f"query {number}\t{1 + 40 // (number + 1)}\n" for number in range(60))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return path


def ran(*options: object) -> str:
    output = io.StringIO()
    call_command("draw_queries", *map(str, options), stdout=output)
    return output.getvalue()


def test_the_plan_is_printed_and_the_draw_written(log: Path, tmp_path: Path) -> None:
    told = ran(log, "--n", 20, "--window", "2026-10", "--output", tmp_path / "queries.jsonl")
    assert "20 of 60 queries" in told
    assert "head" in told
    drawn = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()]
    assert len(drawn) == 20
    sampling = drawn[0]["metadata"]["sampling"]
    assert sampling["draw"] == "n 20, seed 0, both, strata traffic"
    assert sampling["window"] == "2026-10"


def test_the_share_that_the_log_showed_travels_with_the_draw(tmp_path: Path) -> None:
    rows = [f"query {n // 3}\tc{n % 4}" for n in range(30)] + ["alone\tc1"] * 10
    lines = [line.split("\t") for line in rows]
    log, table, drawn = (tmp_path / name for name in ("log.ndjson", "queries.tsv", "queries.jsonl"))
    log.write_text(
        "".join(
            json.dumps({"query_id": str(n), "user_query": text, "client_id": client, "timestamp": n}) + "\n"
            for n, (text, client) in enumerate(lines)
        )
    )
    call_command("read_log", str(log), "--output", str(table), stdout=io.StringIO())
    ran(table, "--n", 5, "--output", drawn)
    found = {
        json.loads(line)["metadata"]["sampling"]["share_of_log"] for line in drawn.read_text().splitlines()
    }
    assert found == {0.75}


def test_a_dry_run_writes_nothing(log: Path, tmp_path: Path) -> None:
    assert "20 of 60 queries" in ran(log, "--n", 20, "--dry-run", "--output", tmp_path / "queries.jsonl")
    assert not (tmp_path / "queries.jsonl").exists()


WRONG: dict[str, tuple[object, ...]] = {
    "at least 1": ("--n", 0, "--dry-run"),
    "Name a file with --output": ("--n", 5),
    "no app among the columns": ("--n", 5, "--strata", "app", "--dry-run"),
}


@pytest.mark.parametrize("told", WRONG)
def test_wrong_options_are_one_sentence(log: Path, told: str) -> None:
    with pytest.raises(CommandError, match=told):
        ran(log, *WRONG[told])
