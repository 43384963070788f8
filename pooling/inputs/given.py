"""Sources of programs, with the names that they lack; and one sentence for what cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pooling.formats.errors import excerpt

#: A path, a frame, a dict, a list, or an object of another library: see `pooling.inputs.reading`.
Source: TypeAlias = Any
#: The same, or a function that returns a frame when its turn comes.
RunSource: TypeAlias = Any
#: Name -> run, a list or a set of paths, or one run.
Runs: TypeAlias = Any

COLLAPSES = ("best",)
RUN, QRELS, POOL = "run", "qrels", "pool"
VALUES = {RUN: "score", QRELS: "relevance"}
# Sentences are written about a run; qrels are many.
_OF_MANY = {"has": "have", "is": "are", "holds": "hold", "does": "do"}


@dataclass(frozen=True)
class Keys:
    """Names that a source lacks.

    - `id_key`: the key of a document's metadata that holds its id, or a function of the document.
    - `collapse`: `best`, where several passages of a document are in one list: the best one counts.
    - `query_ids`: the ids of the queries, in the order of the lists or of the rows of an array.
    - `document_ids`: the ids that whole numbers of documents stand for; a list, or a dict by number.
    """

    id_key: str | Callable[[Any], Any] | None = None
    collapse: str | None = None
    query_ids: Iterable[Any] | None = None
    document_ids: Sequence[Any] | Mapping[Any, Any] | None = None

    def __post_init__(self) -> None:
        if self.collapse is not None and self.collapse not in COLLAPSES:
            raise ValueError(f"There is no collapse {self.collapse!r}; leave it out or write 'best'.")
        for name in ("query_ids", "document_ids"):
            ids = getattr(self, name)
            if isinstance(ids, str | bytes) or (ids is not None and not isinstance(ids, Iterable)):
                raise ValueError(f"{name} is {excerpt(ids)}; give a list of ids.")
            if ids is not None and not isinstance(ids, Mapping):
                object.__setattr__(self, name, list(ids))
        if isinstance(self.query_ids, Mapping):  # queries as {id: text}
            object.__setattr__(self, "query_ids", list(self.query_ids))

    @property
    def words(self) -> str:
        """The convention of a collapse, as it is shown next to a number."""
        how = f"id from {self.id_key!r}" if isinstance(self.id_key, str) else "by id"
        return f"best passage per document ({how})"


def is_unusual(path: Path | str) -> bool:
    """`pooling.inputs.stored` reads it: a folder, or LZ4."""
    return Path(path).is_dir() or Path(path).suffix.lower() == ".lz4"


@dataclass(frozen=True)
class KeyedSource:
    source: Source
    keys: Keys = field(default_factory=Keys)


@dataclass(frozen=True)
class Reading:
    """One source being read: `what` messages call it, whether it is a `run`, `qrels` or a `pool`, the names
    that it lacks, and where notes for people go."""

    what: str
    kind: str
    keys: Keys
    notes: list[str]

    @property
    def columns(self) -> tuple[str, ...]:
        value = VALUES.get(self.kind)
        return ("query_id", "document_id", *((value,) if value else ()))

    def error(self, problem: str) -> ValueError:
        return ValueError(self._sentence(problem))

    def note(self, sentence: str) -> None:
        line = self._sentence(sentence)
        if line not in self.notes:  # a run may be read again
            self.notes.append(line)

    def _sentence(self, predicate: str) -> str:
        verb, rest = predicate.split(" ", 1)
        return f"{self.what} {_OF_MANY.get(verb, verb) if self.kind == QRELS else verb} {rest}"

    def unreadable(self, source: object) -> ValueError:
        value = VALUES.get(self.kind)
        pair = f"{{query: {{document: {value}}}}}" if value else "{query: [document, ...]}"
        return self.error(
            f"is {described(source)}, which cannot be read. Give a path, a frame with the columns "
            f"{', '.join(self.columns)}, or a dict {pair}."
        )


def described(source: object) -> str:
    """An object in a sentence: its type, and its text where that is short."""
    kind = type(source)
    name = (
        kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.split('.')[0]}.{kind.__name__}"
    )
    article = "an" if name[0].lower() in "aeiou" else "a"
    if source is None:
        return "None"
    if isinstance(source, str | int | float | bool):
        return f"{article} {name}, {excerpt(source)}"
    return f"{article} {name}"
