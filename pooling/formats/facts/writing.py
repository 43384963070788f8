"""Facts and supports as other tools read them: JSON lines of our own, nuggets, TREC diversity qrels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.facts.records import AT_ONCE, PAIR, VERDICTS, FactRecord
from pooling.heavy import pl

WORDS = {weight: verdict for verdict, weight in VERDICTS.items()}


def facts_lines(facts: Iterable[FactRecord]) -> bytes:
    """`query_id, fact_id, text, importance, group`, a line for each fact."""
    return _lines(
        {
            "query_id": fact.query_id,
            "fact_id": fact.fact_id,
            "text": fact.text,
            "importance": fact.importance,
            "group": fact.group,
        }
        for fact in facts
    )


def supports_lines(supports: pl.DataFrame) -> bytes:
    """`query_id, fact_id, document_id, verdict` and perhaps `span`, a line for each row of a frame."""
    verdict = pl.format('"verdict": "{}"', in_words())
    span = pl.format(', "span": [{}, {}]', "span_start", "span_end").fill_null("")
    content = BytesIO()
    for some in supports.iter_slices(AT_ONCE):
        pairs = [pl.format(f'"{name}": {{}}, ', _as_json(some, name)) for name in PAIR]
        content.write(_text(some.select(pl.concat_str(pl.lit("{"), *pairs, verdict, span, pl.lit("}\n")))))
    return content.getvalue()


def in_words() -> pl.Expr:
    """The verdict that a frame's column `weight` stands for."""
    return pl.col("weight").replace_strict(list(WORDS), list(WORDS.values()), return_dtype=pl.String)


def _text(lines: pl.DataFrame) -> bytes:
    """The only column of a frame, a line for each row."""
    return b"".join(some.select(pl.all().str.join("")).item().encode() for some in lines.iter_slices(AT_ONCE))


def _as_json(rows: pl.DataFrame, name: str) -> pl.Expr:
    texts = rows[name].unique()
    return pl.col(name).replace_strict(texts, [json.dumps(one, ensure_ascii=False) for one in texts])


def nuggets_lines(facts: Iterable[FactRecord], queries: Mapping[str, str]) -> bytes:
    """A line for each query with its text and its facts as nuggets, which nuggetizer reads."""
    by_query: dict[str, list[dict[str, str]]] = {}
    for fact in facts:
        by_query.setdefault(fact.query_id, []).append({"text": fact.text, "importance": fact.importance})
    return _lines(
        {"qid": query, "query": queries.get(query, ""), "nuggets": nuggets}
        for query, nuggets in by_query.items()
    )


def subtopic_numbers(facts: Iterable[FactRecord]) -> dict[tuple[str, str], int]:
    """The number of each fact among those of its query, from 1: ndeval takes no other ids."""
    last: dict[str, int] = {}
    numbers = {}
    for fact in facts:
        last[fact.query_id] = last.get(fact.query_id, 0) + 1
        numbers[fact.query_id, fact.fact_id] = last[fact.query_id]
    return numbers


def diversity_lines(facts: Sequence[FactRecord], supports: pl.DataFrame) -> bytes:
    """`topic subtopic docno rel` of TREC's diversity tasks: 1 where the document supports the fact wholly, 0
    where it was judged and does not. What nobody judged is left out.

    FormatError for an id with a blank, which the format cannot hold.
    """
    judged = supports.filter(pl.col("weight").is_not_null())
    for name in ("query_id", "document_id"):
        for text in judged[name].unique():
            if text.split() != [text]:
                problem = f"the id {excerpt(text)} holds a blank, which TREC's diversity qrels cannot write"
                raise FormatError("diversity", None, problem, "Export JSON lines instead.")
    numbers = subtopic_numbers(facts)
    named = pl.DataFrame(
        [(*fact, number) for fact, number in numbers.items()],
        schema={**dict.fromkeys(PAIR[:2], pl.String), "number": pl.Int64},
        orient="row",
    )
    rows = judged.join(named, on=PAIR[:2], how="left", maintain_order="left")
    supported = (pl.col("weight") >= 1).cast(pl.Int8)
    return _text(rows.select(pl.format("{} {} {} {}\n", "query_id", "number", "document_id", supported)))


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(_encoded(records))


def _encoded(records: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    for record in records:
        yield (json.dumps(record, ensure_ascii=False) + "\n").encode()
