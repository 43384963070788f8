"""How chunks became documents, as results and rows keep it. Loads nothing heavy."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ChunksRule(TypedDict):
    """How chunks became documents, as results keep it: by a separator or a file of chunks and documents.

    `score` is which chunk's score a document has, `words` the rule as it is shown next to a number.
    """

    score: str
    separator: NotRequired[str | None]
    file: NotRequired[str]
    words: str
