"""A query's next documents by their keys, by the rules of `pooling/ranking/selection.py`; no Django."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pooling.heavy import np
from pooling.ranking.bounds import Remainder
from pooling.ranking.frame import frame_order
from pooling.ranking.sample import sampling_order
from pooling.ranking.selection import Standing, next_batches
from pooling.strategies import Candidates, candidates_of_query, strategy_named
from pooling.strategies.prior import with_prior


@dataclass(frozen=True)
class Entry:
    """A document by its keys, who found it where; is_beyond: drawn only, never reached by the order."""

    document: int
    document_id: str
    rrf: float
    found_by: Sequence[Sequence[int]]
    is_beyond: bool = False


@dataclass(frozen=True)
class Course:
    """A query's strategy, seeds and audit share; size: documents the audit draws from, None for the pool."""

    query_id: str
    strategy: str
    runs: int
    depth: int
    seed: int
    audit_seed: int
    audit_share: float
    frame_size: int | None = None


@dataclass(frozen=True)
class Prior:
    """Scores that a strategy starts from, by document, and as how many runs they count in every query."""

    scores: Mapping[int, float]
    votes: int


@dataclass(frozen=True)
class History:
    """reached, audit: documents of the batches begun; audit: those of the draw that estimates rest on.

    spent: documents handed out. free: those whose judging costs nothing. labels: the documents with a label;
    only those of reached documents are looked at, except by `remainder`. used_up: earlier draws, whose labels
    have been looked at, so that they are known like reached ones.
    """

    reached: Collection[int]
    audit: Collection[int]
    spent: int
    free: Collection[int]
    labels: Mapping[int, bool]
    used_up: Collection[int] = field(default=())


@dataclass(frozen=True)
class Planned:
    """A batch to come: what is handed out with it, what the greedy part comes to, what joins the audit."""

    handed: list[int]
    reached: list[int]
    joined: list[int]


class Planner:
    """The pool of one query with its strategy and its audit order."""

    def __init__(
        self, course: Course, entries: Sequence[Entry], lessons: bytes = b"", prior: Prior | None = None
    ) -> None:
        """lessons: what the other queries teach, summed, as float64; under a prior with the same votes."""
        self.course = course
        pooled = [entry for entry in entries if not entry.is_beyond]
        beyond = [entry for entry in entries if entry.is_beyond]
        self.keys = {entry.document_id: entry.document for entry in pooled}
        finds = [(entry.document_id, entry.rrf, entry.found_by) for entry in pooled]
        self.one: Candidates = candidates_of_query(
            course.query_id, finds, runs=course.runs, depth=course.depth
        )
        if prior is not None:
            scores = {name: prior.scores[key] for name, key in self.keys.items() if key in prior.scores}
            self.one = with_prior(self.one, scores, votes=prior.votes)
        self.documents = [self.keys[document] for document in self.one.documents]
        self.documents += [entry.document for entry in beyond]
        self.number = {document: number for number, document in enumerate(self.documents)}
        self.pooled = len(pooled)
        names = [*self.one.documents, *(entry.document_id for entry in beyond)]
        self.audit_order = audit_order(course, names, self.pooled)
        self.hidden = hidden(course, names)
        greedy = strategy_named(course.strategy).greedy
        self.strategy = greedy({course.query_id: self.one}, seed=course.seed)
        if lessons:
            self.strategy.heed(np.frombuffer(lessons, dtype=np.float64))

    def tell(self, history: History) -> None:
        """Tell the strategy the labels of the documents it has reached, in the order of reaching."""
        for document in [*history.reached, *history.used_up]:
            if document in history.labels and self.number.get(document, self.pooled) < self.pooled:
                self.strategy.tell_number(self.one, self.number[document], history.labels[document])

    def lesson(self) -> bytes:
        """The labels' lesson for other queries, as float64; empty where there is none."""
        lesson = self.strategy.lesson(self.one)
        return b"" if lesson is None else lesson.tobytes()

    def batches(self, history: History, budget: int, size: int) -> list[Planned]:
        """The batches that follow, of `size` documents; `tell` comes first."""
        is_open = ~self._mask([*history.reached, *history.used_up])
        is_open = is_open[: self.pooled]
        order = self.strategy.pick(self.one, is_open, int(is_open.sum()))
        standing = Standing(
            reached=self._mask([*history.reached, *history.used_up]),
            in_audit=self._mask(history.audit),
            free=self._mask(history.free),
            spent=history.spent,
            hidden=self.hidden,
        )
        batches = next_batches(
            order, self.audit_order, standing, budget=budget, audit_share=self.course.audit_share, size=size
        )
        return [
            Planned(self._documents(one.handed), self._documents(one.reached), self._documents(one.joined))
            for one in batches
        ]

    def next_audit(self, history: History, count: int) -> list[int]:
        """The next `count` documents of the audit order that neither greedy part nor audit has reached."""
        taken = {*history.reached, *history.audit, *history.used_up}
        return [document for document in self._documents(self.audit_order) if document not in taken][:count]

    def remainder(self, history: History, unanswered: Collection[int]) -> Remainder:
        """The rest beyond the greedy part, and the audit's finds in it: documents not reached, and of those
        the beginning of the audit order that is judged; what nobody could judge counts as relevant.

        unanswered: documents that were handed out and nobody could judge.
        """
        settled = {*history.reached, *history.used_up}
        size, sampled, relevant = len(self.documents) - len(settled) + self.hidden, 0, 0
        for document in history.audit:
            if document in settled:
                continue
            if document not in history.labels and document not in unanswered:
                break
            sampled += 1
            relevant += history.labels.get(document, True)
        return Remainder(size, sampled, relevant)

    def _mask(self, documents: Collection[int]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        mask = np.zeros(len(self.documents), dtype=bool)
        mask[[self.number[document] for document in documents if document in self.number]] = True
        return mask

    def _documents(self, numbers: Sequence[int]) -> list[int]:
        return [self.documents[number] for number in numbers]


def summed(lessons: bytes, less: bytes = b"", more: bytes = b"") -> bytes:
    """Lessons with some taken out and others put in; empty ones count as nothing."""
    parts = [(1, lessons), (-1, less), (1, more)]
    arrays = [sign * np.frombuffer(part, dtype=np.float64) for sign, part in parts if part]
    return np.sum(arrays, axis=0).tobytes() if arrays else b""


def audit_order(course: Course, names: Sequence[str], pooled: int) -> list[int]:
    """Numbers in `names` of the documents as drawn, the first `pooled` being the pool; as far as known."""
    if course.frame_size is None:
        # Strings by code points are in the order of their bytes.
        bytewise = sorted(range(len(names)), key=names.__getitem__)
        document_order: list[int] = sampling_order(
            course.query_id, np.array(bytewise, dtype=np.int64), course.audit_seed
        ).tolist()
        return document_order
    order: list[int] = frame_order(course.query_id, names, course.audit_seed).tolist()
    if len(names) >= course.frame_size:
        return order
    last = max((place for place, number in enumerate(order) if number >= pooled), default=-1)
    return order[: last + 1]


def hidden(course: Course, names: Sequence[str]) -> int:
    """Documents of the frame that nobody can come to draw: the audit speaks for them all the same."""
    return max(0, (course.frame_size or 0) - len(names))


def handed_in_all(course: Course, entries: Sequence[Entry], history: History, budget: int) -> int:
    """Documents that a query hands out until `budget` or its end; entries: its pool, then from beyond."""
    pooled = sum(not entry.is_beyond for entry in entries)
    names, keys = [entry.document_id for entry in entries], [entry.document for entry in entries]
    free = np.isin(keys, list(history.free))
    if budget <= int(np.sum(~free[:pooled])):
        return budget
    reached = np.isin(keys, list(history.reached))
    standing = Standing(
        reached, np.isin(keys, list(history.audit)), free, history.spent, hidden(course, names)
    )
    order = np.flatnonzero(~reached[:pooled]).tolist()
    batches = next_batches(
        order, audit_order(course, names, pooled), standing, budget=budget, audit_share=course.audit_share
    )
    return sum(len(batch.handed) for batch in batches)
