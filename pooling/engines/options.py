from __future__ import annotations

from dataclasses import dataclass

from pooling.engines.templates import origin_of
from pooling.options import setting

DEEPEST, MOST_AT_ONCE, LONGEST_TIME_OUT, MOST_HOURS = 1000, 8, 60, 24 * 365


@dataclass(frozen=True)
class EngineSettings:
    """An engine at an address, or a statement for a database. Holds no key."""

    address: str = setting(
        "", "Address", "Such as https://search.example.org/docs/_search. {{query}} and {{k}} can be in it."
    )
    body: str = setting(
        "",
        "Request",
        "JSON, sent by POST, with {{query}}, {{k}}, and {{vector}} where the queries have vectors. "
        "Empty: a GET of the address.",
    )
    id_path: str = setting(
        "", "Path of the ids", "Where the answer has the document ids, such as hits.hits[*]._id."
    )
    score_path: str = setting("", "Path of the scores", "Empty: documents count by their place.")
    key_header: str = setting(
        "Authorization: Bearer",
        "Header of the key",
        "Such as Authorization: Bearer, Authorization: ApiKey or api-key.",
    )
    database: str = setting("", "Database", "One that the site's settings name (SOUNDINGS_SEARCH_DATABASES).")
    statement: str = setting(
        "",
        "Query",
        "SQL that selects id and score, with {{query}} and {{k}} as bound values, such as SELECT id, "
        "ts_rank(words, q) FROM docs, websearch_to_tsquery({{query}}) q WHERE words @@ q ORDER BY 2 DESC "
        "LIMIT {{k}}.",
    )
    depth: int = setting(
        100,
        "Documents per query",
        "Also {{k}}.",
        int,
        minimum=1,
        maximum=DEEPEST,
        refusal=f"An engine is asked for 1 to {DEEPEST:,} documents per query.",
    )
    concurrency: int = setting(
        2,
        "Requests at a time",
        "",
        int,
        minimum=1,
        maximum=MOST_AT_ONCE,
        refusal=f"From 1 to {MOST_AT_ONCE} requests can be sent at a time.",
    )
    per_second: float | None = setting(
        None,
        "Requests per second at most",
        "",
        float,
        empty="no limit",
        minimum=0.01,
        maximum=1000,
        refusal="The limit is from 0.01 to 1,000 requests per second.",
    )
    time_out: float = setting(
        10.0,
        "Seconds for an answer",
        "",
        float,
        minimum=0.1,
        maximum=LONGEST_TIME_OUT,
        refusal=f"An answer may take from 0.1 to {LONGEST_TIME_OUT} seconds.",
    )
    every_hours: int | None = setting(
        None,
        "Ask again every … hours",
        "By itself, for the canaries: each answer is stored as a run.",
        int,
        empty="never",
        minimum=1,
        maximum=MOST_HOURS,
        refusal=f"The interval is from 1 to {MOST_HOURS:,} hours.",
    )

    @property
    def is_sql(self) -> bool:
        return bool(self.statement)

    @property
    def origin(self) -> str:
        """The receiver of a key; empty for a database."""
        return origin_of(self.address) if self.address else ""
