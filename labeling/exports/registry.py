"""The formats of other tools in which labels are exported, with what each needs and what it loses."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from labeling.exports import engines, hub, programs
from labeling.exports.labelled import Labelled
from pooling.formats.registry import Format

JSON = "application/json"


@dataclass(frozen=True)
class Export(Format):
    """A format that is only written, with the texts that belong to the labels.

    options: the names of those in `ExportOptions` that it reads, and of them the `required`. lost: what it
    cannot hold, in sentences. write: the text in pieces; or files: of a ZIP, each with its pieces.
    """

    options: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    lost: str = ""
    write: Callable[[Labelled], Iterator[str]] | None = None
    files: Callable[[Labelled], Iterator[tuple[str, Iterator[str]]]] | None = None

    def content(self, labels: Labelled) -> IO[bytes]:
        """The file, made on disk and not in memory; `InputError` for what the format cannot hold."""
        file = tempfile.TemporaryFile()  # noqa: SIM115  the response, or whoever reads it, closes it
        try:
            if self.files:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                    for name, pieces in self.files(labels):
                        # With a fixed time, so that equal content is an equal file.
                        with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as part:
                            part.writelines(piece.encode() for piece in pieces)
            elif self.write:
                file.writelines(piece.encode() for piece in self.write(labels))
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file


_TEXTS = "The same text twice is refused: queries are known by their texts."
_ALL = (
    Export(
        name="rank-eval",
        title="Elasticsearch and OpenSearch _rank_eval",
        suffix="-rank-eval.json",
        media_type=JSON,
        options=("index", "request", "k", "min_relevance"),
        required=("index",),
        lost="The answer has no bounds and no coverage; it lists documents without a label.",
        write=engines.rank_eval,
    ),
    Export(
        name="srw",
        title="OpenSearch judgment list",
        suffix="-judgments.json",
        media_type=JSON,
        lost=f"No query ids. {_TEXTS}",
        write=engines.judgment_list,
    ),
    Export(
        name="srw-queries",
        title="OpenSearch query set",
        suffix="-query-set.json",
        media_type=JSON,
        lost=f"Texts only. {_TEXTS}",
        write=engines.query_set,
    ),
    Export(
        name="quepid",
        title="Quepid book",
        suffix="-book.json",
        media_type=JSON,
        lost=f"No query ids, and a label instead of what each person said. {_TEXTS}",
        write=programs.quepid_book,
    ),
    Export(
        name="quepid-ratings",
        title="Quepid ratings (CSV)",
        suffix="-ratings.csv",
        media_type="text/csv; charset=utf-8",
        lost=f"No query ids. {_TEXTS}",
        write=programs.quepid_ratings,
    ),
    Export(
        name="ragas",
        title="Ragas samples",
        suffix="-ragas.jsonl",
        media_type="application/jsonl",
        options=("run", "k", "min_relevance"),
        required=("run",),
        lost="What was judged not relevant looks unjudged. Queries without a relevant label are left out.",
        write=programs.ragas_samples,
    ),
    Export(
        name="retrieval-dicts",
        title="Dicts for sentence-transformers, Vespa, LlamaIndex",
        suffix="-dicts.json",
        media_type=JSON,
        options=("min_relevance",),
        lost="What was judged not relevant looks unjudged. No grades.",
        write=programs.retrieval_dicts,
    ),
    Export(
        name="mteb",
        title="MTEB and Hugging Face folder",
        suffix="-mteb.zip",
        media_type="application/zip",
        lost="Nothing is lost: the release's sidecar is in it.",
        files=hub.folder,
    ),
    Export(
        name="ltr",
        title="Learning to Rank judgment list",
        suffix="-ltr.txt",
        lost="Queries have numbers instead of ids.",
        write=engines.learning_to_rank,
    ),
)
EXPORTS = {export.name: export for export in _ALL}
