"""Files of interleaving: lists to serve, made from runs, and the clicks on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.kinds.json_lines import json_line_records
from pooling.formats.registry import source_of
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source
from pooling.heavy import pl
from pooling.interleaving.lists import METHODS, Method, chooser, preference_scores, seed_of


@dataclass(frozen=True)
class ServedList:
    """credits: as in `InterleavedList`; lists: the rankers' own, for preferences."""

    id: str
    query_id: str
    runs: tuple[str, ...]
    method: str
    ranking: tuple[str, ...]
    credits: tuple[tuple[float, ...], ...]
    first: int
    end: int
    lists: tuple[tuple[str, ...], ...] = ()

    def worth(self, places: Sequence[int]) -> list[float]:
        """What clicks on these places (0-based) are worth to each ranker."""
        if self.method == "pairwise-preference":
            return preference_scores(self.lists, self.ranking, places)
        inside = [place for place in places if self.first <= place < self.end]
        return [sum(credit[place] for place in inside) for credit in self.credits]

    @property
    def is_same(self) -> bool:
        """Whether the rankers agree on all that is credited, so that no click can tell them apart."""
        return self.method != "pairwise-preference" and self.first >= self.end


@dataclass(frozen=True)
class Impression:
    """A list that a user saw once. clicked: places (0-based); unknown: clicked documents it does not have."""

    served: str
    user: str
    places: tuple[int, ...]
    unknown: tuple[str, ...] = ()


def tops_by_query(frame: pl.DataFrame, k: int) -> dict[str, list[str]]:
    """query id -> its first k documents, of an ordered run (query_id, document_id, position)."""
    tops: dict[str, list[str]] = {}
    top = frame.filter(pl.col("position") <= k)
    for query, document in top.select("query_id", "document_id").iter_rows():
        tops.setdefault(query, []).append(document)
    return tops


def interleaved_lists(
    runs: Mapping[str, Mapping[str, Sequence[str]]], k: int, *, method: Method, seed: int, per_query: int = 1
) -> Iterator[ServedList]:
    """`per_query` lists for each query that all runs answer, in the order of the first run.

    runs: name -> query -> documents. Optimized and pairwise-preference lists draw on the first k of each.
    """
    names = tuple(runs)
    first, *others = runs.values()
    for query in first:
        if not all(query in other for other in others):
            continue
        lists = tuple(tuple(by_query[query][:k]) for by_query in runs.values())
        for number in range(per_query):
            made = METHODS[method](lists, k, chooser(seed_of(seed, query, number)))
            yield ServedList(
                f"{query}/{number}",
                query,
                names,
                method,
                made.ranking,
                made.credits,
                made.first,
                made.end,
                lists if method == "pairwise-preference" else (),
            )


def served_line(one: ServedList) -> str:
    """A list as a JSON line: `id`, `query_id`, `ranking`, and what credits need."""
    record: dict[str, object] = {
        "id": one.id,
        "query_id": one.query_id,
        "method": one.method,
        "runs": one.runs,
        "ranking": one.ranking,
    }
    if one.lists:
        record["lists"] = one.lists
    else:
        record |= {"credits": one.credits, "credited": [one.first, one.end]}
    return json.dumps(record, ensure_ascii=False) + "\n"


REMEDY = "Give a file of interleave as it was written."


def read_served(path: Path) -> dict[str, ServedList]:
    """Lists by their ids; FormatError for a file that `interleave` did not write."""
    source = source_of(path, None, None)
    lists: dict[str, ServedList] = {}
    for line, record in json_line_records(source):
        try:
            one = _read(record)
        except (KeyError, TypeError, ValueError, IndexError):
            raise source.error(line, "this is not a list of interleave", REMEDY) from None
        if lists.get(one.id, one) != one:
            raise source.error(
                line, f"the list {excerpt(one.id)} is another than above", "Give each its own id."
            )
        if lists and one.runs != next(iter(lists.values())).runs:
            raise source.error(line, "the rankers are others than above", "Judge each experiment by itself.")
        lists[one.id] = one
    if not lists:
        raise source.empty()
    return lists


def _read(record: Mapping[str, Any]) -> ServedList:
    # Whole numbers are written out, as those of the clicks' lists are.
    name, query = str(record["id"]), str(record["query_id"])
    runs, ranking = tuple(map(str, record["runs"])), tuple(map(str, record["ranking"]))
    lists = tuple(tuple(map(str, one)) for one in record.get("lists", ()))
    method = str(record["method"])
    if method == "pairwise-preference":
        if len(lists) != len(runs) or set(ranking) - {one for documents in lists for one in documents}:
            raise ValueError
        return ServedList(name, query, runs, method, ranking, (), 0, len(ranking), lists)
    credits = tuple(tuple(map(float, one)) for one in record["credits"])
    first, end = map(int, record["credited"])
    if len(credits) != len(runs) or any(len(one) != len(ranking) for one in credits):
        raise ValueError
    return ServedList(name, query, runs, method, ranking, credits, first, end)


def read_impressions(path: Path, served: Mapping[str, ServedList]) -> tuple[list[Impression], int]:
    """What users saw and clicked, and how many rows are of lists that are not among `served`.

    JSON lines in the order of time: `served` (the list's id), `user`, and `clicks`, a list of document ids as
    text, or `document_id` for one click a row, whose rows are one impression until the list comes with
    `clicks`. Without `user` all who saw a list count as one user.
    """
    source = source_of(path, None, None)
    rows: list[tuple[str, str, list[str]]] = []
    by_click: dict[tuple[str, str], list[str]] = {}
    strangers = 0
    for line, record in json_line_records(source):
        name = checked_id(source, line, "list", _needed(source, line, record))
        user = str(record["user"]) if record.get("user") is not None else f"\0{name}"
        if name not in served:
            strangers += 1
            continue
        clicks = _clicks(source, line, record)
        if record.get("document_id") is None:
            by_click.pop((name, user), None)
        elif (before := by_click.setdefault((name, user), clicks)) is not clicks:
            before += clicks
            continue
        rows.append((name, user, clicks))
    impressions = []
    for name, user, clicks in rows:
        ranking = served[name].ranking
        places = sorted({ranking.index(one) for one in clicks if one in ranking})
        unknown = tuple(dict.fromkeys(one for one in clicks if one not in ranking))
        impressions.append(Impression(name, user, tuple(places), unknown))
    return impressions, strangers


def _needed(source: Source, line: int, record: Mapping[str, Any]) -> Any:
    for name in ("served", "id"):
        if record.get(name) is not None:
            return record[name]
    raise source.error(line, "no served among the fields", "Name the list that was shown: its id.")


def _clicks(source: Source, line: int, record: Mapping[str, Any]) -> list[str]:
    if record.get("document_id") is not None:
        return [_clicked(source, line, record["document_id"])]
    clicks = record.get("clicks", [])
    if not isinstance(clicks, list):
        raise source.error(line, f"clicks is {excerpt(clicks)}, not a list", "Write a list of document ids.")
    return [_clicked(source, line, one) for one in clicks]


def _clicked(source: Source, line: int, document: Any) -> str:
    """No number is taken for an id: it may as well be a place in the list."""
    if not isinstance(document, str):
        raise source.error(
            line,
            f"the click {json.dumps(document, ensure_ascii=False)[:60]} is not text",
            'Write the id of the document that was clicked on, as text such as "d3", not its place.',
        )
    return checked_id(source, line, "document", document)
