"""Groups of queries: by tag, a key of their metadata, relevant documents, and frequency. No Django here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from evaluation.failures.cutting import as_text
from evaluation.scoring.strata import queries_by_tag
from pooling.formats.query_facts import WEIGHT_KEYS, weight_in

GroupKind = Literal["all", "group", "none"]

TAG, RELEVANT, WEIGHT, RUN = "tag", "relevant", "weight", "run"
# These words are groupings of their own; any other word is a key of the metadata.
OWN = {
    TAG: "tag",
    RELEVANT: "number of relevant documents",
    WEIGHT: "how often a query is asked",
    RUN: "run alone",
}
MOST_GROUPS = 100
# Upper end of each bin of relevant documents, and what it is called.
RELEVANT_BINS = ((0, "0"), (1, "1"), (5, "2–5"), (20, "6–20"), (None, "21+"))
# Parts of the traffic, the most frequent queries first: each begins at this many thirds of it.
TRAFFIC_BINS = ("head", "torso", "tail")
_NO_GROUPING = {"tags", "narrative", *WEIGHT_KEYS, *OWN}


@dataclass(frozen=True)
class Group:
    """Some queries: all there are, a group by its name, or those that belong to none."""

    name: str | None
    kind: GroupKind
    query_ids: tuple[str, ...]

    def label(self, by: str) -> str:
        if self.kind == "all":
            return "All queries"
        if self.kind == "none":
            return f"without a {by}" if by in (TAG, WEIGHT) else f"without {by}"
        return str(self.name)


@dataclass(frozen=True)
class Grouping:
    """The groups of queries by one thing.

    title: that thing in words. overlapping: whether a query may be in several groups. in_order: whether the
    groups have their own order, from few to many or from often to seldom.
    """

    by: str
    title: str
    groups: tuple[Group, ...]
    overlapping: bool = False
    in_order: bool = False

    def group(self, name: str | None) -> Group | None:
        """The group of this name, or with None the queries that belong to no group."""
        kind = "none" if name is None else "group"
        return next((one for one in self.groups if (one.name, one.kind) == (name, kind)), None)


def group_queries(
    by: str, query_ids: Sequence[str], metadata: Mapping[str, Mapping[str, Any]], relevant: Mapping[str, int]
) -> Grouping:
    """All queries, then their groups by `tag`, `relevant`, `weight`, `run` (none) or a key of the metadata.

    metadata, relevant: of each query; absent means nothing is known, and 0. ValueError for a key that no
    query has, or that has more than 100 values.
    """
    everything = Group(None, "all", tuple(query_ids))
    facts_of = {query: metadata.get(query, {}) for query in query_ids}
    if by == RUN:
        return Grouping(by, OWN[by], (everything,))
    if by == RELEVANT:
        named = _by_relevant(query_ids, relevant)
    elif by == WEIGHT:
        named = _by_traffic(facts_of)
    elif by == TAG:
        named = dict(sorted(queries_by_tag(facts_of.items()).items()))
    else:
        named = _by_key(by, facts_of)
    _refuse_none_or_many(by, named, facts_of)
    grouped = {query for members in named.values() for query in members}
    rest = tuple(query for query in query_ids if query not in grouped)
    groups = [Group(name, "group", tuple(members)) for name, members in named.items()]
    groups += [Group(None, "none", rest)] if rest else []
    in_order = by in (RELEVANT, WEIGHT)
    return Grouping(by, OWN.get(by, by), (everything, *groups), by == TAG, in_order)


def offered(metadata: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names to group by: relevant documents, and keys of up to 100 values one of which two queries share."""
    tagged = weighted = False
    values: dict[str, Counter[str]] = {}
    for facts in metadata:
        tagged = tagged or bool(facts.get("tags"))
        weighted = weighted or weight_in(facts) is not None
        for key in facts.keys() - _NO_GROUPING:
            text = as_text(facts[key])
            if text is not None:
                values.setdefault(key, Counter())[text] += 1
    keys = [
        key
        for key, counts in sorted(values.items())
        if len(counts) <= MOST_GROUPS and counts.most_common(1)[0][1] > 1
    ]
    return [*([TAG] if tagged else []), *keys, RELEVANT, *([WEIGHT] if weighted else []), RUN]


def _by_key(key: str, metadata: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for query, facts in metadata.items():
        text = as_text(facts.get(key))
        if text is not None:
            groups.setdefault(text, []).append(query)
    return dict(sorted(groups.items()))


def _by_relevant(query_ids: Sequence[str], relevant: Mapping[str, int]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {name: [] for _, name in RELEVANT_BINS}
    for query in query_ids:
        count = relevant.get(query, 0)
        groups[next(name for most, name in RELEVANT_BINS if most is None or count <= most)].append(query)
    return {name: members for name, members in groups.items() if members}


def _by_traffic(metadata: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Head, torso and tail: thirds of the traffic, the most frequent queries first.

    Queries asked equally often stay together, in the third that holds most of their traffic (the more
    frequent one of two that hold as much).
    """
    weights = {query: weight for query, facts in metadata.items() if (weight := weight_in(facts))}
    third = sum(weights.values()) / len(TRAFFIC_BINS)
    groups: dict[str, list[str]] = {name: [] for name in TRAFFIC_BINS}
    ordered = sorted(weights, key=lambda query: (-weights[query], query))
    before = 0.0
    for weight, tied in groupby(ordered, key=weights.__getitem__):
        members = list(tied)
        after = before + weight * len(members)
        shares = [
            min(after, (place + 1) * third) - max(before, place * third) for place in range(len(TRAFFIC_BINS))
        ]
        # To a millionth of a third, so that the rounding of sums does not choose between equals.
        most = max(shares) - third * 1e-6
        groups[next(name for name, part in zip(TRAFFIC_BINS, shares, strict=True) if part >= most)] += members
        before = after
    return {name: members for name, members in groups.items() if members}


def _refuse_none_or_many(
    by: str, named: Mapping[str, Sequence[str]], metadata: Mapping[str, Mapping[str, Any]]
) -> None:
    if not named:
        keys = ", ".join(offered(metadata.values()))
        where = {TAG: "metadata.tags", WEIGHT: "metadata.weight or metadata.frequency"}.get(
            by, f"metadata.{by}"
        )
        raise ValueError(f"No query says anything under {where}; the queries can be broken down by {keys}.")
    if len(named) > MOST_GROUPS:
        what = "tags" if by == TAG else f"values of metadata.{by}"
        raise ValueError(f"There are {len(named):,} {what}; a breakdown has at most {MOST_GROUPS} groups.")
