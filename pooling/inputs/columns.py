"""Sources with columns: frames of pandas and Polars, and all that speaks Arrow or the dataframe protocol."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pooling.formats.errors import excerpt
from pooling.formats.names import DOCUMENT, QUERY, RANK, RELEVANCE, SCORE, column_named
from pooling.heavy import np, pl
from pooling.inputs.checks import numbers, text_ids
from pooling.inputs.given import POOL, QRELS, RUN, Reading


@dataclass(frozen=True)
class Columns:
    names: Sequence[str]
    column: Callable[[str], pl.Series | Sequence[Any]]


def columns_of(source: Any) -> Columns | None:
    """The columns of a frame of any library; None for what is no frame."""
    frame = as_polars(source)
    if frame is not None:
        return Columns(frame.columns, frame.get_column)
    if hasattr(source, "reset_index") and hasattr(source, "index"):
        return _of_pandas(source)
    if hasattr(source, "__dataframe__"):
        return _through_pandas(source)
    if isinstance(source, np.ndarray) and source.dtype.names:
        table = source
        return Columns(source.dtype.names, lambda name: pl.Series(table[name].tolist()))
    if isinstance(source, Mapping) and _is_columns(source):
        columns = {str(name): values for name, values in source.items()}
        return Columns(list(columns), lambda name: list(columns[name]))
    return None


def is_frame(source: Any) -> bool:
    """A frame of any library, by its type alone."""
    return any(hasattr(type(source), name) for name in ("columns", "column_names", "__dataframe__"))


def as_polars(source: Any) -> pl.DataFrame | None:
    """A frame of what speaks Arrow or the dataframe protocol; None for others, and for pandas."""
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.Series) or hasattr(source, "reset_index"):
        return None
    if type(source).__module__.startswith("datasets") and hasattr(source, "to_polars"):
        return pl.DataFrame(source.to_polars())  # Hugging Face: with what was selected and shuffled
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return pl.DataFrame(source)
    return None


def _through_pandas(source: Any) -> Columns:
    """A frame of a library that speaks the dataframe protocol alone, read by pandas, which still does."""
    from pandas.api.interchange import from_dataframe

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _of_pandas(from_dataframe(source))


def _of_pandas(frame: Any) -> Columns:
    if hasattr(frame, "to_frame"):  # a series, whose index has the ids
        frame = frame.to_frame(name="value" if frame.name is None else frame.name)
        frame = frame.rename(columns={"value": "score"}) if "value" in frame.columns else frame
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    names = [str(name) for name in frame.columns]
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    return Columns(names, lambda name: _pandas_column(frame.iloc[:, places[name]]))


def _pandas_column(column: Any) -> pl.Series | list[Any]:
    """Column by column, because Polars' own reader of pandas frames needs pyarrow."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return pl.Series(column.to_numpy())
    return [None if gone else value for value, gone in zip(column.to_list(), column.isna(), strict=True)]


def _is_columns(source: Mapping[Any, Any]) -> bool:
    """A dict of columns: it has both ids under names of columns, and as many of each."""
    if not all(isinstance(name, str) for name in source):
        return False
    query, document = column_named(source, QUERY), column_named(source, DOCUMENT)
    columns = [source[name] for name in (query, document) if name is not None]
    is_list = [
        hasattr(one, "__len__") and not isinstance(one, str | Mapping | set | frozenset) for one in columns
    ]
    return len(columns) == 2 and all(is_list) and len(columns[0]) == len(columns[1])


def frame_of_columns(columns: Columns, reading: Reading) -> pl.DataFrame:
    """query_id, document_id, value and rank, as far as the kind and the columns have them."""
    query, document = column_named(columns.names, QUERY), column_named(columns.names, DOCUMENT)
    value = column_named(columns.names, SCORE if reading.kind == RUN else RELEVANCE)
    rank = column_named(columns.names, RANK) if reading.kind == RUN else None
    needed = {"query_id": query, "document_id": document}
    if reading.kind != POOL:
        needed["relevance" if reading.kind == QRELS else "score"] = value or rank
    absent = [name for name, column in needed.items() if column is None]
    if query is None or document is None or absent:
        has = f"it has {excerpt(', '.join(columns.names), 80)}" if columns.names else "it has none"
        raise reading.error(
            f"has no column {', '.join(absent)}: {has}, and needs {', '.join(reading.columns)}."
        )
    pairs = pl.DataFrame(
        {
            "query_id": text_ids(columns.column(query), "query", reading),
            "document_id": text_ids(columns.column(document), "document", reading),
        }
    )
    if reading.kind == POOL:
        return pairs
    if value is None and rank is not None:
        ranks = numbers(columns.column(rank), pairs, reading)
        return pairs.with_columns(value=-ranks, rank=ranks)
    values = numbers(columns.column(value or ""), pairs, reading)
    frame = pairs.with_columns(values.alias("value"))
    if rank is not None:
        frame = frame.with_columns(rank=pl.Series(columns.column(rank)))
    return frame
