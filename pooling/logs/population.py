"""The queries of a log with how often each was asked, from a table; a draw of them as a file of queries."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.names import QUERY, column_named
from pooling.formats.records import records_source
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source
from pooling.formats.wording import aligned, counted, plural
from pooling.logs.drawing import LoggedQuery, SampledQuery, query_key, strata_by_traffic

TEXT = ("query", "text", "user_query", "q")
COUNT = ("count", "frequency", "weight", "n", "times")
#: Not `id`, which numbers rows: of another month's log it would be another query's.
QUERY_ID = tuple(name for name in QUERY if name.endswith("id"))
#: What `--strata` may say besides the name of a column.
BY_TRAFFIC, NO_STRATA = "traffic", "none"
WHOLE_LOG = "all"
#: The column of `read_log`, and the key of `metadata.sampling`: see `LogTable.share`.
LOG_SHARE = "share_of_log"


@dataclass(frozen=True)
class LogTable:
    """Queries of a log, each key once, in the order of the file. merged: rows added to one of their key.
    share: the share of the log's traffic that they are; `read_log` leaves out what few people asked. ids: a
    sentence on its column of ids, where it has one."""

    queries: tuple[LoggedQuery, ...]
    merged: int
    share: float = 1.0
    ids: str = ""

    @property
    def traffic(self) -> float:
        return sum(query.size for query in self.queries)


@dataclass
class _Row:
    text: str
    most: float
    size: float
    stratum: str


@dataclass
class _Ids:
    """Ids that a log gives its queries: by key, and the key of each. Where they are not one to one, what is
    odd: rows without one, or with blanks in it; key -> two of its ids; id -> two of its texts."""

    column: str = ""
    by_key: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    lacking: int = 0
    several: dict[str, tuple[str, str]] = field(default_factory=dict)
    shared: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, source: Source, line: int, text: str, record: Mapping[str, Any]) -> None:
        name = column_named(record, QUERY_ID)
        self.column = self.column or name or ""
        try:
            id = checked_id(source, line, "query's", record[name]) if name else ""
        except FormatError:
            id = ""
        if id.split() != [id]:
            self.lacking += 1
            return
        key = query_key(text)
        if self.by_key.setdefault(key, id) != id:
            self.several.setdefault(key, (self.by_key[key], id))
        if query_key(self.texts.setdefault(id, text)) != key:
            self.shared.setdefault(id, (self.texts[id], text))

    def usable(self) -> Mapping[str, str]:
        """By key; none where they are not one to one."""
        return {} if self.lacking or self.several or self.shared else self.by_key

    def sentence(self, example: str) -> str:
        if not self.column:
            return ""
        if self.usable():
            return f"Ids are those of the column {excerpt(self.column)}."
        odd = []
        if many := self.lacking:
            odd.append(f"{counted(many, 'row')} {plural(many, 'has', 'have')} no id, or one with blanks")
        if many := len(self.several):
            key, ids = next(iter(self.several.items()))
            one = f"{excerpt(key)} with {excerpt(ids[0])} and {excerpt(ids[1])}"
            odd.append(f"{counted(many, 'query')} {plural(many, 'has', 'have')} several, such as {one}")
        if many := len(self.shared):
            id, texts = next(iter(self.shared.items()))
            one = f"{excerpt(id)} of {excerpt(texts[0])} and {excerpt(texts[1])}"
            odd.append(f"{counted(many, 'id')} {plural(many, 'is', 'are')} of several queries, such as {one}")
        return (
            f"The ids of the column {excerpt(self.column)} are not used, since {'; '.join(odd)}. Each query "
            f"has an id made of its text, such as {query_id(query_key(example))} for {excerpt(example)}."
        )


def read_log_table(path: Path | str, strata: str = BY_TRAFFIC) -> LogTable:
    """A table with a query and a count in each row: TSV or CSV with a header, JSON lines, JSON or Parquet.

    strata: `traffic` for head, torso and tail, `none`, or a column of the file. Rows whose queries differ in
    case and blanks alone are one query, in the spelling with the largest count. Raises FormatError for a
    missing column, an empty query and a count that is not a finite number above 0.
    """
    source, records = records_source(path, None, None)
    rows: dict[str, _Row] = {}
    count, shares, ids = 0, set(), _Ids()
    for line, text, record in _texts(source, records):
        count += 1
        size = _count(source, line, record)
        shares.add(_share_of_log(source, line, record))
        ids.add(source, line, text, record)
        stratum = _stratum(source, line, record, strata)
        row = rows.setdefault(query_key(text), _Row(text, size, 0.0, stratum))
        if row.stratum != stratum:
            strata_of_query = f"{excerpt(stratum)} here and {excerpt(row.stratum)} before"
            problem = f"query {excerpt(text)} is in the stratum {strata_of_query}"
            raise source.error(line, problem, "Give each query one stratum.")
        if size > row.most:
            row.text, row.most = text, size
        row.size += size
    if not rows:
        raise source.empty()
    names = strata_by_traffic([row.size for row in rows.values()]) if strata == BY_TRAFFIC else None
    by_key = ids.usable()
    queries = tuple(
        LoggedQuery(key, row.text, row.size, names[at] if names else row.stratum, by_key.get(key, ""))
        for at, (key, row) in enumerate(rows.items())
    )
    if len(shares) > 1:
        raise source.error(None, f"the rows differ in {LOG_SHARE}", "Give the table of one read_log.")
    return LogTable(queries, count - len(rows), min(shares), ids.sentence(queries[0].text))


def _texts(
    source: Source, records: Iterable[tuple[int, Mapping[str, Any]]]
) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """Line, text and record. Where every text of the file is written as JSON, it is read as such."""
    rows = list(records)
    texts = [_text(source, line, record) for line, record in rows]
    if texts and all(len(text) > 1 and text[0] == text[-1] == '"' for text in texts):
        texts = [_unquoted(text) for text in texts]
    for (line, record), text in zip(rows, texts, strict=True):
        if not query_key(text):
            raise source.error(line, "the query is empty", "Leave the row out.")
        yield line, " ".join(text.split()), record


def _text(source: Source, line: int, record: Mapping[str, Any]) -> str:
    name = column_named(record, TEXT)
    if name is None:
        columns = excerpt(", ".join(map(str, record)), 80)
        raise source.error(line, f"no query among the columns {columns}", "Call the column query.")
    if not isinstance(record[name], str):
        raise source.error(line, f"the query is not text but {excerpt(record[name])}", "Write a string.")
    return str(record[name])


def _unquoted(text: str) -> str:
    try:
        read = json.loads(text)
    except ValueError:
        return text[1:-1].replace('""', '"')
    return read if isinstance(read, str) else text


def _count(source: Source, line: int, record: Mapping[str, Any]) -> float:
    name = column_named(record, COUNT)
    if name is None:
        columns = excerpt(", ".join(map(str, record)), 80)
        raise source.error(line, f"no count among the columns {columns}", "Call the column count.")
    try:
        size = float(record[name])
    except (TypeError, ValueError):
        size = math.nan
    if isinstance(record[name], bool) or not 0 < size < math.inf:
        raise source.error(
            line, f"the count {excerpt(record[name])} is not a number above 0", "Write how often."
        )
    return size


def _share_of_log(source: Source, line: int, record: Mapping[str, Any]) -> float:
    try:
        share = float(record.get(LOG_SHARE) or 1.0)
    except (TypeError, ValueError):
        share = math.nan
    if not 0 < share <= 1:
        problem = f"{LOG_SHARE} is {excerpt(record[LOG_SHARE])}, not a share"
        raise source.error(line, problem, "Write a number above 0, up to 1.")
    return share


def _stratum(source: Source, line: int, record: Mapping[str, Any], strata: str) -> str:
    if strata in (BY_TRAFFIC, NO_STRATA):
        return WHOLE_LOG
    value = record.get(strata)
    if value is None or str(value).strip() == "":
        columns = excerpt(", ".join(map(str, record)), 80)
        raise source.error(
            line, f"no {strata} among the columns {columns}", "Name a column that every row has."
        )
    return str(value).strip()


def query_id(key: str) -> str:
    """The id of a query where its log has none, the same in every draw: its labels are found again.

    >>> query_id("night bus")
    'q-3e279f8817'
    """
    return f"q-{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def sample_lines(
    sample: Sequence[SampledQuery], *, draw: str, window: str, share: float = 1.0
) -> Iterator[str]:
    """The draw as JSON lines of queries: `_id`, `text`, and `metadata` with `frequency` and `sampling`."""
    for one in sample:
        sampling = {
            "draw": draw,
            "window": window,
            "stratum": one.query.stratum,
            "N_h": one.in_stratum,
            "n_h": one.drawn,
            "size": one.query.size,
            "pi": one.probability,
            "prn": one.number,
            LOG_SHARE: share,
        }
        record = {
            "_id": one.query.id or query_id(one.query.key),
            "text": one.query.text,
            "metadata": {"frequency": one.query.size, "sampling": sampling},
        }
        yield json.dumps(record, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class StratumPlan:
    """One stratum: its queries and traffic in the log, and of the draw its queries, those drawn for certain,
    and the traffic that these queries are themselves."""

    name: str
    queries: int
    traffic: float
    drawn: int
    certain: int
    traffic_of_draw: float


def stratum_plans(log: LogTable, draw: Sequence[SampledQuery]) -> list[StratumPlan]:
    plans = []
    for name in dict.fromkeys(query.stratum for query in log.queries):
        members = [query for query in log.queries if query.stratum == name]
        chosen = [one for one in draw if one.query.stratum == name]
        plans.append(
            StratumPlan(
                name,
                len(members),
                sum(query.size for query in members),
                len(chosen),
                sum(one.probability >= 1 for one in chosen),
                sum(one.query.size for one in chosen),
            )
        )
    return plans


def plan_text(log: LogTable, draw: Sequence[SampledQuery]) -> str:
    rows = [("stratum", "queries", "traffic", "drawn", "certain", "traffic drawn")]
    for one in stratum_plans(log, draw):
        traffic = f"{one.traffic:,.0f} ({100 * one.traffic / log.traffic:.1f} %)"
        traffic_of_draw = f"{100 * one.traffic_of_draw / log.traffic:.1f} %"
        rows.append(
            (one.name, f"{one.queries:,}", traffic, f"{one.drawn:,}", f"{one.certain:,}", traffic_of_draw)
        )
    share = sum(one.query.size for one in draw) / log.traffic
    lines = [
        *aligned(rows),
        "",
        f"{len(draw):,} of {counted(len(log.queries), 'query')}, "
        f"which {plural(len(log.queries), 'was', 'were')} asked {counted(round(log.traffic), 'time')}. "
        f"The draw is {100 * share:.1f} % of the traffic; with its weights it stands for all of it.",
    ]
    if log.merged:
        lines.append(
            f"{counted(log.merged, 'row')} {plural(log.merged, 'differs', 'differ')} from another in case or "
            f"blanks alone, and {plural(log.merged, 'was', 'were')} added to it."
        )
    lines += [log.ids] if log.ids else []
    return "\n".join(lines) + "\n"
