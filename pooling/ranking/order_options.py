"""Rules for equal scores, and the precision in which scores are compared; loads nothing heavy."""

from __future__ import annotations

from typing import Literal

Ties = Literal["docid", "docid-asc", "file", "rank"]
Scores = Literal["float64", "float32"]

#: The names, and how a form shows them.
TIES: dict[str, str] = {
    "docid": "document id, falling (as trec_eval)",
    "docid-asc": "document id, rising",
    "file": "order of the file",
    "rank": "the file's rank",
}
SCORES: dict[str, str] = {"float64": "double", "float32": "single (as trec_eval 9)"}
