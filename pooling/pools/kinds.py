"""Kinds of this stage that can be archived or deleted: collections, queries, documents, runs and pools."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet

from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.models import Collection, Document, Pool, PoolEntry, PoolRun, Query, Run
from pooling.search_models import IndexedText, TextIndex
from pooling.tidying.erasing import empties_collections
from pooling.tidying.kinds import (
    Dependant,
    Ground,
    Kind,
    dependant,
    depends_on,
    register,
    rests_on,
    when,
    when_many,
)

register(
    Kind(
        "collection",
        "collections",
        Collection,
        archived="It is no longer on anybody's home page. Its address and everything in it stay as they are.",
        deleted="It disappears for everybody, with everything in it. Its admins can restore it from their "
        "home page for thirty days. After that it is erased, judgments included.",
        list_page="home",
    )
)
register(
    Kind(
        "query",
        "queries",
        Query,
        archived="It is no longer listed, and pools and queues to come leave it out. Its labels still count.",
        deleted="It disappears with its pairs from pools, queues, releases and exports to come. What people "
        "said is kept, and counts again if the query is restored. Releases and reports stay as they are.",
        list_page="queries",
        label="external_id",
        immutable="Runs and labels call a query by its id, so the id cannot change.",
    )
)
register(
    Kind(
        "document",
        "documents",
        Document,
        archived="It is no longer listed, and pools and queues to come leave it out. Its labels still count.",
        deleted="It disappears with its pairs from pools, queues, releases, searches and exports to come. "
        "What people said is kept, and counts again if the document is restored. Releases and reports stay "
        "as they are.",
        list_page="documents",
        label="external_id",
        immutable="Runs and labels call a document by its id, so the id cannot change.",
    )
)
register(
    Kind(
        "run",
        "runs",
        Run,
        archived="It is no longer in lists and forms. Pools and reports with it stay as they are.",
        deleted="It disappears from lists, forms and canaries. Pools and reports with it keep their figures; "
        "such a pool cannot be extended while the run is deleted.",
        list_page="runs",
    )
)
register(
    Kind(
        "pool",
        "pools",
        Pool,
        archived="It is no longer in lists and forms. Queues over it go on, and its audit still counts.",
        deleted="It disappears with its pairs. Labels of these pairs stay, and so do the documents.",
        list_page="pools",
    )
)


@depends_on(Run)
def _pools_of_run(run: Run) -> Sequence[Dependant]:
    pools = list(Pool.objects.filter(pool_runs__run=run).select_related("collection").defer("diagnostics"))
    return dependant(pools, "pool", "keeps its figures/keep their figures")


@depends_on(Pool)
def _later_version(pool: Pool) -> Sequence[Dependant]:
    later = list(Pool.objects.filter(extends=pool).select_related("collection").defer("diagnostics"))
    return dependant(later, "pool", "extends it/extend it", blocks=True)


@rests_on(Pool)
def _before_and_runs(pool: Pool) -> Sequence[Ground]:
    runs = Run.everything.filter(pool_runs__pool=pool).select_related("collection").defer("preflight")
    before = [Ground(pool.extends)] if pool.extends else []
    return [*before, *(Ground(run, needed=False) for run in runs.order_by("pool_runs__index"))]


@depends_on(Query, Document)
def _pools_of_text(text: Query | Document) -> Sequence[Dependant]:
    entries = PoolEntry.objects.filter(**{f"{text._meta.model_name}": text}, pool__deleted_at=None)
    rows = (
        Pool.objects.filter(pk__in=entries.values("pool")).select_related("collection").defer("diagnostics")
    )
    return dependant(list(rows), "pool", "keeps its figures/keep their figures")


@depends_on(Collection)
def _parts_of(collection: Collection) -> Sequence[Dependant]:
    kinds = (("query", Query), ("document", Document), ("run", Run), ("pool", Pool))
    dependants = []
    for noun, model in kinds:
        rows = model.objects.filter(collection=collection)
        if many := rows.aggregate(many=Count("pk"))["many"]:
            dependants.append(Dependant(counted(many, noun), "goes with it" if many == 1 else "go with it"))
    return dependants


@when("restoring", Pool)
def _one_next_version(pool: Pool, by: User | None) -> None:
    later = Pool.objects.filter(extends=pool.extends_id).first() if pool.extends else None
    if later:
        problem = f"“{later.name}” extends the same pool now. Delete that one first."
        raise InputError(problem, conflict=True)


@when("renamed", Run)
def _rename_in_pools(run: Run, by: User | None) -> None:
    """Pools have the depth of a run by its name."""
    before = run.former_name  # type: ignore[attr-defined]
    for place in PoolRun.objects.filter(run=run).select_related("pool"):
        if before in (depths := place.pool.depths):
            named = {run.name if name == before else name: depth for name, depth in depths.items()}
            Pool.everything.filter(pk=place.pool_id).update(depths=named)


@when_many("erased", Query)
def _without_text(collection: Collection, queries: QuerySet[Query]) -> None:
    queries.update(text="", metadata={})


@when_many("erased", Document)
def _without_texts(collection: Collection, documents: QuerySet[Document]) -> None:
    documents.update(title="", text=None, metadata={})
    _search_no_more(collection, documents)


@when_many("restored", Document)
def _search_again(collection: Collection, documents: QuerySet[Document]) -> None:
    TextIndex.objects.filter(collection=collection).update(is_behind=True)


@when_many("deleted", Document)
def _search_no_more(collection: Collection, documents: QuerySet[Document]) -> None:
    IndexedText.objects.filter(document__in=documents.values("pk")).delete()


@empties_collections
def _erase_pools_and_runs(collection: Collection) -> None:
    later = Pool.everything.filter(collection=collection).order_by("-version")
    for version in later.values_list("version", flat=True).distinct():
        Pool.everything.filter(collection=collection, version=version).delete()
    Run.everything.filter(collection=collection).delete()
