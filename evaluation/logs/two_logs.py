"""What a new log asks that an old one does not, and how much of that is chance."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import TypedDict

from evaluation.logs.report import POWER
from pooling.heavy import Integers, np
from pooling.logs.population import LogTable

SPLITS = 20
LARGEST = 20
#: Every whole log of so many queries has some that were asked once.
LONG = 100
#: Where a short table says that rare queries are left out, but not how rare ones.
LEAST_KEPT = 2
#: Standard deviations beyond chance from which there is a shift.
SURE = 2.0


class OneLog(TypedDict):
    """One side. shown: the share of the log that its table holds."""

    queries: int
    traffic: float
    shown: float


class Halves(TypedDict):
    """The share of traffic of one half of the old log on queries that the other lacks, by random splits."""

    mean: float
    low: float
    high: float
    splits: int


class NewQuery(TypedDict):
    """A query that the old log lacks. share: of the new log's traffic."""

    query: str
    count: float
    share: float


class LogDrift(TypedDict):
    """least_count: queries asked less often count as not in a log, on both sides. unseen: the share of the
    new traffic on queries that the old log lacks; unseen_by_half: that a half of it lacks, to be compared
    with `halves`. another_kind: the share of new traffic that makes the difference; visible: from which share
    on it finds four of five shifts. largest: the new queries with the most traffic."""

    old: OneLog
    new: OneLog
    least_count: int
    unseen: float
    unseen_by_half: float
    halves: Halves
    another_kind: float
    visible: float
    shift: bool
    largest: list[NewQuery]


def log_drift(old: LogTable, new: LogTable, *, seed: int = 0) -> LogDrift:
    """Halves of the old log say what one lacks of the other by chance alone. The new log, thinned to the size
    of a half, is compared with the same halves: most queries of a long tail are new in any sample.

    Tables without rare queries hide which of these are new, so the larger of their least counts holds in
    logs, halves and thinned logs alike. ValueError where too few queries are asked as often as that.
    """
    places = {
        key: at for at, key in enumerate(dict.fromkeys(one.key for log in (old, new) for one in log.queries))
    }
    before, after = _counts(old, places), _counts(new, places)
    least = max(_least(old), _least(new))
    half, size = before.sum() / old.share / 2, after.sum() / new.share
    unseen, traffic = _unseen(after, before, least)
    chance = np.random.default_rng(seed)
    within, beyond, thinned = np.empty(SPLITS), np.empty(SPLITS), np.empty(SPLITS)
    for split in range(SPLITS):
        one = chance.binomial(before, 0.5)
        other = chance.binomial(before - one, min(1.0, size / half))
        within[split], others = _unseen(other, one, least)
        beyond[split], thinned[split] = _unseen(chance.binomial(after, min(1.0, half / size)), one, least)
        if not (traffic and others and thinned[split] and (one >= least).any()):
            raise ValueError(
                f"Too few searches to compare: half of a log asks no query {least:,} times. Give longer "
                "logs, or tables of read_log with a smaller --minimum-clients."
            )
    expected, observed = float(within.mean()), float(beyond.mean())
    spread = sqrt(float(within.var()) + expected * (1 - expected) / float(thinned.mean()))
    rest = max(1 - expected, 1e-9)
    return {
        "old": _side(old),
        "new": _side(new),
        "least_count": least,
        "unseen": unseen,
        "unseen_by_half": observed,
        "halves": {
            "mean": expected,
            "low": float(within.min()),
            "high": float(within.max()),
            "splits": SPLITS,
        },
        "another_kind": max(0.0, (observed - expected) / rest),
        "visible": min((SURE + NormalDist().inv_cdf(POWER)) * spread / rest, 1.0),
        "shift": observed > expected + SURE * spread,
        "largest": _largest(new, before, places=places, least=least),
    }


def _least(log: LogTable) -> int:
    """How often a query must be asked to be in the table; a long table without rare queries has lost them."""
    if len(log.queries) < LONG:
        return 1 if log.share == 1 else LEAST_KEPT
    return max(round(min(one.size for one in log.queries)), 1)


def _counts(log: LogTable, places: dict[str, int]) -> Integers:
    counts = np.zeros(len(places), np.int64)
    for one in log.queries:
        counts[places[one.key]] = max(round(one.size), 1)
    return counts


def _unseen(counts: Integers, others: Integers, least: int) -> tuple[float, int]:
    traffic = int(counts[counts >= least].sum())
    lacking = int(counts[(counts >= least) & (others < least)].sum())
    return (lacking / traffic if traffic else 0.0), traffic


def _side(log: LogTable) -> OneLog:
    return {"queries": len(log.queries), "traffic": log.traffic, "shown": log.share}


def _largest(log: LogTable, others: Integers, *, places: dict[str, int], least: int) -> list[NewQuery]:
    lacking = [one for one in log.queries if others[places[one.key]] < least <= one.size]
    lacking.sort(key=lambda one: (-one.size, one.key))
    return [
        {"query": one.text, "count": one.size, "share": one.size / log.traffic} for one in lacking[:LARGEST]
    ]
