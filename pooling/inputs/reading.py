"""Runs, labels and pools from whatever a program has, as frames.

- a path: any format of the guide, a folder of BEIR or Hugging Face, LZ4 of ranx
- a frame of pandas or Polars, or what speaks Arrow or the dataframe protocol, under the names that files may
  use for columns (`pooling.formats.tables`), ids in the index too
- {query: {document: number}}, {query: [document, ...]}, {query: [(document, score), ...]}; as labels also
  {query: {document, ...}}
- rows with a query's id: named tuples of ir_measures, dicts, (query, document, number)
- documents of LangChain, LlamaIndex and Haystack, hits of sentence-transformers, in lists by query
- arrays with a row for each query, as bm25s and FAISS return them, with `query_ids` and `document_ids`
- a Run or Qrels of ranx, predictions of MTEB, an answer of `_rank_eval`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from itertools import chain
from pathlib import Path
from typing import Any

from pooling.formats import read_qrels, read_run
from pooling.formats.answers import is_rank_eval
from pooling.formats.names import DOCUMENT, QUERY, column_named
from pooling.formats.pools import COLUMNS, pool_of
from pooling.formats.records import records_source
from pooling.formats.registry import named_file
from pooling.formats.rows import checked_id
from pooling.formats.sources import Source as File
from pooling.heavy import pl
from pooling.inputs.checks import checked
from pooling.inputs.columns import as_polars, columns_of, frame_of_columns, is_frame
from pooling.inputs.given import (
    POOL,
    QRELS,
    RUN,
    KeyedSource,
    Keys,
    Reading,
    Runs,
    RunSource,
    Source,
    described,
    is_unusual,
)
from pooling.inputs.hits import inside, names_query
from pooling.inputs.lists import arrays_in, frame_of_arrays, frame_of_dict, frame_of_list
from pooling.inputs.stored import read_unusual

# What retrievers answer to; they are asked by `soundings.run_of`.
_RETRIEVERS = ("invoke", "retrieve")
_IDS = (("query", QUERY), ("document", DOCUMENT))
#: Columns of a pool that say what was chosen.
CHOSEN = {"in_audit", "inclusion_probability"}


def named_runs(runs: Runs, keys: Keys | None = None, *, use: str = "An evaluation") -> dict[str, RunSource]:
    """Name -> source. Paths in a list, or in a set in their order, are named by their files, a run alone by
    its own name or `run`.

    ValueError without a run, which says what they are for: `use`.
    """
    named: dict[str, RunSource] = {}
    for name, source in _named(runs):
        if name in named:
            raise ValueError(
                f"Two runs are called {name}: {named[name]} and {source}. Name one: NAME={source}."
                if isinstance(source, str | Path)
                else f"Two runs are called {name}. Give them as a dict by name."
            )
        named[name] = source
    if not named:
        raise ValueError(f"{use} needs at least one run.")
    return {name: _rereadable(name, source, keys or Keys()) for name, source in named.items()}


def _named(runs: Runs) -> Iterable[tuple[str, RunSource]]:
    if isinstance(runs, Mapping) and not _is_one_run(runs):
        return [(str(name), source) for name, source in runs.items()]
    if isinstance(runs, Iterator):
        runs = lasting(runs)
    if isinstance(runs, set | frozenset):
        # In the same order in every process.
        runs = sorted(runs, key=str)
    if isinstance(runs, KeysView | ValuesView):
        runs = list(runs)
    if isinstance(runs, Sequence) and not isinstance(runs, str | bytes) and all(map(_is_whole_run, runs)):
        return [_named_alone(one) for one in runs]
    return [_named_alone(runs)]


def _is_whole_run(one: Any) -> bool:
    """An entry of a list that is a run of many queries, and no row or ranked list of a run."""
    return isinstance(one, str | Path) or bool(_own_name(one)) or is_frame(one)


def _named_alone(run: RunSource) -> tuple[str, RunSource]:
    return named_file(run) if isinstance(run, str | Path) else (_own_name(run) or "run", run)


def _own_name(run: Any) -> str:
    """The name that a run of ranx carries."""
    name = getattr(run, "name", None)
    return name if isinstance(name, str) and hasattr(run, "to_dict") else ""


def _is_one_run(runs: Mapping[Any, Any]) -> bool:
    """A dict that is one run by query: what it holds cannot be a run of many queries."""
    if "mteb_model_meta" in runs or is_rank_eval(runs):
        return True
    first = next(iter(runs.values()), None)
    if inside(first) is not first:
        return True
    if isinstance(first, Mapping):
        inner = next(iter(first.values()), None)
        return isinstance(inner, int | float) and not isinstance(inner, bool)
    if not isinstance(first, list | tuple) or not first or hasattr(first, "_fields"):
        return False
    entry = first[0]
    if isinstance(entry, tuple) and not hasattr(entry, "_fields"):
        return len(entry) == 2
    if isinstance(entry, Mapping):
        return not names_query(entry)
    return isinstance(entry, str | int) or not (hasattr(entry, "__len__") or names_query(entry))


def _rereadable(name: str, source: Any, keys: Keys) -> RunSource:
    """The source, so that it can be read again: what is read off once is taken into memory."""
    if isinstance(source, KeyedSource):
        return source
    if isinstance(source, str | Path):
        return KeyedSource(source, keys) if is_unusual(source) else source
    if any(callable(getattr(source, method, None)) for method in _RETRIEVERS):
        raise ValueError(
            f"Run {name} is a retriever, which has not been asked anything yet. "
            "Ask it with soundings.run_of(retriever, queries)."
        )
    if callable(source):
        return source
    return KeyedSource(lasting(source), keys)


def lasting(source: Any) -> Any:
    """The source, in memory if it can be read only once."""
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "__len__"):
        return as_polars(source)
    return list(source) if isinstance(source, Iterator) else source


def qrels_frame(source: Source, notes: list[str] | None = None) -> pl.DataFrame:
    """Labels (query_id, document_id, relevance) from any accepted source, each pair once, and `notes`."""
    reading = Reading("The qrels", QRELS, Keys(), [] if notes is None else notes)
    if isinstance(source, str | Path) and not is_unusual(source):
        read = read_qrels(source)
        _add(reading.notes, Path(source), read.notes)
        return read.frame
    frame = _checked(source, reading)
    return frame.select("query_id", "document_id", pl.col("value").cast(pl.Int32).alias("relevance"))


def run_frame(
    name: str, source: RunSource, notes: list[str] | None = None, *, with_rank: bool = False
) -> pl.DataFrame:
    """A run (query_id, document_id, score, rank if asked for) from any accepted source, and `notes` on it."""
    given = source if isinstance(source, KeyedSource) else KeyedSource(source)
    source = given.source
    reading = Reading(f"Run {name}", RUN, given.keys, [] if notes is None else notes)
    is_made = callable(source)
    if is_made:
        source = source()
    if isinstance(source, str | Path) and not is_unusual(source):
        read = read_run(source, name=name, with_rank=with_rank)
        _add(reading.notes, Path(source), read.notes)
        return read.frame
    frame = _checked(source, reading, may_be_empty=is_made)
    columns = [pl.col("query_id"), pl.col("document_id"), pl.col("value").alias("score")]
    if with_rank:
        if "rank" not in frame.columns:
            raise reading.error("has no ranks; give a frame with a rank column, lists, or other ties.")
        columns.append(pl.col("rank").cast(pl.Int64))
        if frame["rank"].null_count():
            raise reading.error("has a row without a rank. Fill it, or order by score.")
    return frame.select(columns)


def pool_frame(source: Source | None) -> pl.DataFrame | None:
    """The pairs (query_id, document_id) of a pool."""
    if source is None:
        return None
    if isinstance(source, str | Path):
        source = _pairs_in(source)
    return _checked(source, Reading("The pool", POOL, Keys(), []), may_be_empty=True)


def _pairs_in(path: str | Path) -> pl.DataFrame:
    """The pairs of a table, such as `pool` writes."""
    file, records = records_source(path, None, None)
    rows = [
        [checked_id(file, line, kind, record.get(column_named(record, names) or "")) for kind, names in _IDS]
        for line, record in records
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("query_id", "document_id"), pl.String), orient="row")


def _say_choices(records: Iterable[Mapping[str, Any]]) -> bool:
    """Where a cell is empty, a record of Parquet or JSON lacks it: most pairs have no probability."""
    every = iter(records)
    first = next(every, {})
    return "in_audit" in first and any({*record} >= CHOSEN for record in chain([first], every))


def pool_table(source: Source) -> pl.DataFrame | None:
    """A pool with the columns of `pooling.formats.pools`; None where it does not say what was chosen."""
    if isinstance(source, str | Path):
        file, records = records_source(source, None, None)
        rows = [
            (
                line,
                record
                | {f"{kind}_id": record.get(column_named(record, names) or "") for kind, names in _IDS},
            )
            for line, record in records
        ]
    else:
        columns, pairs = columns_of(source), pool_frame(source)
        if columns is None or pairs is None or not {*columns.names} >= CHOSEN:
            return None
        file = File(Path(), "the pool")
        cells = {name: columns.column(name) for name in COLUMNS if name in columns.names} | pairs.to_dict()
        if {len(values) for values in cells.values()} != {pairs.height}:
            raise file.error(None, "a pair comes twice", "Give every pair once.")
        both = zip(*cells.values(), strict=True)
        rows = [(line, dict(zip(cells, row, strict=True))) for line, row in enumerate(both, 1)]
    return pool_of(file, rows) if _say_choices(record for _, record in rows) else None


def _add(notes: list[str], path: Path, sentences: Iterable[str]) -> None:
    notes += [f"{path.name}: {note}" for note in sentences]


def _checked(source: Any, reading: Reading, *, may_be_empty: bool = False) -> pl.DataFrame:
    """query_id, document_id and, but for a pool, value, and perhaps rank; every rule checked."""
    return checked(_frame(source, reading), reading, may_be_empty=may_be_empty)


def _frame(source: Any, reading: Reading) -> pl.DataFrame:
    if isinstance(source, str | Path):
        source = read_unusual(source, reading.kind, reading.notes)
    try:
        columns = columns_of(source)
    except Exception as error:  # of the library that the frame is of
        problem = f"is {described(source)}, which does not give its rows ({type(error).__name__}: {error})."
        raise reading.error(problem) from error
    if columns is not None:
        return frame_of_columns(columns, reading)
    if isinstance(source, Mapping):
        return frame_of_dict(source, reading)
    arrays = arrays_in(source)
    if arrays is not None:
        return frame_of_arrays(*arrays, reading)
    if callable(getattr(source, "to_dict", None)) and not isinstance(source, type):
        lists = source.to_dict()  # ranx
        if isinstance(lists, Mapping):
            return frame_of_dict(lists, reading)
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        raise reading.unreadable(source)
    rows = list(source)
    if not rows:
        raise reading.error("is empty.")
    return frame_of_list(rows, reading)
