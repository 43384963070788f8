"""Imports of queries and documents, taken back and restored with what they created."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from pooling.formats.wording import counted
from pooling.models import Document, Pool, PoolEntry, Query, TextImport
from pooling.tidying.kinds import Dependant, Kind, dependant, depends_on, register, run_hooks_of_many, when

# So many of the texts that an import changed are named.
MOST_NAMED = 20

register(
    Kind(
        "import",
        "imports",
        TextImport,
        archived="",
        deleted="The queries or documents that it created disappear, with their pairs, from pools, queues, "
        "releases, searches and exports to come. What people said of them is kept, and counts again if the "
        "import is restored. Releases and reports stay as they are.",
        list_page="tidied",
        immutable="An import is called after its file.",
    )
)


@depends_on(TextImport)
def _changed_by(one: TextImport) -> Sequence[Dependant]:
    if not one.changed_count:
        return []
    noun = ("query", "queries") if one.of == TextImport.QUERIES else ("document", "documents")
    names = ", ".join(one.changed_ids) + (", …" if one.changed_count > len(one.changed_ids) else "")
    words = f"{counted(one.changed_count, *noun)} that it changed ({names})"
    return [Dependant(words, "keeps the new text" if one.changed_count == 1 else "keep their new texts")]


@depends_on(TextImport)
def _pools_of(one: TextImport) -> Sequence[Dependant]:
    brought = "query__in" if one.of == TextImport.QUERIES else "document__in"
    entries = PoolEntry.objects.filter(**{brought: _rows(one).values("pk")})
    pools = Pool.objects.filter(pk__in=entries.values("pool")).select_related("collection")
    return dependant(list(pools.defer("diagnostics")), "pool", "keeps its figures/keep their figures")


@when("deleted", TextImport)
def _take_back(one: TextImport, by: User | None) -> None:
    _rows(one).filter(deleted_at=None).update(deleted_at=one.deleted_at, deleted_by=by)
    run_hooks_of_many("deleted", one.collection, _rows(one).filter(deleted_at=one.deleted_at))


@when("restoring", TextImport)
def _bring_back(one: TextImport, by: User | None) -> None:
    """Restore what was deleted with the import, and not what was deleted or brought back by itself."""
    with_it = _rows(one).filter(deleted_at=one.deleted_at)
    with_it.update(deleted_at=None, deleted_by=None, erased_at=None)
    run_hooks_of_many("restored", one.collection, _rows(one).filter(deleted_at=None))


@when("erased", TextImport)
def _erase_texts(one: TextImport, by: User | None) -> None:
    """The texts go at once; the rows follow by and by, as those of everything that was deleted."""
    # The row of the import is gone, and nothing refers to it any more.
    gone = _model(one).everything.filter(collection=one.collection_id, deleted_at=one.deleted_at)
    run_hooks_of_many("erased", one.collection, gone)


def _model(one: TextImport) -> Any:
    return Query if one.of == TextImport.QUERIES else Document


def _rows(one: TextImport) -> QuerySet[Any]:
    rows: QuerySet[Any] = _model(one).everything.filter(brought_by=one)
    return rows
