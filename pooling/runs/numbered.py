"""The numbered tops of a collection's runs, kept as files next to the database so that they are made once.

They say nothing that the runs do not say: the folder may be deleted at any time, and is made again when it is
wanted. Runs never change, so their files' names and the collection's queries are all that it hangs on.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Max

from pooling.heavy import np, pl
from pooling.merging.preview import NumberedTops, number_tops
from pooling.models import Collection, Document, Query, Run
from pooling.ranking.ranking import order_run
from pooling.runs.stored import read_stored_run
from pooling.storage.storing import disk_errors_named
from pooling.tidying.kept import ARCHIVED_OR_DELETED


def documents_left_out(collection: Collection) -> list[str]:
    rows = Document.everything.filter(ARCHIVED_OR_DELETED, collection=collection).order_by("pk")
    return list(rows.values_list("external_id", flat=True))


def without_documents(top: pl.DataFrame, documents: list[str]) -> pl.DataFrame:
    """The top of a run without some documents; what is left moves up."""
    if not documents:
        return top
    gone = pl.DataFrame({"document_id": documents}, schema={"document_id": pl.String})
    return top.join(gone, on="document_id", how="anti", maintain_order="left")


# Tops are numbered down to the first of these that is deep enough: most changes of depth need no more.
CEILINGS = (100, 200, 500, 1_000, 10_000, 100_000)
KEPT = 3
ROWS, PAIRS, QUERIES = "rows.arrow", "pairs.arrow", "queries.arrow"


def numbered_tops(collection: Collection, runs: Sequence[Run], depth: int) -> tuple[NumberedTops, Path]:
    """The tops of all these runs, numbered at least to `depth`, and the folder in which they are kept."""
    folder = _folder(collection, runs, next((one for one in CEILINGS if one >= depth), depth))
    if not (folder / ROWS).exists():
        _make(collection, runs, folder)
    rows = pl.read_ipc(folder / ROWS)
    queries = pl.read_ipc(folder / QUERIES)
    query = np.repeat(np.arange(queries.height), queries["pairs"].to_numpy())
    return NumberedTops(rows, query, queries["query_id"].to_list()), folder


def pairs_of(folder: Path) -> pl.DataFrame:
    """query_id, document_id of the pairs, in the order of their numbers."""
    return pl.read_ipc(folder / PAIRS)


def _folder(collection: Collection, runs: Sequence[Run], ceiling: int) -> Path:
    queries = Query.everything.filter(collection=collection)
    totals = queries.aggregate(count=Count("pk"), last=Max("pk"))
    without = list(queries.filter(ARCHIVED_OR_DELETED).order_by("pk").values_list("pk", flat=True))
    hidden = documents_left_out(collection)
    facts = [ceiling, totals["count"], totals["last"], *(run.file.name for run in runs), without, hidden]
    name = hashlib.blake2b(repr(facts).encode(), digest_size=12).hexdigest()
    return Path(settings.DERIVED_DIR) / "tops" / str(collection.pk) / f"{ceiling}-{name}"


def _make(collection: Collection, runs: Sequence[Run], folder: Path) -> None:
    ceiling = int(folder.name.partition("-")[0])
    # Cut while reading, so that many deep runs need the memory of their tops alone.
    hidden = documents_left_out(collection)
    tops = {run.name: order_run(read_stored_run(run), depth=ceiling) for run in runs}
    frames = {name: without_documents(top, hidden).drop("position") for name, top in tops.items()}
    queries = collection.queries.listed().values_list("external_id", flat=True)
    rows, pairs = number_tops(frames, list(queries), depth=ceiling)
    with disk_errors_named():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="making-"))
        rows.write_ipc(made / ROWS)
        pairs.write_ipc(made / PAIRS)
        # Pairs stand by query.
        counted = pairs.group_by("query_id", maintain_order=True).agg(pl.len().alias("pairs"))
        counted.write_ipc(made / QUERIES)
    with contextlib.suppress(OSError):  # somebody else was quicker
        made.rename(folder)
    shutil.rmtree(made, ignore_errors=True)
    folders = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in folders[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
