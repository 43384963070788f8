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


def ids(path: Path) -> dict[str, str]:
    return {one["text"]: one["_id"] for one in map(json.loads, path.read_text().splitlines())}


@pytest.mark.parametrize("through_read_log", [False, True])
@pytest.mark.parametrize("column", ["query_id", "QID"])
def test_queries_keep_the_ids_of_their_log(tmp_path: Path, column: str, through_read_log: bool) -> None:
    log, drawn = tmp_path / "log.tsv", tmp_path / "queries.jsonl"
    log.write_text(f"{column}\tquery\tcount\n17\tnight bus\t2\n17\tNight  Bus\t5\n0018\tferry\t1\n")
    if through_read_log:
        output = io.StringIO()
        call_command("read_log", str(log), "--output", str(tmp_path / "counted.tsv"), stdout=output)
        assert f"Ids are those of the column '{column}'." in output.getvalue()
        log, column = tmp_path / "counted.tsv", "query_id"
    told = ran(log, "--n", 5, "--output", drawn)
    assert ids(drawn) == {"Night Bus": "17", "ferry": "0018"}
    assert f"Ids are those of the column '{column}'." in told


def test_numbers_of_rows_are_no_ids(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("id\tquery\tcount\n1\tnight bus\t2\n2\tferry\t1\n")
    ran(tmp_path / "log.tsv", "--n", 5, "--output", tmp_path / "queries.jsonl")
    assert ids(tmp_path / "queries.jsonl")["night bus"] == "q-3e279f8817"


@pytest.mark.parametrize("text", ["query", "user_query"])
def test_lines_of_json_with_ids_and_counts_are_no_log_of_searches(tmp_path: Path, text: str) -> None:
    log, table, drawn = (tmp_path / name for name in ("log.jsonl", "counted.tsv", "queries.jsonl"))
    log.write_text(
        "".join(json.dumps({"query_id": at, text: f"ferry {at}", "count": 3}) + "\n" for at in (7, 8))
    )
    call_command("read_log", str(log), "--output", str(table), stdout=io.StringIO())
    ran(table, "--n", 5, "--output", drawn)
    assert ids(drawn) == {"ferry 7": "7", "ferry 8": "8"}


ODD = {
    "1 row has no id, or one with blanks.": (["", "18", "19"], ["night bus", "ferry", "tram"]),
    "2 rows have no id, or one with blanks.": (["", "1 8", "19"], ["night bus", "ferry", "tram"]),
    "1 query has several, such as 'night bus' with '17' and '18'.": (
        ["17", "18", "19"],
        ["night bus", "Night Bus", "tram"],
    ),
    "1 id is of several queries, such as '17' of 'night bus' and 'ferry'.": (
        ["17", "17", "19"],
        ["night bus", "ferry", "tram"],
    ),
}


@pytest.mark.parametrize("odd", ODD)
def test_ids_that_are_not_one_to_one_are_told_and_made_of_the_texts(tmp_path: Path, odd: str) -> None:
    log, drawn = tmp_path / "log.tsv", tmp_path / "queries.jsonl"
    rows = "".join(f"{id}\t{text}\t3\n" for id, text in zip(*ODD[odd], strict=True))
    log.write_text("query_id\tquery\tcount\n" + rows)
    told = ran(log, "--n", 5, "--output", drawn)
    assert f"The ids of the column 'query_id' are not used, since {odd} Each query has an id" in told
    assert "made of its text, such as q-3e279f8817 for 'night bus'." in told
    assert ids(drawn)["night bus"] == "q-3e279f8817"
    assert all(one.startswith("q-") for one in ids(drawn).values())
    counted = io.StringIO()
    call_command("read_log", str(log), "--output", str(tmp_path / "counted.tsv"), stdout=counted)
    assert odd in counted.getvalue()
    assert "query_id" not in (tmp_path / "counted.tsv").read_text()


def test_a_log_without_ids_says_nothing_of_them(log: Path) -> None:
    assert "column" not in ran(log, "--n", 20, "--dry-run")


def test_the_words_of_a_plan_agree_with_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("query\tcount\nferry\t1\n")
    told = ran(tmp_path / "log.tsv", "--n", 1, "--dry-run")
    assert "1 of 1 query, which was asked 1 time. The draw is 100.0 % of the traffic" in told


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
