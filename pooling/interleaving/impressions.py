"""What people saw and clicked, from the events of a log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pooling.formats.sources import Source
from pooling.heavy import Booleans, Integers, np
from pooling.logs.drawing import query_key
from pooling.logs.rows import CLICK, IMPRESSION, Faults, LogRow, ubi_rows

DAY = 86_400_000
#: A client who asks more often in a day, or clicks on more than this share of what it is shown, is a program.
MOST_SEARCHES, MOST_CLICKS, ENOUGH_IMPRESSIONS = 100, 0.9, 50
ANY_SIZE = 2**60
#: Nobody scrolls further; a larger number is a mistake.
DEEPEST = 1_000


@dataclass(frozen=True)
class Impressions:
    """Documents as they were shown: a row each, ordered by search and position, which counts from 1.

    pairs: query and document, to which `pair` points; `user` and `search` are numbers alone.
    """

    pairs: Sequence[tuple[str, str]]
    pair: Integers
    position: Integers
    user: Integers
    search: Integers
    clicked: Booleans

    def __len__(self) -> int:
        return len(self.pair)

    def at(self, positions: Collection[int]) -> Impressions:
        rows = np.isin(self.position, sorted(positions))
        columns = ("pair", "position", "user", "search", "clicked")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})


@dataclass
class SeenLog:
    faults: Faults = field(default_factory=Faults)
    _texts: dict[str, str] = field(default_factory=dict)
    _clients: dict[str, str] = field(default_factory=dict)
    _days: dict[str, int] = field(default_factory=dict)
    _places: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    _clicked: set[tuple[str, str]] = field(default_factory=set)

    def add(self, rows: Iterable[LogRow]) -> None:
        for row in rows:
            if not row.search:
                continue
            if row.query.strip():
                self._texts.setdefault(row.search, query_key(row.query))
            if row.client:
                self._clients.setdefault(row.search, row.client)
            if row.time is not None:
                self._days.setdefault(row.search, row.time // DAY)
            if row.action == IMPRESSION and row.document:
                if row.position is None or row.position > DEEPEST:
                    self.faults[f"impressions have no position up to {DEEPEST:,}"] += 1
                else:
                    self._places[row.search].setdefault(row.document, row.position)
            elif row.action == CLICK and row.document:
                self._clicked.add((row.search, row.document))

    def impressions(self) -> Impressions:
        """Everything shown, without programs, and without clicks on what was never shown."""
        lost = sum(document not in self._places.get(search, {}) for search, document in self._clicked)
        self._count(lost, "clicks on documents not shown were left out")
        unknown = [search for search in self._places if search not in self._texts]
        self._count(len(unknown), "searches without the text of a query were left out")
        programs = self._programs()
        self._count(len(programs), "clients behaving like a program were left out")
        first = min((place for places in self._places.values() for place in places.values()), default=1)
        pairs: dict[tuple[str, str], int] = {}
        users: dict[str, int] = {}
        rows = []
        for number, (search, places) in enumerate(self._places.items()):
            client = self._clients.get(search, f"\0{search}")
            if search not in self._texts or client in programs:
                continue
            user = users.setdefault(client, len(users))
            for document, place in sorted(places.items(), key=lambda one: (one[1], one[0])):
                pair = pairs.setdefault((self._texts[search], document), len(pairs))
                clicked = (search, document) in self._clicked
                rows.append((pair, place + (first == 0), user, number, clicked))
        table = np.array(rows, dtype=np.int64).reshape(-1, 5)
        return Impressions(
            list(pairs), table[:, 0], table[:, 1], table[:, 2], table[:, 3], table[:, 4].astype(bool)
        )

    def _count(self, number: int, fault: str) -> None:
        if number:
            self.faults[fault] += number

    def _programs(self) -> set[str]:
        days = Counter((self._clients[s], self._days.get(s)) for s in self._places if s in self._clients)
        programs = {client for (client, _), count in days.items() if count > MOST_SEARCHES}
        impressions, clicked = Counter[str](), Counter[str]()
        for search, documents in self._places.items():
            if client := self._clients.get(search):
                impressions[client] += len(documents)
                clicked[client] += sum((search, document) in self._clicked for document in documents)
        often = {
            one
            for one, count in impressions.items()
            if count >= ENOUGH_IMPRESSIONS and clicked[one] > MOST_CLICKS * count
        }
        return programs | often


def read_impressions(paths: Sequence[Path]) -> tuple[Impressions, Faults]:
    """The impressions of UBI logs; FormatError for logs that have none."""
    log = SeenLog()
    for path in paths:
        log.add(ubi_rows(Source(path, path.name, ANY_SIZE), log.faults))
    seen = log.impressions()
    if not len(seen):
        source = Source(paths[0], paths[0].name)
        raise source.error(
            None,
            "no impression with a document, a position and a query",
            "Give the queries and the events of UBI.",
        )
    return seen, log.faults
