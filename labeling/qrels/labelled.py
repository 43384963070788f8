"""Input of exports: labels by query with the texts that belong to them, read in parts."""

from __future__ import annotations

from collections.abc import Collection as Several
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

from labeling.qrels.options import ExportOptions
from pooling.heavy import pl
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Query

BATCH = 500


class Text(NamedTuple):
    title: str
    text: str

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.text}" if self.title and self.text else self.title or self.text


NO_TEXT = Text("", "")


class LabelledQuery(NamedTuple):
    id: str
    text: str
    narrative: str
    labels: dict[str, int]

    def relevant(self, least: int) -> list[str]:
        """The documents whose label is at least `least`."""
        return [document for document, relevance in self.labels.items() if relevance >= least]


@dataclass(frozen=True)
class Labelled:
    """The labels of a release for an export.

    frame: query_id, document_id, relevance, sorted; without *pooled, not judged*, and without deleted queries
    and documents. queries: id -> text and narrative, of the queries in `frame`. sidecar: of the release.
    """

    collection: Collection
    release: str
    sidecar: Mapping[str, Any]
    frame: pl.DataFrame
    options: ExportOptions
    queries: Mapping[str, tuple[str, str]] = field(repr=False)

    @property
    def name(self) -> str:
        return f"{self.collection.slug} {self.release}"

    def by_query(self) -> Iterator[LabelledQuery]:
        for query, rows in groupby(self.frame.iter_rows(), key=itemgetter(0)):
            text, narrative = self.queries[query]
            yield LabelledQuery(query, text, narrative, {row[1]: row[2] for row in rows})

    def texts(self, documents: Iterable[str]) -> dict[str, Text]:
        """Document id -> its text, of those that have one and are not deleted."""
        texts = {}
        for ids in in_batches(documents):
            rows = Document.objects.filter(collection=self.collection, external_id__in=ids)
            for document, title, text in rows.values_list("external_id", "title", "text"):
                texts[document] = Text(title, text or "")
        return texts

    def documents(self) -> Iterator[tuple[str, Text]]:
        rows = Document.objects.filter(collection=self.collection).order_by("pk")
        for document, title, text in rows.values_list("external_id", "title", "text").iterator(BATCH):
            yield document, Text(title, text or "")

    def refuse_equal_texts(self) -> None:
        """`InputError` where two queries have one text, for formats that know queries by their texts."""
        ids: dict[str, str] = {}
        for query, (text, _) in self.queries.items():
            if ids.setdefault(text, query) != query:
                problem = (
                    f"Queries {ids[text]} and {query} have the same text, “{text[:80]}”, and this format"
                )
                raise InputError(
                    f"{problem} knows queries by their texts. Delete one of them, or change its text."
                )


def labelled(
    collection: Collection,
    frame: pl.DataFrame,
    options: ExportOptions,
    *,
    release: str,
    sidecar: Mapping[str, Any],
) -> Labelled:
    """The labels of a release with their queries; `InputError` where nothing is left to export."""
    ids = frame["query_id"].unique().to_list()
    queries = _queries(collection, ids)
    gone = Document.everything.filter(collection=collection, deleted_at__isnull=False)
    gone_ids = list(gone.values_list("external_id", flat=True))
    rows = frame.filter(
        (pl.col("relevance") >= 0)
        & pl.col("query_id").is_in(list(queries))
        & ~pl.col("document_id").is_in(gone_ids)
    )
    if rows.is_empty():
        raise InputError(f"Release “{release}” has no label of a query and document that are not deleted.")
    left = set(rows["query_id"].unique())
    texts = {query: queries[query] for query in sorted(left, key=str.encode)}
    return Labelled(collection, release, sidecar, rows, options, texts)


def _queries(collection: Collection, ids: Several[str]) -> dict[str, tuple[str, str]]:
    texts: dict[str, tuple[str, str]] = {}
    for batch in in_batches(ids):
        rows = Query.objects.filter(collection=collection, external_id__in=batch)
        texts |= {query.external_id: (query.text, query.narrative) for query in rows}
    return texts


def in_batches(ids: Iterable[str]) -> Iterator[list[str]]:
    """Ids by the five hundred, as many as one statement may name."""
    rest = iter(ids)
    while batch := list(islice(rest, BATCH)):
        yield batch
