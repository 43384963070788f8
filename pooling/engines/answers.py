"""An engine's answer to one query: ids and scores, made of whatever it sent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pooling.engines.paths import HitPath, PathError, hits_of, shape_of, within
from pooling.engines.templates import Json


@dataclass(frozen=True)
class Hits:
    """Document ids in the engine's order, each once, and their scores.

    scores: None where a hit has none, or where they do not fall down the list, as distances do; then the
    place counts. repeated: hits left out because their document came before.
    """

    ids: Sequence[str]
    scores: Sequence[float] | None
    repeated: int = 0


@dataclass(frozen=True)
class Answer:
    """The hits of one query, and the time from sending the request to reading the last byte, in ms."""

    hits: Hits
    latency_ms: float


def hits_in(answer: Json, ids: HitPath, scores: HitPath | None, k: int) -> Hits:
    """The first `k` documents of an answer; `PathError` for a hit without a usable id."""
    hits = hits_of(answer, ids)
    pairs = [(_id_of(hit, ids, number), None if scores is None else within(hit, scores))
             for number, hit in enumerate(hits, start=1)]  # fmt: skip
    return ranked(pairs, k)


def ranked(pairs: Iterable[tuple[str, object]], k: int) -> Hits:
    """Pairs of id and score in the engine's order as hits; a document counts at its first place.

    >>> ranked([("a", 2.5), ("b", 2.5), ("a", 1)], 10)
    Hits(ids=['a', 'b'], scores=[2.5, 2.5], repeated=1)
    """
    ids: list[str] = []
    scores: list[float | None] = []
    document_ids: set[str] = set()
    repeated = 0
    for document, score in pairs:
        if document in document_ids:
            repeated += 1
        elif len(ids) < k:
            document_ids.add(document)
            ids.append(document)
            scores.append(_number(score))
    return Hits(ids, _falling(scores), repeated)


def text_of(value: object) -> str | None:
    """An id as text; None for what is none. Whole numbers become text as they are written."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _id_of(hit: Json, path: HitPath, number: int) -> str:
    document_id = text_of(within(hit, path))
    if document_id is None:
        raise PathError(f"Hit {number} has no id where the path has it; the hit is {shape_of(hit)}.")
    return document_id


def _number(score: object) -> float | None:
    if isinstance(score, bool) or score is None:
        return None
    try:
        number = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _falling(scores: Sequence[float | None]) -> list[float] | None:
    numbers = [score for score in scores if score is not None]
    if len(numbers) < len(scores) or any(after > one for one, after in pairwise(numbers)):
        return None
    return numbers
