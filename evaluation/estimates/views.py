from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.estimates.finds import AllOfPool, pool_diagnostics, pool_finds
from labeling.progress.judged_share import judged_share_of_pool
from pooling.interface.api import answers
from pooling.interface.shapes import shape
from pooling.people.access import pool_for
from pooling.pools.diagnosis_rows import label_rows


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
