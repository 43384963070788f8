"""The rule that made documents of chunks, as results and rows keep it. Loads nothing heavy."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class ChunksRule(TypedDict):
    """The rule that made documents of chunks, as results keep it: a separator or a file of chunks and
    documents.

    `score` is which chunk's score a document has, `words` the rule as it is shown next to a number.
    """

    score: str
    separator: NotRequired[str | None]
    file: NotRequired[str]
    words: str
