"""The ranker's ceiling in a report: what a first stage hands on to the other runs, worked out when asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.comparisons.stored import PAIR, UNJUDGED, compared
from evaluation.failures.stage_ceiling import RecallCeiling, ceilings
from evaluation.measures.hajek import Design
from evaluation.models import Report
from evaluation.report_store.choices import conventions_from
from evaluation.report_store.completing import completed_labels
from evaluation.report_store.files import beside, run_names, runs_of, scan_beside
from evaluation.report_store.options import headline_k
from evaluation.scoring.evaluating import evaluate
from evaluation.scoring.results import Evaluation
from pooling.heavy import np, pl
from pooling.interface.api import answers
from pooling.interface.forms import AddressForm, say_left_out
from pooling.interface.pages import page_of
from pooling.interface.problems import InputError
from pooling.pools.building import pooled_pairs
from pooling.runs.stored import read_stored_run

#: Places of the first stage that are looked at, as far as they are more than K.
DEPTHS = (10, 20, 50, 100, 200, 500, 1000)
RANKERS_PER_PAGE = 15


class CeilingForm(AddressForm):
    stage1 = forms.ChoiceField(required=False, label="First stage")
    k = forms.TypedChoiceField(required=False, coerce=int, label="K")

    def __init__(self, data: Any, *, report: Report) -> None:
        super().__init__(data)
        self.offer(stage1=run_names(report), k=report.options["k"])

    def chosen(self, report: Report) -> CeilingChoice:
        """The choice, with what is left out or unknown as usual."""
        self.is_valid()
        values = self.cleaned_data
        return CeilingChoice(
            values.get("stage1") or run_names(report)[0], values.get("k") or headline_k(report.options)
        )


class CeilingChoice(NamedTuple):
    stage1: str
    k: int


@dataclass(frozen=True)
class CeilingRow:
    """One ranker over the first K1 documents of the first stage: shares of all relevant documents.

    elsewhere: documents in its first K that the first stage does not hand on; they are left out of its order.
    queries: in the means, which are weighted as those of the report.
    """

    run: str
    k1: int
    recall: RecallCeiling
    elsewhere: int
    queries: int

    @property
    def bars(self) -> list[tuple[str, float, float]]:
        """Found, lost and missed as places on a line of 100: name, start and length."""
        kept, lost, missed = (100 * self.recall[part] for part in ("found", "lost", "missed"))
        return [("found", 0.0, kept), ("lost", kept, lost), ("missed", kept + lost, missed)]


def ceiling_rows(
    report: Report, choice: CeilingChoice, rankers: Sequence[str] | None = None
) -> list[CeilingRow]:
    """A row for each of these runs, or all others, and K1 from K on; `InputError` if too large or deleted."""
    named = rankers if rankers is None else {choice.stage1, *rankers}
    runs = {run.name: run for run in runs_of(report) if named is None or run.name in named}
    # Without stored comparisons neither the weights of its queries nor all that its bounds rest on are known.
    is_bare = len(run_names(report)) > 1 and compared(report) is None
    if is_bare or sum(run.row_count for run in runs.values()) > settings.BACKGROUND_REPORT_ROWS:
        raise InputError(
            "These runs are too large for a page. Download them, and use: soundings evaluate … --stage1 RUN"
        )
    conventions = conventions_from(report.options["conventions"])
    frames = {name: read_stored_run(run, need_rank=conventions.ties == "rank") for name, run in runs.items()}
    first = frames.pop(choice.stage1)
    if not frames:
        return []
    pooled = _pool_of(report, choice.k)
    labels = completed_labels(report.release, [first, *frames.values(), pooled])
    depth = int(first.group_by("query_id").len()["len"].max() or 0)  # type: ignore[arg-type]
    wanted = [k1 for k1 in DEPTHS if k1 >= choice.k and k1 <= depth] or [max(depth, choice.k)]
    try:
        pool = pooled.join(labels, on="query_id", how="semi")
        evaluation = evaluate(labels, frames, [choice.k], ["recall"], conventions, pool=pool)
        result = ceilings(_weighted(evaluation, report), {choice.stage1: first}, wanted)
    except ValueError as error:
        raise InputError(str(error)) from error
    return [
        CeilingRow(run, k1, one.by_k[choice.k].recall, one.elsewhere, result.queries)
        for run, by_k1 in result.runs.items()
        for k1, one in by_k1.items()
    ]


def _weighted(evaluation: Evaluation, report: Report) -> Evaluation:
    weights = _weights_of(report)
    if weights is None:
        return evaluation
    each = np.array([weights.get(query, 0.0) for query in evaluation.labels.query_ids.to_list()])
    return replace(evaluation, design=Design(each, np.ones(len(each)), np.zeros(len(each), dtype=np.int64)))


def _weights_of(report: Report) -> dict[str, float] | None:
    """Query -> weight in the report's means, where these are taken back to a log."""
    comparisons = compared(report)
    return None if comparisons is None else comparisons.stored.get("weights")


def _pool_of(report: Report, k: int) -> pl.DataFrame:
    """What the bounds of the report's recall rest on: the pairs of its pools, and the unjudged documents of
    all its runs' first k, of which a page reads some alone."""
    pools = report.collection.pools.filter(name__in=report.options.get("pools", []))
    pooled, parts = pooled_pairs(pools), [pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String))]
    if pooled is not None:
        parts.append(pooled)
    if default_storage.exists(beside(report, UNJUDGED)):
        best = pl.min_horizontal([f"rank_{at}" for at in range(len(run_names(report)))])
        parts.append(scan_beside(report, UNJUDGED).filter(best <= k).select(PAIR).collect())
    return pl.concat(parts)


@login_required
@require_safe
def report_ceiling(request: HttpRequest, report_id: int) -> HttpResponse:
    """Each run's use of the first K1 documents of another one."""
    report = report_for(request.user, report_id)
    form = CeilingForm(request.GET, report=report)
    choice = form.chosen(report)
    say_left_out(request, form, choice._asdict())
    context: dict[str, Any] = {
        "report": report,
        "collection": report.collection,
        "section": "reports",
        "choice": choice,
        "runs": run_names(report),
        "cutoffs": report.options["k"],
        "is_weighted": _weights_of(report) is not None,
    }
    try:
        page = page_of(
            request, [name for name in run_names(report) if name != choice.stage1], RANKERS_PER_PAGE
        )
        context |= {"page": page, "rows": ceiling_rows(report, choice, list(page))}
    except InputError as error:
        context["problem"] = str(error)
    return render(request, "evaluation/report_ceiling.html", context)


class CeilingSerializer(serializers.Serializer[Any]):
    """One ranker over the first K1 documents of the first stage; found + lost + missed = 1."""

    run = serializers.CharField()
    k1 = serializers.IntegerField()
    found = serializers.FloatField(source="recall.found")
    lost = serializers.FloatField(source="recall.lost")
    missed = serializers.FloatField(source="recall.missed")
    ceiling = serializers.FloatField(source="recall.ceiling")
    low = serializers.FloatField(source="recall.low", help_text="Of the ceiling, whatever the labels.")
    high = serializers.FloatField(source="recall.high")
    elsewhere = serializers.IntegerField(help_text="Documents that the first stage does not hand on.")
    queries = serializers.IntegerField(help_text="With a relevant label; weighted as the report’s means.")


class CeilingsSerializer(serializers.Serializer[Any]):
    """The ceilings over one first stage at one K."""

    stage1 = serializers.CharField()
    k = serializers.IntegerField()
    rows = CeilingSerializer(many=True)


class CeilingQuerySerializer(serializers.Serializer[Any]):
    """What is asked; the report's first run and usual K where it is left out."""

    stage1 = serializers.CharField(required=False)
    k = serializers.IntegerField(required=False)


class ReportCeiling(APIView):
    @answers(CeilingsSerializer, parameters=[CeilingQuerySerializer])
    def get(self, request: Request, report_id: int) -> object:
        """Recall of each other run in three parts: found, lost by it, and missed by the first stage."""
        report = report_for(request.user, report_id)
        form = CeilingForm(request.query_params, report=report)
        if not form.is_valid():
            name, problems = next(iter(form.errors.items()))
            raise InputError(str(problems[0]), field=name)
        choice = form.chosen(report)
        rows = ceiling_rows(report, choice)
        return {"stage1": choice.stage1, "k": choice.k, "rows": rows}
