"""A log as a table of counted queries, and the production system's answers as a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from pooling.formats.bytes.nesting import loads
from pooling.formats.errors import FormatError, excerpt
from pooling.formats.names import ID, column_named
from pooling.formats.records import records_source
from pooling.formats.registry import source_of
from pooling.formats.sources import Source
from pooling.formats.wording import counted, plural
from pooling.heavy import pl
from pooling.logs.counting import LogCounts, LogQuery
from pooling.logs.drawing import LoggedQuery, query_key
from pooling.logs.population import COUNT, LOG_SHARE, NO_STRATA, WHOLE_LOG, LogTable, query_id, read_log_table
from pooling.logs.rows import DEFINED, Faults, LogRow, pattern_rows, ubi_rows

#: A log is read as it streams, so it may be as large as it likes.
ANY_SIZE = 2**60
UBI_NAMES = {"query_id", "action_name", "user_query", "index", "create", "_source"}
CLIENTS = ("clients", "users", "people")
COLUMNS = ("query", "count", "clients", "first_seen", "last_seen", LOG_SHARE)
DAY = 86_400_000
#: From which millisecond since 1970 to before which.
Days: TypeAlias = tuple[int, int]
#: Queries that fewer people asked are left out where nobody says otherwise.
MINIMUM_CLIENTS = 2


@dataclass(frozen=True)
class ReadLog:
    """A log as it was read: all its queries, and of UBI and text logs what was counted on the way.

    has_clients: whether the log says who asked. lists: the production system's documents by key of the query.
    ids: a sentence on the column of ids of a table.
    """

    queries: tuple[LogQuery, ...]
    counts: LogCounts | None
    has_clients: bool
    lists: Mapping[str, tuple[str, ...]]
    ids: str = ""

    def common_queries(self, minimum_clients: int) -> list[LogQuery]:
        """The queries that at least that many people asked; all, where a table says nothing of people."""
        if self.counts is None and not self.has_clients:
            return list(self.queries)
        return [query for query in self.queries if query.clients >= minimum_clients]

    def share(self, queries: Sequence[LogQuery]) -> float:
        """Which share of the traffic these queries are."""
        return sum(query.count for query in queries) / sum(query.count for query in self.queries)


def read_log(
    paths: Sequence[Path], pattern: re.Pattern[str] | None = None, days: Days | None = None
) -> ReadLog:
    """One or more files of one kind: UBI as NDJSON, lines of text with a `pattern`, or one table with a query
    and a count in each row (CSV, TSV, JSON lines, Parquet). Rows outside the days, or without a time, count
    among the faults.

    Raises FormatError for a file in which no search can be read.
    """
    if pattern is None and not _is_ubi(paths[0]):
        if days is not None:
            raise ValueError("--days needs the time of each search; a table of counts has none.")
        if len(paths) > 1:
            raise ValueError("Give one table of counts at a time, or files of UBI, or --pattern.")
        return _read_table(paths[0])
    counts = LogCounts()
    for path in paths:
        source = Source(path, path.name, ANY_SIZE)
        before = counts.queries + counts.events
        rows = (
            ubi_rows(source, counts.faults)
            if pattern is None
            else pattern_rows(source, pattern, counts.faults)
        )
        counts.add(rows if days is None else _within(rows, days, counts.faults))
        if counts.queries + counts.events == before and days is None:
            remedy = "Give NDJSON of User Behavior Insights." if pattern is None else "Check the pattern."
            raise source.error(None, "no row could be read", remedy)
    queries = tuple(counts.log_queries())
    if not queries and days is not None:
        raise FormatError(paths[0].name, None, "no row with a query is of these days", "Choose other --days.")
    if not queries:
        raise FormatError(
            paths[0].name, None, "no row has the text of a query", "Give the rows of the queries too."
        )
    return ReadLog(queries, counts, any(query.clients for query in queries), counts.lists)


def checked_days(text: str) -> Days:
    """The days of `2026-10-01/2026-10-31`, both included, in UTC; ValueError for what is none."""
    first, _, last = (_day(part) for part in text.partition("/"))
    if first is None or last is None or first > last:
        raise ValueError(f"--days {text}: write the first and the last day as 2026-10-01/2026-10-31.")
    return first, last + DAY


def _within(rows: Iterable[LogRow], days: Days, faults: Faults) -> Iterator[LogRow]:
    for row in rows:
        if row.time is None:
            faults["rows have no time, and were left out"] += 1
        elif not days[0] <= row.time < days[1]:
            faults["rows are of other days"] += 1
        else:
            yield row


def is_log(path: Path) -> bool:
    """Whether a file is a log, as it came or counted, and not queries with ids."""
    if _is_ubi(path):
        return True
    _, records = records_source(path, None, None)
    _, first = next(iter(records), (0, {}))
    return column_named(first, COUNT) is not None and column_named(first, ID) is None


def log_table(path: Path) -> LogTable:
    """The counted queries of a table, or of a log of UBI without those that one person asked alone."""
    if not _is_ubi(path):
        return read_log_table(path, NO_STRATA)
    log = read_log([path])
    queries = log.common_queries(MINIMUM_CLIENTS)
    if not queries:
        raise FormatError(path.name, None, "no query was asked by two people", "Give a table of read_log.")
    counted = (LoggedQuery(one.key, one.text, float(one.count), WHOLE_LOG) for one in queries)
    return LogTable(tuple(counted), 0, log.share(queries))


def _is_ubi(path: Path) -> bool:
    source = source_of(path, None, ANY_SIZE)
    if source.format != "jsonl" and path.name.removesuffix(".gz").rpartition(".")[2] not in (
        "ndjson",
        "log",
        "bulk",
    ):
        return False
    for _, line in source.lines():
        if line.strip():
            names = re.findall(r'"(\w+)"\s*:', line.decode(errors="replace"))
            return not UBI_NAMES.isdisjoint(names) and not _is_counted(line)
    raise source.empty()


def _is_counted(line: bytes) -> bool:
    """Whether a row is of a table of counts, which may have the names of UBI as well."""
    try:
        record = loads(line.decode())
    except ValueError:
        return False
    return isinstance(record, dict) and column_named(record, COUNT) is not None


def _read_table(path: Path) -> ReadLog:
    """A table of counts; its optional columns are clients, first_seen, last_seen and ids."""
    table = read_log_table(path, "none")
    facts: dict[str, LogQuery] = {}
    has_clients = False
    source, records = records_source(path, None, None)
    for line, record in records:
        name = column_named(record, ("query", "text", "user_query", "q"))
        key = query_key(str(record[name])) if name else ""
        clients = _number(source, line, record)
        has_clients |= clients is not None
        first, last = (_day(record.get(column)) for column in ("first_seen", "last_seen"))
        other = facts.get(key)
        if other is not None:  # other spellings of one query: people are those of one of them at least
            clients = max(clients or 0, other.clients)
            first, last = _least(first, other.first), _most(last, other.last)
        facts[key] = LogQuery(key, "", 0, clients or 0, first, last)
    queries = [
        LogQuery(
            one.key,
            one.text,
            int(one.size),
            facts[one.key].clients,
            facts[one.key].first,
            facts[one.key].last,
            one.id,
        )
        if one.key in facts
        else LogQuery(one.key, one.text, int(one.size), 0, None, None, one.id)
        for one in table.queries
    ]
    queries.sort(key=lambda one: (-one.count, one.key))
    return ReadLog(tuple(queries), None, has_clients, {}, table.ids)


def _number(source: Source, line: int, record: Mapping[str, Any]) -> int | None:
    name = column_named(record, CLIENTS)
    if name is None or record[name] in (None, ""):
        return None
    try:
        return int(record[name])
    except (TypeError, ValueError):
        raise source.error(
            line, f"{excerpt(record[name])} is no number of people", "Write a whole number."
        ) from None


def _day(value: object) -> int | None:
    try:
        return int(datetime.fromisoformat(str(value)).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None


def _least(one: int | None, other: int | None) -> int | None:
    return min((time for time in (one, other) if time is not None), default=None)


def _most(one: int | None, other: int | None) -> int | None:
    return max((time for time in (one, other) if time is not None), default=None)


def queries_lines(queries: Sequence[LogQuery], share: float = 1.0) -> Iterator[str]:
    """The queries as a table of tab-separated values with a header; days are those of UTC. share: which they
    are of the log's traffic.

    Texts are as they are, quotation marks too. Where all of them are in quotation marks, which readers take
    for those of the file, they are written as JSON. Ids of the log's own are the last column.
    """
    quoted = all(len(query.text) > 1 and query.text[0] == query.text[-1] == '"' for query in queries)
    ids = ("query_id",) if any(query.id for query in queries) else ()
    yield "\t".join((*COLUMNS, *ids)) + "\n"
    for query in queries:
        text = json.dumps(query.text, ensure_ascii=False) if quoted else query.text
        cells = (
            text,
            str(query.count),
            str(query.clients),
            day(query.first),
            day(query.last),
            f"{share:.6g}",
            *(query.id for _ in ids),
        )
        yield "\t".join(cells) + "\n"


def production_run(log: ReadLog, queries: Sequence[LogQuery]) -> pl.DataFrame:
    """What the production system last returned for these queries: query_id, document_id, rank, 1 / rank."""
    rows = [
        (query_id(query.key), document, rank, 1 / rank)
        for query in queries
        for rank, document in enumerate(log.lists.get(query.key, ()), 1)
    ]
    columns = {"query_id": pl.String, "document_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def day(time: int | None) -> str:
    """A day as 2026-10-31; empty where it is not known."""
    return "" if time is None else datetime.fromtimestamp(time / 1000, UTC).date().isoformat()


def summary(log: ReadLog, table: Sequence[LogQuery], minimum_clients: int) -> list[str]:
    traffic = sum(query.count for query in log.queries)
    lines = []
    if log.counts is not None:
        counts = log.counts
        rows = counts.queries + counts.events
        lines.append(
            f"{counted(rows, 'row')}: {counted(counts.queries, 'query')} and "
            f"{counted(counts.events, 'event')}, "
            f"{counts.defined:,} of them {', '.join(DEFINED[:-1])} or {DEFINED[-1]}."
        )
        lines += counts.faults.sentences()
        if counts.clicks:
            lost = counts.clicks_without_impression
            lines.append(
                f"{lost:,} of {counts.clicks:,} clicks {plural(lost, 'has', 'have')} no impression "
                "of the same query and document."
            )
    firsts = [query.first for query in log.queries if query.first is not None]
    lasts = [query.last for query in log.queries if query.last is not None]
    window = f", from {day(min(firsts))} to {day(max(lasts))}" if firsts and lasts else ""
    lines.append(
        f"{counted(traffic, 'search', 'searches')} for {counted(len(log.queries), 'query')}{window}."
    )
    if len(table) < len(log.queries):
        hidden = len(log.queries) - len(table)
        lines.append(
            f"Left out: {counted(hidden, 'query')} that fewer than {minimum_clients} people asked. "
            f"The table speaks for {100 * log.share(table):.1f} % of the traffic."
        )
    elif log.counts is None and not log.has_clients and minimum_clients > 0:
        lines.append("The table does not say how many people asked a query, so rare ones are not left out.")
    return [*lines, log.ids] if log.ids else lines
