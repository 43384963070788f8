"""Where a file of labels says something else than the labels there are, and what an import makes of it."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from labeling.models import ImportedLabel
from labeling.qrels.labels import IDS, PAIR, current_labels
from pooling.formats import read_qrels
from pooling.heavy import pl
from pooling.models import Collection
from pooling.storage.imports import FIRST_ROWS, Shown
from pooling.texts.by_text import with_ids

SOURCES = {"human": "judged here", "adjudicated": "adjudicated here", "gold": "gold question"}
COLUMNS = ("Query", "Document", "In the file", "Here", "From")


def labels_shown(collection: Collection, path: Path, file_name: str) -> list[Shown]:
    """The first labels of a qrels file, and those that conflict with labels there are, by what happens to
    them.
    """
    frame = read_qrels(path, file_name=file_name, max_bytes=settings.MAX_UPLOAD_BYTES).frame
    frame, _ = with_ids(collection, frame.select(*PAIR, "relevance"), file_name)
    return [
        *_table(
            "Contradict an earlier import",
            "Nothing can be imported while these differ: correct the file, or take back the earlier import "
            "under Qrels.",
            _against_imports(collection, frame),
        ),
        *_table(
            "Contradict labels made here",
            "The label made here stays and counts. The file’s label is kept, and counts only if the verdicts "
            "here no longer do.",
            _against_people(collection, frame),
        ),
        Shown("First labels", COLUMNS[:3], _rows(frame), frame.height),
    ]


def _against_imports(collection: Collection, frame: pl.DataFrame) -> pl.DataFrame:
    known = ImportedLabel.objects.filter(collection=collection, relevance__gte=0)
    rows = list(known.values_list(*IDS, "relevance", "source_name"))
    schema = {PAIR[0]: pl.String, PAIR[1]: pl.String, "here": pl.Int32, "source": pl.String}
    earlier = pl.DataFrame(rows, schema=schema, orient="row")
    return _differing(frame, earlier)


def _against_people(collection: Collection, frame: pl.DataFrame) -> pl.DataFrame:
    labels = current_labels(collection).frame.filter(pl.col("source") != "imported")
    made_here = labels.rename({"relevance": "here"}).with_columns(pl.col("source").replace(SOURCES))
    # People say relevant or not; files may have grades.
    both = frame.with_columns(grade=pl.col("relevance").clip(upper_bound=1))
    return _differing(both, made_here, by="grade").drop("grade")


def _differing(frame: pl.DataFrame, known: pl.DataFrame, by: str = "relevance") -> pl.DataFrame:
    said = frame.filter(pl.col("relevance") >= 0)
    return said.join(known, on=PAIR, maintain_order="left").filter(pl.col(by) != pl.col("here"))


def _rows(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in frame.head(FIRST_ROWS).iter_rows()]


def _table(heading: str, note: str, frame: pl.DataFrame) -> list[Shown]:
    if frame.is_empty():
        return []
    return [Shown(heading, COLUMNS, _rows(frame), frame.height, note, asks=True)]
