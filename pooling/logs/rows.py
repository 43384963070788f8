"""Rows of a search log: User Behavior Insights (1.3 and older), or lines of text by a pattern."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import unquote_plus

from pooling.formats.bytes.nesting import loads
from pooling.formats.sources import Source

#: Actions that UBI defines for what people do with a document; sites add others.
IMPRESSION, CLICK = "impression", "click"
DEFINED = (IMPRESSION, CLICK, "add_to_cart", "purchase")
#: Where a query's row lists the documents that were returned; the second is older.
HITS = ("query_response_hit_ids", "query_response_object_ids")
#: What a bulk request says before each row.
BULK = ({"index"}, {"create"})
MOST_YEARS = 9999
#: 31/Oct/2026:23:59:59 +0000
WEB_SERVER = "%d/%b/%Y:%H:%M:%S %z"


class LogRow(NamedTuple):
    """One row. `search` is the id that a query and its events share, `time` milliseconds since 1970 or None;
    texts that are not there are empty, and `action` is empty for the query itself. `position` counts from 0
    or 1, as the site does."""

    query: str
    search: str
    client: str
    time: int | None
    action: str = ""
    document: str = ""
    hits: tuple[str, ...] = ()
    position: int | None = None


# Words of faults of which there is one.
OF_ONE = {"have": "has", "were": "was", "are": "is", "do": "does", "queries": "query", "searches": "search"}


class Faults(Counter[str]):
    """How often each fault of a log was met, by its words in the summary, which begin with a plural."""

    def sentences(self) -> list[str]:
        return [
            f"{number:,} {fault if number > 1 else _of_one(fault)}." for fault, number in sorted(self.items())
        ]


def _of_one(fault: str) -> str:
    first, *words = fault.split(" ")
    noun = OF_ONE.get(first, first.removesuffix("s"))
    return " ".join([noun, *(OF_ONE.get(word, word) for word in words)])


def ubi_rows(source: Source, faults: Faults) -> Iterator[LogRow]:
    """Queries and events as NDJSON, with or without the lines of a bulk request, plain or packed."""
    for _, line in source.lines():
        if not line.strip():
            continue
        try:
            record = loads(line.decode())
        except ValueError:
            record = None
        if not isinstance(record, dict):
            faults["lines are not a JSON object"] += 1
            continue
        if len(record) == 1 and record.keys() in BULK:
            continue
        inner = record.get("_source", record)
        if isinstance(inner, dict):
            yield _ubi_row(inner, faults)


def _ubi_row(record: Mapping[str, Any], faults: Faults) -> LogRow:
    action = _text(record.get("action_name"))
    search, query = _text(record.get("query_id")), _text(record.get("user_query"))
    if not search:
        faults["rows have no query_id"] += 1
    if action in DEFINED:
        if not query:
            faults["events with such an action have no user_query"] += 1
        if not _text(record.get("session_id")):
            faults["events with such an action have no session_id"] += 1
    if not query and record.get("message_type") == "QUERY":  # where older versions have it
        query = _text(record.get("message"))
    return LogRow(
        query,
        search,
        _text(record.get("client_id")),
        _time(record.get("timestamp"), faults),
        action,
        _document(record.get("event_attributes")),
        _hits(record),
        _position(record.get("event_attributes")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _document(attributes: object) -> str:
    item = attributes.get("object") if isinstance(attributes, Mapping) else None
    return _text(item.get("object_id")) if isinstance(item, Mapping) else ""


def _position(attributes: object) -> int | None:
    place = attributes.get("position") if isinstance(attributes, Mapping) else None
    ordinal = place.get("ordinal") if isinstance(place, Mapping) else None
    return ordinal if isinstance(ordinal, int) and not isinstance(ordinal, bool) and ordinal >= 0 else None


def _hits(record: Mapping[str, Any]) -> tuple[str, ...]:
    ids = next((record[name] for name in HITS if record.get(name)), None)
    return tuple(dict.fromkeys(map(_text, ids))) if isinstance(ids, list) else ()


#: As milliseconds this is March 1973, as seconds the year 5138: what is less are seconds.
LEAST_MILLISECONDS = 100_000_000_000


def _time(value: object, faults: Faults) -> int | None:
    """Milliseconds, from ISO 8601 (without an offset: UTC), the form of web servers, or a number of them."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        is_seconds = abs(value) < LEAST_MILLISECONDS
        unit = "seconds" if is_seconds else "milliseconds"
        faults[f"rows have a timestamp that is a number; it was read as {unit}"] += 1
        value = value * 1000 if is_seconds else value
        return int(value) if abs(value) < MOST_YEARS * 366 * 86_400_000 else None
    read = _date(_text(value).strip())
    if read is None:
        faults["rows have no timestamp that can be read"] += 1
        return None
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1000)


def _date(written: str) -> datetime | None:
    for read in (datetime.fromisoformat, lambda text: datetime.strptime(text, WEB_SERVER)):
        try:
            return read(written)
        except ValueError:
            continue
    return None


def pattern_rows(source: Source, pattern: re.Pattern[str], faults: Faults) -> Iterator[LogRow]:
    """Lines of text, such as those of a web server or a slow log; what the groups `query`, `client`, `time`
    and `search` hold; in the query, percent signs and pluses are resolved. Each line is a search unless the
    pattern has `search` or `time`."""
    is_each = not {"search", "time"} & pattern.groupindex.keys()
    for number, line in source.lines():
        match = pattern.search(line.decode(errors="replace"))
        if match is None:
            faults["lines do not match the pattern"] += 1
            continue
        groups = {name: value or "" for name, value in match.groupdict().items()}
        time = _time(groups["time"], faults) if "time" in groups else None
        search = f"{source.display_name} {number}" if is_each else groups.get("search", "")
        yield LogRow(unquote_plus(groups["query"]), search, groups.get("client", ""), time)


def checked_pattern(text: str) -> re.Pattern[str]:
    """ValueError for a pattern that cannot be read, and for one without the group `query`."""
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ValueError(f"--pattern: {error}. Write a regular expression with (?P<query>…).") from None
    if "query" not in pattern.groupindex:
        raise ValueError("--pattern has no group (?P<query>…).")
    return pattern
