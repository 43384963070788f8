"""JSON: {query: {document: number}} as ranx has it, ranked lists, and arrays of records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pooling.formats.answers import (
    is_rank_eval,
    lists_of_predictions,
    lists_of_rank_eval,
    lists_of_retrieval_dicts,
    other_tool,
)
from pooling.formats.bytes.nesting import loads, problem_of
from pooling.formats.errors import FormatError, excerpt
from pooling.formats.judgments.elements import first_sign, json_elements
from pooling.formats.names import HIT_ID, HIT_SCORE, LISTS, QUERY, RELEVANCE, column_named
from pooling.formats.registry import Format, Record, Target
from pooling.formats.rows import Row, checked_id
from pooling.formats.sources import Source
from pooling.formats.tables import Roles
from pooling.formats.values import BadValueError, parse_relevance, parse_score
from pooling.heavy import pl

SHAPES = "Write {query: {document: number}}, or {query: [document, …]} with the best first."


def pairs_in(entries: Any, kind: str) -> list[tuple[Any, Any]]:
    """(document, number) of each entry of a list, in order. Without numbers a document of a run has -rank,
    and one of qrels is relevant.

    BadValueError for anything else, and where only some entries have a number.
    """
    if not isinstance(entries, list | tuple):
        raise BadValueError("neither an object nor a list", SHAPES)
    pairs = [_pair(entry, kind) for entry in entries]
    missing = sum(number is None for _, number in pairs)
    if missing and missing == len(pairs):
        return [(document, -rank if kind == "run" else 1) for rank, (document, _) in enumerate(pairs, 1)]
    if missing:
        raise BadValueError(f"{missing:,} of {len(pairs):,} entries have no number", "Give all of them one.")
    return pairs


def _pair(entry: Any, kind: str) -> tuple[Any, Any]:
    if isinstance(entry, Mapping):
        names = [name for name in entry if isinstance(name, str)]
        document = column_named(names, HIT_ID)
        number = column_named(names, HIT_SCORE if kind == "run" else (*RELEVANCE, "_score"))
        if document is None:
            raise BadValueError(
                f"an entry without an id among {excerpt(', '.join(names), 80)}", "Name it _id."
            )
        return entry[document], None if number is None else entry[number]
    if isinstance(entry, list | tuple):
        if len(entry) != 2:
            raise BadValueError(f"{excerpt(entry)} is no pair of id and number", SHAPES)
        return entry[0], entry[1]
    return entry, None


def list_of_record(record: Mapping[str, Any]) -> tuple[Any, Sequence[Any]] | None:
    """The query and the ranked list of a record that has both, such as {"query_id": …, "results": […]}."""
    query, results = column_named(record, QUERY), column_named(record, LISTS)
    if query is None or results is None or not isinstance(record[results], list):
        return None
    return record[query], record[results]


#: Bytes of one JSON object from elsewhere that is a whole run (16 MiB). In memory it takes 25 times as many.
MAX_JSON_BYTES = 16 * 2**20


def json_rows(source: Source, kind: str) -> Iterator[Row]:
    """Rows of an object {query: {document: number}} or {query: [document, …]}, or of an array of records."""
    if first_sign(source) == "[":
        for line, record in array_records(source):
            yield from rows_of_record(source, line, record, kind)
        return
    try:
        lists = lists_inside(json_object_of(source), kind)
    except BadValueError as bad:
        raise source.error(None, bad.problem, bad.remedy) from bad
    for query, entries in lists.items():
        yield from rows_of_list(source, 0, query, entries, kind=kind)


def rows_of_record(source: Source, line: int, record: dict[str, Any], kind: str) -> Iterator[Row]:
    """The row that a record is, or those of the ranked list that it holds."""
    if entries := list_of_record(record):
        yield from rows_of_list(source, line, *entries, kind=kind)
    else:
        yield Roles(source, line, record, kind).row(line, record)


def rows_of_list(source: Source, line: int, query: Any, entries: Any, *, kind: str) -> Iterator[Row]:
    """The rows of what a query holds: an object of documents and numbers, or a ranked list."""
    parse: Callable[[str], float] = parse_score if kind == "run" else parse_relevance
    is_list = not isinstance(entries, dict)
    try:
        pairs = pairs_in(entries, kind) if is_list else entries.items()
    except BadValueError as bad:
        raise source.error(line or None, f"query {excerpt(query)}: {bad.problem}", bad.remedy) from bad
    for rank, (document, number) in enumerate(pairs, start=1):
        try:
            value = parse(json_number(number))
        except BadValueError as bad:
            pair = f"query {excerpt(query)}, document {excerpt(document)}: {bad.problem}"
            raise source.error(line or None, pair, bad.remedy) from bad
        yield Row(
            checked_id(source, line, "query", query),
            checked_id(source, line, "document", document),
            value,
            rank if is_list else None,
            line,
        )


def lists_inside(content: Mapping[Any, Any], kind: str) -> Mapping[Any, Any]:
    """Of predictions of MTEB, retrieval dicts and answers of `_rank_eval` the lists by query; others as they
    are.

    BadValueError where they are of another shape, or for another tool. Only of an answer a list is a tuple,
    of pairs in order.
    """
    if other := other_tool(content, kind):
        raise BadValueError(*other)
    if is_rank_eval(content):
        return lists_of_rank_eval(content, kind)
    return lists_of_retrieval_dicts(lists_of_predictions(content), kind)


def json_number(value: Any) -> str:
    """A number as text, which some programs write in the place of the number."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValueError(f"{excerpt(value)} is not a number", "Write {query: {document: number}}.")
    return repr(value)


def _json_text(source: Source) -> str:
    """The whole text, which a file of JSON may have on one line."""
    blocks, total = [], 0
    for block in source.blocks():
        blocks.append(block)
        total += len(block)
        if source.max_bytes is not None and total > MAX_JSON_BYTES:
            problem = f"one JSON object of more than {MAX_JSON_BYTES:,} bytes"
            raise source.error(None, problem, "Write JSON lines (.jsonl) or TREC text.")
    numbered = enumerate(b"".join(blocks).split(b"\n"), start=1)
    return "\n".join(source.decoded(number, line.removesuffix(b"\r")) for number, line in numbered)


def json_object_of(source: Source) -> dict[str, Any]:
    content = _json_text(source)
    if content.lstrip().startswith("<"):
        raise source.error(1, "this is HTML or XML, not JSON", "Save the answer itself, not a page.")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise source.error(
                None, f"the key {excerpt(twice)} comes twice in one object", "Keep one of the two."
            )
        return members

    try:
        value = loads(content, object_pairs_hook=unique)
    except FormatError:
        raise
    except ValueError as error:
        line = getattr(error, "lineno", None)
        problem = problem_of(error, "Write {query: {document: number}}.")
        raise source.error(line, *problem) from error
    if not isinstance(value, dict):
        raise source.error(None, "not a JSON object", "Write {query: {document: number}}.")
    return value


def ranx_text(frame: pl.DataFrame, target: Target) -> str:
    value = "score" if "score" in frame.columns else "relevance"
    nested: dict[str, dict[str, float]] = {}
    for query, document, number in frame.select("query_id", "document_id", value).iter_rows():
        nested.setdefault(query, {})[document] = number
    return json.dumps(nested, ensure_ascii=False, allow_nan=False)


def array_records(source: Source, member: str | None = None) -> Iterator[Record]:
    for line, element in json_elements(source, member):
        if not isinstance(element, dict):
            raise source.error(line, "an element that is not an object", "Write [{…}, {…}].")
        yield line, element


FORMATS = (
    Format(
        name="json",
        title="ranx JSON",
        suffix=".json",
        media_type="application/json",
        suffixes=(".json",),
        rows=json_rows,
        records=array_records,
        writers={"run": ranx_text, "qrels": ranx_text},
    ),
)
