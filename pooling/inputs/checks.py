"""Rules for every source: ids that are text, values that are numbers, no pair twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any
from uuid import UUID

from pooling.formats.errors import excerpt
from pooling.formats.values import INT32
from pooling.formats.wording import counted
from pooling.heavy import np, pl
from pooling.inputs.given import POOL, QRELS, RUN, VALUES, Reading

PAIR = ["query_id", "document_id"]


def text_ids(values: pl.Series | Sequence[Any], of: str, reading: Reading) -> pl.Series:
    """Ids of `of` (`query` or `document`) as text; whole numbers are written out, with a note."""
    if not isinstance(values, pl.Series):
        values = _series_of_ids(values, of, reading)
    dtype = values.dtype if len(values) else pl.String()
    if dtype.is_integer():
        reading.note(f"has whole numbers as {of} ids; they are read as text.")
    elif isinstance(dtype, pl.Object | pl.List):
        return text_ids(values.to_list(), of, reading)
    elif not isinstance(dtype, pl.String | pl.Categorical | pl.Enum | pl.Null):
        raise reading.error(f"has {of} ids of the type {dtype}. Write ids as text, for instance with str().")
    text = values.cast(pl.String)
    if text.null_count() or bool((text == "").any()):
        raise reading.error(f"has an empty {of} id. Fill or remove it.")
    return text


def _series_of_ids(values: Sequence[Any], of: str, reading: Reading) -> pl.Series:
    kinds = set(map(type, values))
    if kinds <= {str}:
        return _as_text(values, of, reading)
    if kinds <= {int}:
        reading.note(f"has whole numbers as {of} ids; they are read as text.")
        return pl.Series([str(value) for value in values], dtype=pl.String)
    return _as_text([_text_of(value, of, reading) for value in values], of, reading)


def _as_text(values: Sequence[str], of: str, reading: Reading) -> pl.Series:
    try:
        return pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError:
        raise reading.error(f"has a {of} id with half a character. Fix the program that wrote it.") from None


def _text_of(value: Any, of: str, reading: Reading) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        reading.note(f"has whole numbers as {of} ids; they are read as text.")
        return str(int(value))
    if value is None or value != value:  # NaN, which stands for nothing in pandas
        raise reading.error(f"has an empty {of} id. Fill or remove it.")
    raise reading.error(
        f"has the {of} id {excerpt(repr(value))} of the type {type(value).__name__}. Write ids as text."
    )


def numbers(values: pl.Series | Sequence[Any], pairs: pl.DataFrame, reading: Reading) -> pl.Series:
    """The scores or relevances of `pairs` as float64."""
    series = values if isinstance(values, pl.Series) else _series_of_numbers(values, pairs, reading)
    if series.dtype == pl.Boolean and reading.kind == RUN:
        raise reading.error("has true and false as scores; scores are numbers.")
    if series.dtype.is_numeric() or series.dtype == pl.Boolean:
        return series.cast(pl.Float64)
    if series.dtype == pl.String:
        typed = series.cast(pl.Float64, strict=False)
        wrong = typed.is_null() & series.is_not_null()
        if bool(wrong.any()):
            raise _no_number(series.to_list(), int(wrong.arg_max() or 0), pairs, reading)
        return typed
    return _series_of_numbers(series.to_list(), pairs, reading)


def _series_of_numbers(values: Sequence[Any], pairs: pl.DataFrame, reading: Reading) -> pl.Series:
    kinds = set(map(type, values))
    if kinds <= {int, float, type(None)} or (kinds == {bool} and reading.kind == QRELS):
        return pl.Series(values, dtype=pl.Float64, strict=False)
    floats = []
    for place, value in enumerate(values):
        if not _is_number(value, reading.kind):
            raise _no_number(values, place, pairs, reading)
        floats.append(None if value is None else float(value))
    return pl.Series(floats, dtype=pl.Float64)


def _is_number(value: Any, kind: str) -> bool:
    if value is None:
        return True
    if isinstance(value, bool | np.bool_):
        return kind == QRELS
    if isinstance(value, Mapping | set | frozenset | bytes | complex):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _no_number(values: Sequence[Any], place: int, pairs: pl.DataFrame, reading: Reading) -> ValueError:
    query, document = pairs.row(place)[:2]
    value, name = values[place], VALUES[reading.kind]
    if isinstance(value, Mapping | list | tuple | set):
        return reading.error(
            f"is nested too deep: at {excerpt(query)}, {excerpt(document)} is {excerpt(repr(value))} "
            f"instead of a {name}. Give {{query: {{document: {name}}}}}."
        )
    return reading.error(
        f"has the {name} {excerpt(repr(value))} for query {excerpt(query)} and document {excerpt(document)}, "
        "which is not a number. Write a number."
    )


def checked(frame: pl.DataFrame, reading: Reading, *, may_be_empty: bool = False) -> pl.DataFrame:
    """The frame with every pair once; ValueError where a rule is broken."""
    if not frame.height and not may_be_empty:
        raise reading.error("is empty.")
    if reading.kind != POOL:
        refuse_odd_values(frame, reading)
    return each_pair_once(frame, reading)


def checked_run(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """query_id, document_id and score, every rule checked."""
    return checked(frame, reading).select(*PAIR, pl.col("value").alias("score"))


def refuse_odd_values(frame: pl.DataFrame, reading: Reading) -> None:
    """ValueError for a score that is not finite, and for a relevance that is no whole number."""
    value = frame["value"]
    if value.null_count():
        raise reading.error(f"has empty values; every row needs {', '.join(reading.columns)}.")
    if reading.kind == RUN and not bool(value.is_finite().all()):
        query, document, odd = frame.filter(~value.is_finite()).select(*PAIR, "value").row(0)
        raise reading.error(
            f"has the score {odd} for query {excerpt(query)} and document {excerpt(document)}: it is "
            "missing, NaN or infinite. Remove the row or fix what wrote it."
        )
    if reading.kind == QRELS:
        wrong = (value != value.round(0)) | ~value.is_finite() | (value.abs() >= INT32)
        if bool(wrong.any()):
            query, document, odd = frame.filter(wrong).select(*PAIR, "value").row(0)
            raise reading.error(
                f"has the relevance {odd:g} for query {excerpt(query)} and document {excerpt(document)}; a "
                "relevance is a whole number. Choose a threshold (relevance >= 0.5) or a scale "
                "(round(3 * relevance))."
            )


def each_pair_once(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The frame with every pair once: the best row of each if `collapse` says so, else ValueError."""
    # Equal pairs have equal hashes: only when two are equal is the slow exact test worth its time.
    keys = np.sort((frame["document_id"].hash(0) ^ frame["query_id"].hash(1)).to_numpy())
    repeated = bool((keys[1:] == keys[:-1]).any())
    if reading.keys.collapse and reading.kind != POOL:
        return _collapsed(frame, reading)
    if not repeated:
        return frame
    pairs = frame.select(PAIR)
    twice = pairs.filter(pairs.is_duplicated())
    if not twice.height:
        return frame
    if reading.kind == POOL:
        return frame.unique(PAIR, maintain_order=True)
    query, document = twice.row(0)
    remedy = "keep one row" + (", or collapse='best' if these are passages" if reading.kind == RUN else "")
    raise reading.error(f"holds document {document} of query {query} more than once; {remedy}.")


def _collapsed(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    best = frame.sort("value", descending=True, maintain_order=True).unique(
        PAIR, keep="first", maintain_order=True
    )
    if best.height == frame.height:
        return frame
    lengths = best.group_by("query_id").len()["len"].to_list()
    reading.note(
        f"has {counted(frame.height, 'passage')} of {counted(best.height, 'document')}; the best passage of "
        f"each counts, which leaves {min(lengths):,} to {max(lengths):,} documents for a query."
    )
    return best


def refuse_merged_queries(keys: Sequence[Any], reading: Reading) -> None:
    """ValueError where two queries of a dict have one id once they are text, such as 1 and '1'."""
    if all(type(key) is str for key in keys):
        return
    seen: dict[str, Any] = {}
    for key in keys:
        text = str(key)
        if text in seen:
            raise reading.error(
                f"has the query ids {seen[text]!r} and {key!r}, which are the same as text. Rename one."
            )
        seen[text] = key
