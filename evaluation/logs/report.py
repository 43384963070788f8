"""Whether an evaluation set still looks like the log, by calibrated tests, and what to act on first."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypedDict

from evaluation.logs.design import Sampled
from evaluation.logs.distances import mmd2, psi, psi_p, squared_jensen_shannon, tell_apart
from pooling.formats.records import QueryRecord
from pooling.heavy import Floats, Integers, np
from pooling.logs.drawing import LoggedQuery, query_key
from pooling.ranking.bounds import holm

MOST_BINS = 10
OTHER = "other"


@dataclass(frozen=True)
class Binned:
    """A feature of the log's queries and of the set's: the names of the bins, and each query's bin."""

    name: str
    bins: tuple[str, ...]
    log: Integers
    chosen: Integers


def features(log: Sequence[str], chosen: Sequence[str], traffic: Floats) -> list[Binned]:
    """Words, first word, script and digits. Bins come from the log alone, whose queries weigh `traffic`.

    >>> from numpy import ones
    >>> found = features(["night bus", "ferry"], ["ferry 7"], ones(2))
    >>> [(one.name, one.bins, one.chosen.tolist()) for one in found][3]
    ('digits', ('none', 'some'), [1])
    """
    return [
        _words(log, chosen, traffic),
        _named("first word", log, chosen, traffic=traffic, value=_first_word),
        _named("script", log, chosen, traffic=traffic, value=script_of),
        _pair("digits", log, chosen),
    ]


def _words(log: Sequence[str], chosen: Sequence[str], traffic: Floats) -> Binned:
    """At most ten bins with equal shares of the traffic, as far as whole numbers of words allow."""
    lengths = np.array([len(text.split()) for text in log])
    order = np.argsort(lengths, kind="stable")
    below = np.cumsum(traffic[order]) / traffic.sum()
    at = np.searchsorted(below, np.arange(1, MOST_BINS) / MOST_BINS)
    edges = np.unique(lengths[order][np.minimum(at, len(order) - 1)])
    names = [_range(low, high) for low, high in zip([1, *(edges + 1)], [*edges, None], strict=True)]
    counts = np.array([len(text.split()) for text in chosen])
    return Binned("words", tuple(names), np.searchsorted(edges, lengths), np.searchsorted(edges, counts))


def _range(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return str(low) if low >= high else f"{low} to {high}"


def _named(
    name: str, log: Sequence[str], chosen: Sequence[str], *, traffic: Floats, value: Callable[[str], str]
) -> Binned:
    """The values with the most traffic, and all others in one bin."""
    values = [value(text) for text in log]
    shares: Counter[str] = Counter()
    for one, weight in zip(values, traffic.tolist(), strict=True):
        shares[one] += weight
    kept = sorted(shares, key=lambda one: (-shares[one], one))[: MOST_BINS - 1]
    place = {one: number for number, one in enumerate(kept)}
    return Binned(
        name,
        (*kept, OTHER),
        np.array([place.get(one, len(kept)) for one in values]),
        np.array([place.get(value(text), len(kept)) for text in chosen]),
    )


def _pair(name: str, log: Sequence[str], chosen: Sequence[str]) -> Binned:
    holds = [np.array([any(map(str.isdigit, text)) for text in texts], np.int64) for texts in (log, chosen)]
    return Binned(name, ("none", "some"), *holds)


def _first_word(text: str) -> str:
    return (text.lower().split() or [""])[0].strip("?!.,;:\"'()")


def script_of(text: str) -> str:
    """The script of most letters, by their Unicode names: Latin, Cyrillic, CJK.

    >>> script_of("ночной bus автобус"), script_of("42")
    ('cyrillic', 'no letters')
    """
    letters = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    if not letters:
        return "no letters"
    return min(letters, key=lambda name: (-letters[name], name)).lower()


#: Certainty and size that a told shift of one feature must have.
LEVEL, LEAST_PSI = 0.05, 0.1
#: How often a visible shift is found.
POWER = 0.8
#: The classifier sees this many queries of a side at most.
MOST_COMPARED = 600
#: Words in common, of all words of both, from which two queries are neighbours.
NEAR = 0.6
LEAST_ALIKE = 50
LEAST_QUERIES = 10


class BinShare(TypedDict):
    bin: str
    log: float
    set: float


class FeatureDrift(TypedDict):
    """One feature; p_holm: corrected for all tests of the report. shift: certain and large enough to tell."""

    feature: str
    psi: float
    js2: float
    p: float
    p_holm: float
    shift: bool
    bins: list[BinShare]


class ClassifierDrift(TypedDict):
    """How well a classifier tells set and log apart, in a number and in words. visible_auc: from which area
    on it finds four of five shifts at these sizes."""

    auc: float
    visible_auc: float
    p: float
    p_holm: float
    shift: bool
    words: str


class VectorDrift(TypedDict):
    mmd2: float
    gamma: float
    p: float
    p_holm: float
    shift: bool
    sizes: tuple[int, int]


class Covered(TypedDict):
    """Shares of the log's traffic in the set, or with a neighbour there, and of the set in the log."""

    traffic_in_set: float
    traffic_near_set: float
    set_in_log: float


class UnlikeQuery(TypedDict):
    """A query of the log, not in the set, that the classifier finds least like it (highest score)."""

    query: str
    count: float
    score: float


class LogSize(TypedDict):
    queries: int
    traffic: float


class SetSize(TypedDict):
    """effective: what the set is worth in queries of equal weight (Kish)."""

    queries: int
    weighted: bool
    effective: float


class Drift(TypedDict):
    log: LogSize
    set: SetSize
    level: float
    looks: int
    shift: bool
    covered: Covered
    features: list[FeatureDrift]
    classifier: ClassifierDrift
    mmd: VectorDrift | None
    least_alike: list[UnlikeQuery]


@dataclass(frozen=True)
class Compared:
    log: Sequence[LoggedQuery]
    texts: Sequence[str]
    weights: Floats
    is_weighted: bool


def compared(
    log: Sequence[LoggedQuery], queries: Sequence[QueryRecord], sample: Mapping[str, Sampled] | None
) -> Compared:
    """A drawn set speaks for the traffic by its design, any other by equal queries; ValueError below ten."""
    kept = [query for query in queries if sample is None or query.id in sample]
    if min(len(kept), len(log)) < LEAST_QUERIES:
        raise ValueError(
            f"The log has {len(log):,} queries and the set {len(kept):,}; "
            f"each needs {LEAST_QUERIES} to be compared."
        )
    weights = np.ones(len(kept))
    if sample is not None:
        weights = np.array([sample[query.id].size / sample[query.id].probability for query in kept])
    return Compared(log, [query.text for query in kept], weights, sample is not None)


def drift_of(
    both: Compared, vectors: tuple[Floats, Floats] | None = None, *, looks: int = 1, seed: int = 0
) -> Drift:
    """The report. Holm's correction goes over all its tests, and the level of 5 % is spent over `looks`."""
    chance = np.random.default_rng(seed)
    traffic = np.array([query.size for query in both.log], dtype=float)
    texts = [query.text for query in both.log]
    effective = float(both.weights.sum() ** 2 / (both.weights**2).sum())
    binned = [one for one in features(texts, both.texts, traffic) if len(one.bins) > 1]
    drifts = [_feature(one, both, traffic, effective=effective, chance=chance) for one in binned]
    level = LEVEL / looks
    strictest = level / (len(binned) + 1 + (vectors is not None))
    classifier, least_alike = _classifier(both, traffic, chance, level=strictest)
    tests: list[FeatureDrift | ClassifierDrift | VectorDrift] = [*drifts, classifier]
    mmd = None if vectors is None else _vectors(vectors, seed)
    tests += [] if mmd is None else [mmd]
    for one, corrected in zip(tests, holm(np.array([one["p"] for one in tests])).tolist(), strict=True):
        one["p_holm"] = corrected
        one["shift"] = corrected < level
    for feature in drifts:
        feature["shift"] &= feature["psi"] >= LEAST_PSI
    return {
        "log": {"queries": len(both.log), "traffic": float(traffic.sum())},
        "set": {"queries": len(both.texts), "weighted": both.is_weighted, "effective": effective},
        "level": level,
        "looks": looks,
        "shift": any(one["shift"] for one in tests),
        "covered": _covered(both, traffic),
        "features": drifts,
        "classifier": classifier,
        "mmd": mmd,
        "least_alike": least_alike,
    }


def _feature(
    one: Binned, both: Compared, traffic: Floats, *, effective: float, chance: np.random.Generator
) -> FeatureDrift:
    count = len(one.bins)
    log: Floats = np.bincount(one.log, weights=traffic, minlength=count).astype(np.float64)
    chosen: Floats = np.bincount(one.chosen, weights=both.weights, minlength=count).astype(np.float64)
    chosen *= effective / chosen.sum()
    # How often people repeat a query is no evidence of how the log's queries are spread.
    size = min(float(traffic.sum()), float(len(traffic)))
    scaled = log * size / log.sum()
    return {
        "feature": one.name,
        "psi": psi(scaled, chosen),
        "js2": squared_jensen_shannon(log, chosen),
        "p": psi_p(scaled, chosen, sizes=(size, effective), chance=chance),
        "p_holm": 1.0,
        "shift": False,
        "bins": [
            {"bin": name, "log": float(log[at] / log.sum()), "set": float(chosen[at] / chosen.sum())}
            for at, name in enumerate(one.bins)
        ],
    }


def _classifier(
    both: Compared, traffic: Floats, chance: np.random.Generator, *, level: float
) -> tuple[ClassifierDrift, list[UnlikeQuery]]:
    """Queries of the log, drawn by their traffic, against those of the set, drawn by their weights."""
    from_log = _sample(traffic, chance)
    from_set = _sample(both.weights, chance)
    texts = [both.log[at].text for at in from_log]
    auc, p, scores, spread = tell_apart(texts, [both.texts[at] for at in from_set], chance)
    keys = {query_key(text) for text in both.texts}
    order = np.argsort(scores[: len(texts)], kind="stable").tolist()
    strangers = [at for at in order if both.log[from_log[at]].key not in keys]
    unlike: list[UnlikeQuery] = [
        {"query": texts[at], "count": both.log[from_log[at]].size, "score": -float(scores[at])}
        for at in strangers[:LEAST_ALIKE]
    ]
    words = "hardly different" if auc < 0.6 else "partly different" if auc <= 0.75 else "clearly different"
    far = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf(POWER)
    drift: ClassifierDrift = {
        "auc": auc,
        "visible_auc": min(0.5 + far * spread, 1.0),
        "p": p,
        "p_holm": 1.0,
        "shift": False,
        "words": words,
    }
    return drift, unlike


def _sample(weights: Floats, chance: np.random.Generator) -> list[int]:
    """Places of at most `MOST_COMPARED` rows, likelier with more weight (Efraimidis, Spirakis, 2006)."""
    if len(weights) <= MOST_COMPARED:
        return list(range(len(weights)))
    keys = np.log(chance.random(len(weights))) / weights
    return sorted(np.argsort(-keys, kind="stable")[:MOST_COMPARED].tolist())


def _vectors(vectors: tuple[Floats, Floats], seed: int) -> VectorDrift:
    distance, p, gamma = mmd2(*vectors, seed=seed)
    sizes = len(vectors[0]), len(vectors[1])
    return {"mmd2": distance, "gamma": gamma, "p": p, "p_holm": 1.0, "shift": False, "sizes": sizes}


def _covered(both: Compared, traffic: Floats) -> Covered:
    keys = {query_key(text) for text in both.texts}
    logged = {query.key for query in both.log}
    within = np.array([query.key in keys for query in both.log])
    near = within | _has_neighbour([query.key for query in both.log], keys)
    return {
        "traffic_in_set": float(traffic[within].sum() / traffic.sum()),
        "traffic_near_set": float(traffic[near].sum() / traffic.sum()),
        "set_in_log": len(keys & logged) / len(keys),
    }


def _has_neighbour(log: Sequence[str], keys: set[str]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether a query of the set shares `NEAR` of its words with each query of the log (Jaccard)."""
    words_of = [frozenset(key.split()) for key in sorted(keys)]
    with_word: dict[str, list[int]] = defaultdict(list)
    for number, words in enumerate(words_of):
        for word in words:
            with_word[word].append(number)
    has_neighbour = np.zeros(len(log), bool)
    for at, key in enumerate(log):
        words = frozenset(key.split())
        # Queries that share enough have one of any few words in common: the rarest are looked up.
        few = sorted(words, key=lambda word: len(with_word.get(word, ())))
        few = few[: len(words) - math.ceil(NEAR * len(words)) + 1]
        for other in {number for word in few for number in with_word.get(word, ())}:
            shared = len(words & words_of[other])
            if shared >= NEAR * (len(words) + len(words_of[other]) - shared):
                has_neighbour[at] = True
                break
    return has_neighbour
