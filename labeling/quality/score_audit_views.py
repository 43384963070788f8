from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.serializer_helpers import ReturnDict
from rest_framework.views import APIView

from labeling.access import prelabeler_for_admin
from labeling.models import Prelabeler, Queue
from labeling.quality.score_audits import (
    USUAL_PAIRS,
    USUAL_STRATA,
    AuditDraw,
    AuditFacts,
    audits_of,
    draw_audit,
    plan_audit,
    rate_source,
)
from labeling.quality.strata import MOST_STRATA, StratumFacts
from labeling.queues.opening import LARGEST_SAMPLE, LARGEST_SEED
from pooling.interface.api import parsed, person, takes
from pooling.interface.forms import fill_from_address, show_problem
from pooling.interface.problems import refusals
from pooling.interface.shapes import shape
from pooling.models import Collection, Pool
from pooling.people.access import ADMIN, collection_for, pool_for


class AuditRequestSerializer(serializers.Serializer[Any]):
    """From which pool, and how many pairs. With `dry_run` nothing is drawn."""

    pool = serializers.IntegerField(min_value=1, max_value=2**62, help_text="Its number.")
    pairs = serializers.IntegerField()
    strata = serializers.IntegerField(default=USUAL_STRATA, help_text="Maximum number of score bands.")
    seed = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=0, max_value=LARGEST_SEED
    )
    judgments_per_item = serializers.IntegerField(default=1, min_value=1, max_value=20)
    dry_run = serializers.BooleanField(default=False)


class AuditAnswer(AuditFacts):
    """How the pairs are spread, what that promises of the number of relevant ones, and the queue, if any."""

    queue: int | None
    name: str | None


shape(StratumFacts, "AuditStratum")
AuditPlanSerializer = shape(AuditAnswer, "AuditPlan")


class ScoreAudits(APIView):
    @takes(AuditRequestSerializer, gives=AuditPlanSerializer, also={201: AuditPlanSerializer})
    def post(self, request: Request, prelabeler_id: int) -> Response:
        """Draw pairs without a label from bands of the model's scores, and open them as a queue."""
        prelabeler = prelabeler_for_admin(request.user, prelabeler_id)
        body = parsed(AuditRequestSerializer, request)
        pool = pool_for(request.user, body["pool"], ADMIN)
        if body["dry_run"]:
            plan = plan_audit(pool, prelabeler, body["pairs"], strata=body["strata"]).facts()
            return Response(_answer(None, plan))
        draw = AuditDraw(body["pairs"], body["strata"], body["seed"], body["judgments_per_item"])
        queue = draw_audit(pool, prelabeler, draw, by=person(request))
        return Response(_answer(queue, queue.pool.provenance), status=status.HTTP_201_CREATED)


def _answer(queue: Queue | None, plan: AuditFacts) -> ReturnDict[str, Any]:
    queue_facts = {"queue": queue and queue.pk, "name": queue and queue.name}
    return AuditPlanSerializer({**plan, **queue_facts}).data


class AuditForm(forms.Form):
    pool = forms.ModelChoiceField(Pool.objects.none(), empty_label=None)
    prelabeler = forms.ModelChoiceField(
        Prelabeler.objects.none(), empty_label=None, label="Model whose scores form the strata"
    )
    pairs = forms.IntegerField(
        initial=USUAL_PAIRS,
        min_value=1,
        max_value=LARGEST_SAMPLE,
        label="Pairs to judge",
        help_text="At least 30 for each stratum, or all of its pairs.",
    )
    strata = forms.IntegerField(
        initial=USUAL_STRATA,
        min_value=1,
        max_value=MOST_STRATA,
        label="Maximum number of score bands",
        help_text="Pairs without a score form an additional stratum.",
    )
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=LARGEST_SEED, help_text="Empty: drawn at random."
    )
    judgments_per_item = forms.IntegerField(
        required=False, min_value=1, max_value=20, label="Judgments per pair", help_text="Empty: 1."
    )

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pools = collection.pools.listed().exclude(strategy__in=Pool.PICKED).defer("diagnostics")
        self.fields["pool"].queryset = pools  # type: ignore[attr-defined]
        self.fields["prelabeler"].queryset = collection.prelabelers.listed()  # type: ignore[attr-defined]

    def draw(self) -> AuditDraw:
        data = self.cleaned_data
        return AuditDraw(data["pairs"], data["strata"], data["seed"], data["judgments_per_item"] or 1)


@dataclass(frozen=True)
class StratumRow:
    """A stratum of a plan, where its supposed rate comes from, and that rate in per cent."""

    stratum: StratumFacts
    source: str
    percent: float


@login_required
@require_http_methods(["GET", "POST"])
def score_audits(request: HttpRequest, slug: str) -> HttpResponse:
    """The form; with the number of pairs in the address the plan, and by POST the draw."""
    collection = collection_for(request.user, slug, ADMIN)
    if request.method == "POST":
        form = AuditForm(collection, request.POST)
        if form.is_valid():
            try:
                pool, prelabeler = form.cleaned_data["pool"], form.cleaned_data["prelabeler"]
                queue = draw_audit(pool, prelabeler, form.draw(), by=person(request))
                messages.success(request, f"Queue “{queue.name}” is open; people judge it blind.")
                return redirect(queue)
            except refusals() as error:
                show_problem(form, error)
        return _page(request, collection, form, None)
    if "pairs" not in request.GET:
        form = AuditForm(collection)
        fill_from_address(request, form, form.fields)
        return _page(request, collection, form, None)
    form, plan = AuditForm(collection, request.GET), None
    if form.is_valid():
        try:
            data = form.cleaned_data
            drawable = plan_audit(data["pool"], data["prelabeler"], data["pairs"], strata=data["strata"])
            plan = drawable.facts()
        except refusals() as error:
            show_problem(form, error)
    return _page(request, collection, form, plan)


def _page(
    request: HttpRequest, collection: Collection, form: AuditForm, plan: AuditFacts | None
) -> HttpResponse:
    strata = [] if plan is None else plan["strata"]
    context = {
        "collection": collection,
        "section": "prelabels",
        "form": form,
        "plan": plan,
        "strata": [StratumRow(stratum, rate_source(stratum), 100 * stratum["rate"]) for stratum in strata],
        "audits": audits_of(collection),
        "can_draw": all(form.fields[name].queryset.exists() for name in ("pool", "prelabeler")),  # type: ignore[attr-defined]
    }
    return render(request, "labeling/score_audits.html", context)
