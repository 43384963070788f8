"""How often each query was asked, and by how many people; nobody's id is kept.

A search is one `query_id`, however many rows it has; without one, a client, query and time. Ids of people are
hashed with a key that is made for one import and thrown away with it.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TypeAlias

from pooling.heavy import np, npt
from pooling.logs.drawing import query_key
from pooling.logs.rows import CLICK, DEFINED, IMPRESSION, Faults, LogRow

#: Rows after which those of one search become one.
BATCH = 1_000_000
NO_TIME = (1 << 63) - 1
SEARCH = [("search", "u8"), ("text", "u4"), ("client", "u8"), ("time", "i8"), ("event", "?")]
Searches: TypeAlias = "npt.NDArray[np.void]"
Hashes: TypeAlias = "npt.NDArray[np.uint64]"


@dataclass(frozen=True)
class LogQuery:
    """A query of a log: key, usual spelling, searches, people, first and last time (ms or None), and id."""

    key: str
    text: str
    count: int
    clients: int
    first: int | None
    last: int | None
    id: str = ""


@dataclass
class LogCounts:
    """Counts of a log while it is read; rows of several files may be added."""

    queries: int = 0
    events: int = 0
    defined: int = 0
    clicks: int = 0
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        self._salt = os.urandom(16)
        self._texts: dict[str, int] = {}
        self._rows: list[tuple[int, int, int, int, bool]] = []
        self._searches: Searches = np.empty(0, SEARCH)
        # Hashes of search and document, eight bytes each: a large log has as many as it has rows.
        self._impressions, self._clicks = array("Q"), array("Q")
        self._lists: dict[str, tuple[int, tuple[str, ...]]] = {}

    def add(self, rows: Iterable[LogRow]) -> None:
        for row in rows:
            self._add(row)

    def _add(self, row: LogRow) -> None:
        if row.action:
            self.events += 1
            self.defined += row.action in DEFINED
            if row.document and row.action in (IMPRESSION, CLICK):
                noted = self._impressions if row.action == IMPRESSION else self._clicks
                noted.append(self._hash(f"{row.search}\0{row.document}"))
                self.clicks += row.action == CLICK
        else:
            self.queries += 1
        text = " ".join(row.query.split())
        if not text:
            if not row.action:
                self.faults["queries have no text"] += 1
            return
        if row.hits:
            self._note_list(row, text)
        search = self._search(row, text)
        if search is None:
            self.faults["rows with neither a query_id nor a client and a time were left out"] += 1
            return
        number = self._texts.setdefault(text, len(self._texts))
        time = NO_TIME if row.time is None else row.time
        client = self._hash(row.client) if row.client else 0
        self._rows.append((search, number, client, time, bool(row.action)))
        if len(self._rows) >= BATCH:
            self._one_row_each()

    def _note_list(self, row: LogRow, text: str) -> None:
        """The newest list for each query; of two at one time, the later in the file."""
        key, time = query_key(text), row.time or 0
        if key not in self._lists or time >= self._lists[key][0]:
            self._lists[key] = time, row.hits

    def _search(self, row: LogRow, text: str) -> int | None:
        if row.search:
            return self._hash(row.search)
        if row.client and row.time is not None:
            return self._hash(f"{row.client}\0{query_key(text)}\0{row.time}")
        return None

    def _hash(self, text: str) -> int:
        return (
            int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8, key=self._salt).digest())
            or 1
        )

    def _one_row_each(self) -> None:
        """One row for each search: its query's, or else that of its first event."""
        if self._rows:
            rows = np.concatenate([self._searches, np.array(self._rows, SEARCH)])
            self._rows.clear()
            order = np.lexsort((rows["event"], rows["search"]))
            rows = rows[order]
            begins = np.flatnonzero(np.append(True, rows["search"][1:] != rows["search"][:-1]))
            first = np.minimum.reduceat(rows["time"], begins)
            client = np.maximum.reduceat(rows["client"], begins)
            rows = rows[begins]
            rows["time"], rows["client"] = first, np.where(rows["client"] == 0, client, rows["client"])
            self._searches = rows

    @property
    def clicks_without_impression(self) -> int:
        """Clicks on a document that no impression of the same search shows."""
        impressions: Hashes = np.unique(np.frombuffer(self._impressions, np.uint64))
        return int((~np.isin(np.frombuffer(self._clicks, np.uint64), impressions)).sum())

    @property
    def lists(self) -> dict[str, tuple[str, ...]]:
        """The documents that the production system returned last, by the key of the query."""
        return {key: hits for key, (_, hits) in self._lists.items()}

    def log_queries(self) -> list[LogQuery]:
        """Every query, the most frequent first and then by its key."""
        self._one_row_each()
        texts = list(self._texts)
        rows = self._searches
        keys: dict[str, int] = {}
        key_of_text = np.array([keys.setdefault(query_key(text), len(keys)) for text in texts], np.int64)
        if not len(rows):
            return []
        key = key_of_text[rows["text"]]
        counts = np.bincount(key, minlength=len(keys))
        clients = _people(key, rows["client"], len(keys))
        first = np.full(len(keys), NO_TIME)
        last = np.full(len(keys), -1)
        np.minimum.at(first, key, rows["time"])
        np.maximum.at(last, key, np.where(rows["time"] == NO_TIME, -1, rows["time"]))
        spellings = _spellings(texts, key_of_text, np.bincount(rows["text"], minlength=len(texts)))
        queries = [
            LogQuery(
                name,
                spellings[at],
                int(counts[at]),
                int(clients[at]),
                None if first[at] == NO_TIME else int(first[at]),
                None if last[at] < 0 else int(last[at]),
            )
            for name, at in keys.items()
            if counts[at]
        ]
        return sorted(queries, key=lambda query: (-query.count, query.key))


def _people(key: npt.NDArray[np.int64], client: Hashes, keys: int) -> npt.NDArray[np.int64]:
    """How many clients asked each query; a search without one tells of nobody."""
    has_client = client != 0
    pairs = np.empty(int(has_client.sum()), [("key", "i8"), ("client", "u8")])
    pairs["key"], pairs["client"] = key[has_client], client[has_client]
    return np.bincount(np.unique(pairs)["key"], minlength=keys)


def _spellings(
    texts: list[str], key_of_text: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> dict[int, str]:
    """The most frequent spelling of each key; of equally frequent ones the first by its letters."""
    best: dict[int, tuple[int, str]] = {}
    for text, key, count in zip(texts, key_of_text.tolist(), counts.tolist(), strict=True):
        if key not in best or (-count, text) < best[key]:
            best[key] = -count, text
    return {key: text for key, (_, text) in best.items()}
