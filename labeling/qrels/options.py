"""Options of another tool's format, apart from the labels, declared once."""

from __future__ import annotations

from dataclasses import dataclass

from pooling.options import options_of, setting


@dataclass(frozen=True)
class ExportOptions:
    index: str | None = setting(
        None, "Index", "Where the documents are: the name of the index, not an alias.", metavar="NAME"
    )
    request: str | None = setting(
        None,
        "Search request",
        "In JSON, with {{query}} for the text of the query, such as "
        '{"query": {"match": {"text": "{{query}}"}}}.',
        empty="all fields that the index searches by default",
        metavar="JSON",
    )
    min_relevance: int = setting(
        1, "Relevant from", "The least label that counts as relevant.", int, minimum=1, metavar="N"
    )
    run: str | None = setting(None, "Run", "Whose first K documents are given as retrieved.", metavar="NAME")
    k: int = setting(
        10, "K", "How many documents of each query are looked at.", int, minimum=1, maximum=10_000
    )


OPTIONS = options_of(ExportOptions)
