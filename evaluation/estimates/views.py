from __future__ import annotations

from typing import Annotated, Any

from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.db.models import Count, Q, TextField
from django.db.models.functions import Cast
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from labeling.progress.judged_share import judged_share_of_pool
from labeling.qrels.labels import judged_labels, state_of_labels
from pooling.heavy import pl
from pooling.interface.api import answers
from pooling.interface.shapes import shape
from pooling.merging.stored_diagnosis import LabelFinds
from pooling.merging.stored_diagnosis import PoolDiagnostics as StoredDiagnostics
from pooling.merging.summary import diagnose_labels
from pooling.models import Pool
from pooling.people.access import pool_for
from pooling.pools.diagnosis_rows import label_rows

COLUMNS = ["query_id", "document_id", "run_count", "best_rank", "found_by"]
# A large pool takes about a second; the same labels need not be counted twice.
CACHED_SECONDS = 600


class AllOfPool(StoredDiagnostics):
    """Everything about a pool; by run means by its name."""

    # Bytewise by id.
    queries: Annotated[list[list[Any]], "[query id, pairs, pairs to the depth that one run alone found]."]
    labels: Annotated[
        LabelFinds | None,
        "labelled, relevant, relevant_alone by run, dry_depth, by_rank; null without a label.",
    ]


def pool_diagnostics(pool: Pool) -> AllOfPool:
    alone = Count("pk", filter=Q(run_count=1, is_beyond=False))
    rows = pool.entries.order_by().values_list("query__external_id").annotate(pairs=Count("pk"), alone=alone)
    queries = sorted(map(list, rows), key=lambda row: row[0].encode())
    stored: StoredDiagnostics = pool.diagnostics
    return {**stored, "queries": queries, "labels": pool_finds(pool)}


def pool_finds(pool: Pool) -> LabelFinds | None:
    """`pooling.merging.summary.diagnose_labels` on the labels as they stand; None without a label."""
    key = f"pool-finds-{pool.pk}-{pool.built_at.timestamp()}-{state_of_labels(pool.collection)}"
    # In a list, since None would look like nothing cached.
    boxed = cache.get(key)
    if boxed is None:
        boxed = [_counted(pool)]
        cache.set(key, boxed, CACHED_SECONDS)
    counted: LabelFinds | None = boxed[0]
    return counted


def _counted(pool: Pool) -> LabelFinds | None:
    labels = judged_labels(pool.collection)
    if labels.is_empty():
        return None
    finds = diagnose_labels(_entries(pool), labels, pool.diagnostics["runs"])
    return finds if finds["labelled"] else None


def _entries(pool: Pool) -> pl.DataFrame:
    """Pairs of a pool to its depth, each with its first finder; finders stay text, which parses slowly."""
    fields = ("query__external_id", "document__external_id", "run_count", "best_rank", "finders")
    rows = (
        pool.entries.filter(is_beyond=False)
        .order_by()
        .annotate(finders=Cast("found_by", TextField()))
        .values_list(*fields)
    )
    columns = list(zip(*rows.iterator(chunk_size=20_000), strict=True)) or [()] * len(COLUMNS)
    entries = pl.DataFrame(dict(zip(COLUMNS, map(list, columns), strict=True)))
    first = pl.col("found_by").str.extract(r"\[\[(\d+)").cast(pl.Int64)
    return entries.with_columns(runs=pl.concat_list(first)).drop("found_by")


@login_required
@require_safe
def finds(request: HttpRequest, slug: str, pool_id: int) -> HttpResponse:
    pool = pool_for(request.user, pool_id)
    if pool.collection.slug != slug:
        raise Http404
    label_finds = pool_finds(pool)
    context = {"pool": pool, "collection": pool.collection, "section": "pools", "finds": label_finds}
    context["pairs"] = sum(label_finds["by_rank"]["pairs"]) if label_finds else 0
    context["judged_share"] = judged_share_of_pool(pool) if label_finds else []
    context["label_rows"] = (
        label_rows(pool.diagnostics["runs"], label_finds["relevant_alone"]) if label_finds else []
    )
    partial = bool(request.headers.get("HX-Request"))
    return render(
        request, "evaluation/_pool_finds.html" if partial else "evaluation/pool_finds.html", context
    )


class PoolDiagnostics(APIView):
    @answers(shape(AllOfPool, "PoolDiagnostics"), operation_id="pools_diagnostics")
    def get(self, request: Request, pool_id: int) -> Response:
        """By run: pairs, lone finds, families, overlap; by query: pairs; and what the labels say so far."""
        return Response(pool_diagnostics(pool_for(request.user, pool_id)))
