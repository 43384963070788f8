"""Strata: the same measures over the queries with each tag, as if these were all there are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.measures import Integers
from evaluation.scoring.figures import RunFigures
from pooling.formats.query_facts import tags_of
from pooling.heavy import np, pl


@dataclass(frozen=True)
class Stratum:
    """The queries with one tag: (m,) their numbers among the labelled ones; run -> `measure@k` -> figure."""

    rows: Integers
    figures: Mapping[str, RunFigures]


def rows_by_tag(strata: Mapping[str, Collection[str]], query_ids: pl.Series) -> dict[str, Integers]:
    """Tag -> numbers of its queries among the labelled ones, (Q,) `query_ids`; others are left out."""
    if not strata:
        return {}
    numbers = {query: number for number, query in enumerate(query_ids.to_list())}
    return {
        tag: np.array(sorted(numbers[query] for query in numbers.keys() & set(queries)), dtype=np.int64)
        for tag, queries in strata.items()
    }


def queries_by_tag(metadata: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[str]]:
    """Tag -> ids of the queries that have it, from pairs (query id, metadata); tags in order of appearance.

    >>> queries_by_tag([("q1", {"tags": ["short"]}), ("q2", {"tags": ["short", "bus"]})])
    {'short': ['q1', 'q2'], 'bus': ['q2']}
    """
    by_tag: dict[str, list[str]] = {}
    for query, facts in metadata:
        for tag in dict.fromkeys(tags_of(facts)):
            by_tag.setdefault(tag, []).append(query)
    return by_tag


def chosen_strata(by_tag: Mapping[str, list[str]], tags: Iterable[str]) -> dict[str, list[str]]:
    """The queries of these tags; ValueError for one that no query has, with those there are."""
    chosen = {}
    for tag in tags:
        if tag not in by_tag:
            names = ", ".join(list(by_tag)[:20])
            there = f"the tags are {names}" if names else "no query has a tag"
            raise ValueError(f"No query has the tag {tag}; {there} (metadata.tags).")
        chosen[tag] = by_tag[tag]
    return chosen
