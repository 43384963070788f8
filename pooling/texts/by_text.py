"""Queries of a collection found by their texts, for files of tools that know them by nothing else."""

from __future__ import annotations

from pooling.formats.errors import FormatError, excerpt
from pooling.formats.wording import counted
from pooling.heavy import pl
from pooling.models import Collection, Query

MOST_NAMED, FIRST = 5, 500


class QueryLookup:
    """The queries of a collection by id and by text; `place` is the file that errors name."""

    def __init__(self, collection: Collection, place: str) -> None:
        self.place = place
        self.by_id: dict[str, int] = {}
        self._by_text: dict[str, list[tuple[str, int]]] = {}
        rows = Query.everything.filter(collection=collection)
        for key, external_id, text, deleted in rows.values_list("pk", "external_id", "text", "deleted_at"):
            self.by_id[external_id] = key
            if deleted is None:
                self._by_text.setdefault(text.strip(), []).append((external_id, key))

    def with_text(self, text: str, line: int | None = None) -> tuple[str, int] | None:
        """Id and key of the query with this text; `FormatError` where several have it."""
        matches = self._by_text.get(text.strip(), [])
        if len(matches) > 1:
            ids = ", ".join(id for id, _ in matches[:MOST_NAMED])
            raise FormatError(
                self.place,
                line,
                f"the query text {excerpt(text)} is that of {len(matches)} queries ({ids})",
                "Give files that say which, by id.",
            )
        return matches[0] if matches else None


def with_ids(collection: Collection, frame: pl.DataFrame, place: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A frame whose column query_id has texts of queries, with their ids, and a note; any other as it is.

    Only where none of its ids is one of the collection. `FormatError` for a text that several queries have,
    and for two texts of the file that are one query.
    """
    names = frame["query_id"].unique(maintain_order=True).to_list()
    # Texts of all queries are read only for files that may need them.
    if Query.everything.filter(collection=collection, external_id__in=names[:FIRST]).exists():
        return frame, ()
    queries = QueryLookup(collection, place)
    if not queries.by_id.keys().isdisjoint(names):
        return frame, ()
    ids: dict[str, str] = {}
    texts: dict[str, str] = {}
    for name in names:
        if (match := queries.with_text(name)) is None:
            continue
        ids[name] = match[0]
        if (first := texts.setdefault(match[0], name)) != name:
            problem = f"{excerpt(first)} and {excerpt(name)} are both the text of query {excerpt(match[0])}"
            raise FormatError(place, None, problem, "Write it in one way.")
    if not ids:
        return frame, ()
    note = f"Queries are known by their texts here: {len(ids):,} of {counted(len(names), 'query')} found."
    return frame.with_columns(frame["query_id"].replace(ids)), (note,)
