"""Runs: read once, checked against the collection's queries, and kept as an unchanging Parquet file."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from pooling.formats import RunFile, read_run
from pooling.formats.registry import name_of
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.interface.results import Progress, Result
from pooling.merging.diagnostics import preflight
from pooling.merging.stored_diagnosis import StoredPreflight
from pooling.models import Collection, Run
from pooling.ranking.chunks import Chunks, ChunksRule, collapse_chunks
from pooling.ranking.shared_ids import offered
from pooling.runs.ir_metadata import keep_metadata, metadata_of
from pooling.runs.known_documents import notes_on_documents
from pooling.signals import run_imported
from pooling.storage.copies import local_path
from pooling.storage.imports import FIRST_ROWS, PreviewTable, Showing, importer
from pooling.storage.storing import LONGEST_ID, check_id, checked_name, disk_errors_named, sha256_of
from pooling.texts.by_text import with_ids
from pooling.tidying.kinds import undo_address


class Latency(TypedDict):
    """Milliseconds from sending a request to the end of its answer, over the queries."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class EngineRecord(TypedDict):
    """The live engine that a run is of: how it was asked, and how long it took; `settings` hold no key."""

    id: int
    name: str
    settings: dict[str, object]
    asked_from: str
    asked_until: str
    queries: int
    without_hits: int
    requests: int
    retries: int
    latency_ms: Latency


COLUMNS = ("query_id", "document_id", "score", "rank")


class CollapsedChunks(ChunksRule):
    """The rule that made documents of a run's chunks, rows before and after, and a sentence."""

    chunks: int
    documents: int
    sentence: str


class RunPreflight(StoredPreflight):
    """A run's stored preflight; `notes` begin with what the reader of the file noted."""

    chunks: NotRequired[CollapsedChunks]
    ir_metadata: NotRequired[dict[str, object]]
    engine: NotRequired[EngineRecord]


@dataclass(frozen=True)
class _Source:
    file_name: str
    sha256: str
    again: str = "The same file was already imported as"


def import_run(
    collection: Collection,
    path: Path,
    *,
    name: str | None = None,
    file_name: str | None = None,
    user: User | None = None,
    progress: Progress | None = None,
    chunks: Chunks | None = None,
) -> Run:
    """Store the run of a file under `name`, or under the file's own.

    1. Read and check the whole file; with `chunks`, make documents of its chunks.
    2. Hold it against the collection's queries (preflight).
    3. Write the Parquet file, then the row. Whatever fails, neither stays behind.

    `InputError` for a name that exists and for a run without any query of the collection, `FormatError` for a
    file that cannot be read.
    """
    run, frame = read_new_run(
        collection, path, name=name, file_name=file_name, progress=progress, chunks=chunks
    )
    run.imported_by = user
    if progress is not None:
        progress(0.8, "Storing.")
    return _stored(run, frame)


def store_answers(
    collection: Collection, run_file: RunFile, record: EngineRecord, *, user: User | None = None
) -> Run:
    """Store an engine's answers, as `import_run` a file; the frame has `COLUMNS` and the engine's order."""
    name = checked_name(run_file.name, "run")
    refuse_taken_name(collection, name)
    frame = run_file.frame.select(COLUMNS)
    sha256 = hashlib.sha256(frame.write_csv(separator="\t").encode()).hexdigest()
    source = _Source(f"engine “{record['name']}”", sha256, "The same lists are already stored as")
    run = _described(collection, name, run_file, source)
    run.preflight["engine"] = record
    run.imported_by = user
    return _stored(run, frame)


def read_new_run(
    collection: Collection,
    path: Path,
    *,
    name: str | None = None,
    file_name: str | None = None,
    progress: Progress | None = None,
    chunks: Chunks | None = None,
) -> tuple[Run, pl.DataFrame]:
    """The run of a file as `import_run` would store it, not stored, and its rows."""
    path = Path(path)
    progress = progress or (lambda share, detail: None)
    source = _Source(file_name or path.name, sha256_of(path))
    name = checked_name(name or name_of(source.file_name), "run")
    refuse_taken_name(collection, name)
    progress(0.1, f"Reading {source.file_name}.")
    most = settings.MAX_UPLOAD_BYTES
    run_file = read_run(path, name=name, file_name=file_name, with_rank=True, need_rank=False, max_bytes=most)
    progress(0.5, f"Checking {run_file.frame.height:,} rows.")
    frame, notes = with_ids(collection, run_file.frame, source.file_name)
    run_file = replace(run_file, frame=frame, notes=run_file.notes + notes)
    run_file, collapse = (run_file, None) if chunks is None else _collapsed(run_file, chunks)
    run = _described(collection, name, run_file, source)
    if collapse is not None:
        run.preflight["chunks"] = collapse
    if (metadata := metadata_of(path, file_name=file_name)) is not None:
        keep_metadata(run, metadata)
    return run, run_file.frame


def _collapsed(run_file: RunFile, chunks: Chunks) -> tuple[RunFile, CollapsedChunks]:
    try:
        collapsed = collapse_chunks(run_file.frame, chunks, run_file.name)
    except ValueError as error:
        raise InputError(str(error), field="collapse_chunks") from None
    facts: CollapsedChunks = {
        **chunks.to_dict(),
        "chunks": collapsed.chunks,
        "documents": collapsed.documents,
        "sentence": collapsed.note(chunks.words),
    }
    return replace(run_file, frame=collapsed.frame), facts


def refuse_taken_name(collection: Collection, name: str) -> None:
    """`InputError` for a name that another run of the collection has."""
    if collection.runs.filter(name=name).exists():
        raise _name_exists(name)


def _name_exists(name: str) -> InputError:
    problem = f"Run “{name}” already exists, and runs do not change. Choose another name."
    return InputError(problem, field="name", conflict=True)


def _described(collection: Collection, name: str, run_file: RunFile, source: _Source) -> Run:
    frame = run_file.frame
    _check_ids(frame, source.file_name)
    query_ids = list(collection.queries.values_list("external_id", flat=True))
    lengths = frame.group_by("query_id").len()
    if lengths.join(_column("query_id", query_ids), on="query_id", how="semi").is_empty():
        raise InputError(_no_query_in_common(collection, query_ids, frame, source.file_name))
    checks = preflight(frame, query_ids)
    notes = [*run_file.notes, *_same_bytes(collection, source), *notes_on_documents(collection, frame)]
    return Run(
        collection=collection,
        name=name,
        source_name=source.file_name[-300:],
        sha256=source.sha256,
        tag=run_file.tag[:500],
        row_count=frame.height,
        query_count=lengths.height,
        depth=int(lengths["len"].to_numpy().max()),
        preflight={**checks, "notes": [*notes, *checks["notes"]]},
    )


def _column(name: str, values: Iterable[str]) -> pl.DataFrame:
    return pl.DataFrame({name: list(values)}, schema={name: pl.String})


def _check_ids(frame: pl.DataFrame, file_name: str) -> None:
    """Ids of pooled documents go to the database, so a run with others would fail when pooled."""
    document = pl.col("document_id")
    refused = frame.filter(
        (document.str.len_chars() > LONGEST_ID) | document.str.contains("\0", literal=True)
    )
    for external_id in refused["document_id"].head(1):
        check_id(external_id, "document", file_name)


def _no_query_in_common(
    collection: Collection, query_ids: Sequence[str], frame: pl.DataFrame, file_name: str
) -> str:
    if not query_ids:
        return f"{file_name}: “{collection.slug}” has no queries yet. Import its queries first."
    example = frame["query_id"][0]
    offer = offered(frame["query_id"].unique(), pl.Series(query_ids))
    would = f" {offer.words}, {100 * offer.share:.0f} % would match." if offer else ""
    return (
        f"{file_name}: no query of this run is in “{collection.slug}”; the run's first is “{example}”, the "
        f"collection's “{query_ids[0]}”.{would} Import the run's queries, or choose the collection the run "
        "belongs to."
    )


def _same_bytes(collection: Collection, source: _Source) -> list[str]:
    twins = collection.runs.filter(sha256=source.sha256).values_list("name", flat=True)
    return [f"{source.again} “{twin}”." for twin in twins]


def _stored(run: Run, frame: pl.DataFrame) -> Run:
    """Write file, then row; the file goes again when the row cannot be written."""
    with disk_errors_named(), tempfile.TemporaryDirectory() as folder:
        parquet = Path(folder) / "run.parquet"
        frame.select(COLUMNS).write_parquet(parquet, compression="zstd")
        with parquet.open("rb") as file:
            run.file.name = _put(f"runs/{run.collection.slug}/{uuid4().hex}.parquet", file)
        try:
            with transaction.atomic():
                run.save()
                run_imported.send(Run, run=run)
        except BaseException as error:
            default_storage.delete(run.file.name)
            if isinstance(error, IntegrityError) and run.collection.runs.filter(name=run.name).exists():
                raise _name_exists(run.name) from None
            raise
    return run


def _put(name: str, file: Any) -> str:
    """Save into storage; a file that could not be written whole is removed."""
    try:
        return default_storage.save(name, File(file))
    except OSError:
        default_storage.delete(name)
        raise


def read_stored_run(run: Run, *, need_rank: bool = False) -> pl.DataFrame:
    """A run's rows in file order: query_id, document_id, score, rank (null if absent, or `InputError`)."""
    frame = pl.read_parquet(local_path(str(run.file.name)))
    if need_rank and frame["rank"].null_count():
        problem = f"The file of run “{run.name}” has no rank for every row. Choose another rule for ties."
        raise InputError(problem, field="ties")
    return frame


def read_stored_query(run: Run, query_id: str) -> pl.DataFrame:
    """The rows of one query of a run, as `read_stored_run` gives them; none where it does not answer it."""
    return _scanned(run).filter(pl.col("query_id") == query_id).collect()


def _scanned(run: Run) -> pl.LazyFrame:
    return pl.scan_parquet(local_path(str(run.file.name)))


class StoredRow(TypedDict):
    """One row of a stored run; the rank is null where the file had none."""

    query_id: str
    document_id: str
    score: float
    rank: int | None


class RowsOfRun(Sequence[StoredRow]):
    """The rows of a run, or of one query of it, of which only those of a slice are read."""

    def __init__(self, run: Run, query_id: str | None = None) -> None:
        self._run = run
        self._frame = None if query_id is None else read_stored_query(run, query_id)

    def __len__(self) -> int:
        return self._run.row_count if self._frame is None else self._frame.height

    def __getitem__(self, index: Any) -> Any:
        start, stop, _ = (index if isinstance(index, slice) else slice(index, index + 1)).indices(len(self))
        rows = self._slice(start, max(0, stop - start))
        return rows if isinstance(index, slice) else rows[0]

    def _slice(self, start: int, length: int) -> list[StoredRow]:
        frame = _scanned(self._run) if self._frame is None else self._frame.lazy()
        rows: Any = frame.slice(start, length).collect().to_dicts()
        return list(rows)


def runs_named(collection: Collection, names: Iterable[str]) -> list[Run]:
    """The runs of these names, in this order; `InputError` names those that are missing."""
    names = list(dict.fromkeys(names))
    runs_by_name = {run.name: run for run in collection.runs.filter(name__in=names)}
    missing = [name for name in names if name not in runs_by_name]
    if missing:
        problem = f"There is no run “{'”, “'.join(missing)}” in “{collection.slug}”. Import it first."
        raise InputError(problem, field="runs")
    return [runs_by_name[name] for name in names]


class RunProvenance(TypedDict):
    """A run in a result; `chunks` is the rule that made documents of chunks, where it was of chunks."""

    name: str
    sha256: str
    chunks: NotRequired[str]
    ir_metadata: NotRequired[dict[str, object]]


def provenance_of(run: Run) -> RunProvenance:
    chunks = run.preflight.get("chunks")
    provenance: RunProvenance = {"name": run.name, "sha256": run.sha256}
    if chunks:
        provenance["chunks"] = chunks["words"]
    if metadata := run.preflight.get("ir_metadata"):
        provenance["ir_metadata"] = metadata
    return provenance


def _preview(collection: Collection, path: Path, file_name: str) -> list[PreviewTable]:
    frame = read_run(path, file_name=file_name, need_rank=False, max_bytes=settings.MAX_UPLOAD_BYTES).frame
    first = frame.select("query_id", "document_id", "score").head(FIRST_ROWS)
    rows = [(query, document, f"{score:g}") for query, document, score in first.iter_rows()]
    return [PreviewTable("First rows", ("Query", "Document", "Score"), rows, frame.height)]


def _imported(
    collection: Collection, path: Path, *, user: User | None, stores: bool = True, **options: Any
) -> RunImported:
    separator = options.pop("collapse_chunks", "")
    options["chunks"] = Chunks(separator) if separator else None
    if stores:
        return run_import_result(import_run(collection, path, user=user, **options))
    return run_import_result(read_new_run(collection, path, **options)[0])


importer(
    "run",
    showing=Showing(_preview, imported=partial(_imported, stores=False)),
    title="Importing a run",
    stages=((0.0, "Read the file"), (0.5, "Check its rows"), (0.8, "Store the run")),
    begins_at="run_import",
)(_imported)


class RunImported(Result):
    """A run just imported, with what its preflight found."""

    id: Annotated[int | None, "Null in a preview."]
    name: str
    rows: int
    queries: int
    depth: int
    tag: str
    sha256: str
    preflight: Annotated[RunPreflight, Mapping[str, Any]]


def size_of(run: Run) -> str:
    return f"{counted(run.row_count, 'row')} for {counted(run.query_count, 'query', 'queries')}"


def run_import_result(run: Run) -> RunImported:
    result: RunImported = {
        "id": run.pk,
        "name": run.name,
        "rows": run.row_count,
        "queries": run.query_count,
        "depth": run.depth,
        "tag": run.tag,
        "sha256": run.sha256,
        "preflight": run.preflight,
        "detail": f"Run “{run.name}”: {size_of(run)}.",
        "url": run.get_absolute_url() if run.pk else "",
    }
    if run.pk:
        result["undo"] = undo_address(run.collection, "run", run.pk)
    return result
