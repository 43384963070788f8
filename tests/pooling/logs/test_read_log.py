"""`read_log`: what a log says of its queries, what is wrong with it, and what it keeps to itself."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import example, given
from hypothesis import strategies as st

from pooling.formats.runs import read_run
from pooling.logs.counting import LogCounts
from pooling.logs.population import read_log_table
from pooling.logs.rows import LogRow
from tests.testdata import DATA, needs_data

UBI = DATA / "living" / "ubi"


def search(number: object, query: str, client: str = "ben", **more: object) -> dict[str, object]:
    return {"query_id": f"s{number}", "user_query": query, "client_id": client, "timestamp": AT, **more}


AT = "2026-10-31T23:59:59.5Z"


def event(number: object, action: str, document: str, **more: object) -> dict[str, object]:
    attributes = {"object": {"object_id": document}, "position": {"ordinal": 1}}
    row = {"action_name": action, "query_id": f"s{number}", "client_id": "ben", "session_id": "1"}
    return {**row, "timestamp": AT, "event_attributes": attributes, **more}


def written(path: Path, rows: Iterable[Mapping[str, object]], bulk: str = "") -> Path:
    lines = [bulk + json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def ran(*options: object) -> str:
    output = io.StringIO()
    call_command("read_log", *map(str, options), stdout=output)
    return output.getvalue()


def table(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()[1:]]


def test_searches_are_counted_once_whatever_events_they_have(tmp_path: Path) -> None:
    rows = [
        search(1, "Night bus"),
        event(1, "impression", "d1", user_query="Night bus"),
        event(1, "click", "d1", user_query="Night bus"),
        search(2, "night  bus", "cleo", timestamp="2026-10-01T08:00:00Z"),
        search(3, "night bus", "cleo"),
        search(4, "ferry", "cleo"),
        event(5, "on_search", "", message="ferry", message_type="QUERY"),
    ]
    log, output = written(tmp_path / "log.ndjson", rows), tmp_path / "queries.tsv"
    told = ran(log, "--output", output)
    assert output.read_text().splitlines()[0] == "query\tcount\tclients\tfirst_seen\tlast_seen\tshare_of_log"
    assert table(output) == [
        ["night bus", "3", "2", "2026-10-01", "2026-10-31", "1"],
        ["ferry", "2", "2", "2026-10-31", "2026-10-31", "1"],
    ]
    assert "7 rows: 4 queries and 3 events" in told
    assert "5 searches for 2 queries, from 2026-10-01 to 2026-10-31." in told


def test_bulk_requests_packed_files_and_dumps_are_read_alike(tmp_path: Path) -> None:
    rows = [search(1, "ferry"), search(2, "ferry", "cleo")]
    plain = written(tmp_path / "plain.ndjson", rows)
    bulk = written(tmp_path / "bulk.ndjson", rows, bulk='{"index": {"_index": "ubi_queries"}}\n')
    dump = written(tmp_path / "dump.jsonl", ({"_index": "ubi_queries", "_source": row} for row in rows))
    packed = tmp_path / "packed.ndjson.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, bulk, dump, packed):
        ran(path, "--output", tmp_path / "queries.tsv")
        assert table(tmp_path / "queries.tsv") == [["ferry", "2", "2", "2026-10-31", "2026-10-31", "1"]]


def test_rare_queries_are_left_out_and_their_share_is_told(tmp_path: Path) -> None:
    rows = [*(search(n, "ferry", f"person {n}") for n in range(3)), search(7, "dr house, 12 elm street")]
    log, output = written(tmp_path / "log.ndjson", rows), tmp_path / "queries.tsv"
    told = ran(log, "--output", output)
    left_out = "Left out: 1 query that fewer than 2 people asked."
    assert f"{left_out} The table speaks for 75.0 % of the traffic." in told
    assert "elm street" not in output.read_text()
    assert "person" not in output.read_text()
    ran(log, "--output", output, "--minimum-clients", 0)
    assert len(table(output)) == 2


def test_what_is_wrong_is_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    log = written(
        tmp_path / "log.ndjson",
        [
            search(1, "ferry", timestamp=1_793_491_199_500),
            search(2, "ferry", "cleo", timestamp="yesterday"),
            {"user_query": "ferry", "timestamp": AT},
            event(1, "click", "d9", session_id=None),
        ],
    )
    with log.open("a") as file:
        file.write("{broken\n")
    told = ran(log, "--output", tmp_path / "queries.tsv").splitlines()
    assert set(told) >= {
        "1 line is not a JSON object.",
        "1 row has no query_id.",
        "1 row with neither a query_id nor a client and a time was left out.",
        "1 row has a timestamp that is a number; it was read as milliseconds.",
        "1 row has no timestamp that can be read.",
        "1 event with such an action has no user_query.",
        "1 event with such an action has no session_id.",
        "1 of 1 clicks has no impression of the same query and document.",
    }


def test_the_newest_list_of_each_query_is_the_production_run(tmp_path: Path) -> None:
    rows = [
        search(1, "Ferry", query_response_hit_ids=["d3"], timestamp="2026-10-02T00:00:00Z"),
        search(2, "ferry", "cleo", query_response_object_ids=["d1", "d2", "d1"]),
        search(3, "ferry", query_response_hit_ids=[]),
    ]
    log, run = written(tmp_path / "log.ndjson", rows), tmp_path / "production.run"
    ran(log, "--output", tmp_path / "queries.tsv", "--run", run)
    drawn = tmp_path / "queries.jsonl"
    call_command(
        "draw_queries",
        str(tmp_path / "queries.tsv"),
        "--n",
        "1",
        "--output",
        str(drawn),
        stdout=io.StringIO(),
    )
    query = json.loads(drawn.read_text())["_id"]
    assert read_run(run).frame.select("query_id", "document_id").rows() == [(query, "d1"), (query, "d2")]


def test_lines_of_a_web_server_are_read_by_a_pattern(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    line = '{} - - [31/Oct/2026:23:59:5{} +0000] "GET /search?q={}&page=1 HTTP/1.1" 200\n'
    log.write_text(
        line.format("10.0.0.1", 1, "night+bus") + line.format("10.0.0.2", 2, "Night%20bus") + "GET /\n"
    )
    pattern = r"^(?P<client>\S+) .*\[(?P<time>[^]]+)\] .GET /search\?q=(?P<query>[^& ]*)"
    told = ran(log, "--output", tmp_path / "queries.tsv", "--pattern", pattern)
    assert table(tmp_path / "queries.tsv") == [["Night bus", "2", "2", "2026-10-31", "2026-10-31", "1"]]
    assert "1 line does not match the pattern." in told


def test_seconds_since_1970_are_read_as_seconds(tmp_path: Path) -> None:
    rows = [
        {"query_id": str(n), "user_query": "ferry", "client_id": f"c{n}", "timestamp": 1_793_491_199 * unit}
        for n, unit in enumerate((1, 1000))
    ]
    log = tmp_path / "log.ndjson"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = ran(log, "--output", tmp_path / "queries.tsv")
    assert "1 row has a timestamp that is a number; it was read as seconds." in told
    assert table(tmp_path / "queries.tsv")[0][3:5] == ["2026-10-31", "2026-10-31"]


def test_a_table_of_counts_stays_one(tmp_path: Path) -> None:
    log, output = tmp_path / "log.csv", tmp_path / "queries.tsv"
    log.write_text("query,count,clients,first_seen\nferry,5,3,2026-10-01\nFerry,1,1,2026-09-30\nrare,9,1,\n")
    ran(log, "--output", output)
    assert table(output) == [["ferry", "6", "3", "2026-09-30", "", "0.4"]]
    log.write_text("query,count\nferry,5\n")
    assert "does not say how many people asked" in ran(log, "--output", output)
    assert table(output) == [["ferry", "5", "0", "", "", "1"]]


WRONG = {
    "no row could be read": ["log.ndjson", "--output", "q.tsv"],
    "no list": ["good.ndjson", "--output", "q.tsv", "--run", "p.run"],
    "Choose a smaller --minimum-clients": ["good.ndjson", "--output", "q.tsv", "--minimum-clients", "9"],
    "0 or more": ["good.ndjson", "--output", "q.tsv", "--minimum-clients", "-1"],
    "has no group": ["good.ndjson", "--output", "q.tsv", "--pattern", "a"],
    "Write a regular expression": ["good.ndjson", "--output", "q.tsv", "--pattern", "("],
    "one table of counts at a time": ["counts.csv", "counts.csv", "--output", "q.tsv"],
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_cannot_be_done_is_refused_and_writes_nothing(
    problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "good.ndjson", [search(1, "ferry"), search(2, "ferry", "cleo")])
    (tmp_path / "log.ndjson").write_text('{"index": {}}\n')
    (tmp_path / "counts.csv").write_text("query,count\nferry,5\n")
    with pytest.raises(CommandError, match=problem):
        ran(*WRONG[problem])
    assert not (tmp_path / "q.tsv").exists()


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.split)


@example(texts=['"'])
@example(texts=['"night bus"'])
@example(texts=['"night bus"', "ferry", 'a "b'])
@given(texts=st.lists(TEXTS, min_size=1, max_size=8))
def test_every_text_comes_back_from_the_table(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("log") / "log.ndjson"
    written(
        path,
        [search(f"{n}-{client}", text, client) for n, text in enumerate(texts) for client in ("ben", "cleo")],
    )
    ran(path, "--output", path.with_suffix(".tsv"))
    counts = LogCounts()
    counts.add(LogRow(text, str(n), "ben", None) for n, text in enumerate(texts))
    read = {query.key: query.size / 2 for query in read_log_table(path.with_suffix(".tsv")).queries}
    assert read == {query.key: query.count for query in counts.log_queries()}


@needs_data
def test_the_faults_of_real_logs_are_counted_exactly(tmp_path: Path) -> None:
    expected = json.loads((UBI / "mixed.counts.json").read_text())
    mixed, sample = UBI / "mixed.ndjson.gz", UBI / "esci_ubi_sample.ndjson.gz"
    told = ran(mixed, "--output", tmp_path / "queries.tsv")
    for said, number in {
        "of them impression, click, add_to_cart or purchase.": expected["usable action"],
        "events with such an action have no user_query.": expected["no user_query"],
        "rows have a timestamp that is a number": expected["timestamp is a number"],
        "events with such an action have no session_id.": expected["no session_id"],
        "rows have no query_id.": expected["no query_id"],
    }.items():
        assert f"{number:,} {said}" in told
    assert "41 of 287 clicks" in ran(mixed, sample, "--output", tmp_path / "queries.tsv")


def test_days_of_a_longer_log_are_read_alone(tmp_path: Path) -> None:
    times = ("2026-09-30T23:59:59Z", "2026-10-01T00:00:00Z", AT, "2026-11-01T00:00:00Z", None)
    rows = [search(n, f"ferry {n}", timestamp=time) for n, time in enumerate(times)]
    log, output = written(tmp_path / "log.ndjson", rows), tmp_path / "q.tsv"
    options = (log, "--output", output, "--minimum-clients", 0, "--days")
    text = ran(*options, "2026-10-01/2026-10-31")
    assert sorted(row[0] for row in table(output)) == ["ferry 1", "ferry 2"]
    assert "2 rows are of other days." in text
    assert "1 row has no time, and was left out." in text
    with pytest.raises(CommandError, match="no row with a query is of these days"):
        ran(*options, "2025-10-01/2025-10-31")
    with pytest.raises(CommandError, match="write the first and the last day"):
        ran(*options, "2026-10-31/2026-10-01")
    with pytest.raises(CommandError, match="a table of counts has none"):
        ran(output, "--output", tmp_path / "other.tsv", "--days", "2026-10-01/2026-10-31")
