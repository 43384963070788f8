from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.charts.over_time import over_time_size, runs_over_time
from evaluation.measures import MEASURES, titled
from evaluation.report_store.files import chart_key, usual_cutoff
from evaluation.reports.changes import Change, are_equal
from evaluation.reports.trends import (
    MOST_REPORTS,
    Point,
    Trend,
    cautions,
    changes_between,
    common_cutoffs,
    measures_of,
    reports_chosen,
    trend_frame,
    trend_of,
)
from evaluation.scoring.figures import HeadlineEstimate
from evaluation.scoring.wording import decimal, interval
from pooling.formats.wording import signed
from pooling.interface.api import answers, parsed
from pooling.interface.charting import VARIANTS, in_look, to_svg
from pooling.interface.forms import say_instead, say_missing
from pooling.interface.problems import InputError
from pooling.interface.shapes import shape
from pooling.models import Collection
from pooling.people.access import collection_for

MOST_LISTED = 200
# A picture is drawn when somebody looks and kept for as long as somebody may look again.
KEPT_SECONDS = 24 * 3600
NOTHING: dict[str, object] = {"measure": "", "k": None, "reports": [], "runs": [], "cautions": []}


@login_required
@require_safe
def report_trend(request: HttpRequest, slug: str) -> HttpResponse:
    collection = collection_for(request.user, slug)
    trend = _chosen_trend(request, collection)
    if trend is not None:
        _say_left_out(request, trend)
    listed = collection.reports.listed().select_related("release").defer("result", "options")[:MOST_LISTED]
    say_missing(request, "report", [report.pk for report in (trend.reports if trend else listed)])
    context: dict[str, object] = {"collection": collection, "section": "trend", "listed": listed}
    if trend is not None:
        reports = trend.reports
        context |= {
            "trend": trend,
            "chosen": {report.pk for report in reports},
            "title": _title(trend),
            "measures": [MEASURES[name] for name in measures_of(reports)],
            "cutoffs": common_cutoffs(reports, trend.measure),
            "rows": [_row(trend, run) for run in trend.points],
            "cautions": cautions(reports, with_estimates=trend.average is not None),
            "changes": changes_between(reports),
            "is_equal": len(reports) == 2 and are_equal(*reports),
            "picture": _picture(collection, trend),
        }
    return render(request, "evaluation/trend.html", context)


@login_required
@require_safe
def report_trend_picture(request: HttpRequest, slug: str, variant: str) -> HttpResponse:
    trend = _chosen_trend(request, collection_for(request.user, slug))
    if variant not in VARIANTS or trend is None or not trend.curves:
        raise Http404("There is no such picture.")
    narrow = variant.endswith("narrow")
    identity = repr([*map(chart_key, trend.reports), trend.measure, trend.k, trend.average, narrow])
    key = f"trend-{sha256(identity.encode()).hexdigest()}"
    svg: bytes | None = cache.get(key)
    if svg is None:
        svg = to_svg(runs_over_time(trend_frame(trend), title=_title(trend), narrow=narrow))
        cache.set(key, svg, KEPT_SECONDS)
    return HttpResponse(in_look(svg, variant), content_type="image/svg+xml")


@login_required
@require_safe
def report_changes(request: HttpRequest, slug: str) -> HttpResponse:
    """The old address of two reports against each other."""
    collection = collection_for(request.user, slug)
    keys = [key for name in ("before", "after") if (key := request.GET.get(name, ""))]
    query = urlencode({"report": keys, "measure": request.GET.getlist("measure")}, doseq=True)
    return redirect(
        f"{reverse('report_trend', args=[collection.slug])}{'?' if query else ''}{query}", permanent=True
    )


def _chosen_trend(request: HttpRequest, collection: Collection) -> Trend | None:
    """The trend of the query string, else of recall at the K nearest 10; None without two such reports."""
    reports = reports_chosen(collection, request.GET.getlist("report"))
    measures = measures_of(reports)
    if len(reports) < 2 or not measures:
        return None
    name = request.GET.get("measure", "")
    measure = name if name in measures else measures[0]
    cutoffs = common_cutoffs(reports, measure)
    choices = {str(k): k for k in cutoffs}
    over = [k for k in cutoffs if k is not None]
    k = choices.get(request.GET.get("k", ""), usual_cutoff(over) if over else None)
    return trend_of(reports, measure, k)


def _say_left_out(request: HttpRequest, trend: Trend) -> None:
    for name, instead in {"measure": trend.measure, "k": str(trend.k or "")}.items():
        if (given := request.GET.get(name, "")) not in ("", instead):
            say_instead(request, name, given, instead and f"{name}={instead}")


class TrendReportSerializer(serializers.Serializer[Any]):
    """A report of a trend, with what changed since the one before it."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    release = serializers.CharField()
    created_at = serializers.DateTimeField()
    changes = shape(Change)(many=True, help_text="Of the first report: none.")


class TrendPointSerializer(serializers.Serializer[Any]):
    """A run's figure in a report."""

    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(
        allow_null=True, help_text="From the report before that has the run; null in the first."
    )
    other_file = serializers.BooleanField(help_text="The run of that name was another file there.")
    estimate = shape(HeadlineEstimate)(allow_null=True, help_text="Of recall, where an audit tells it.")


class TrendRunSerializer(serializers.Serializer[Any]):
    """A run, with a point or null for each report."""

    run = serializers.CharField()
    points = serializers.ListField(child=TrendPointSerializer(allow_null=True))


class TrendSerializer(serializers.Serializer[Any]):
    """Reports over time, oldest first, at one measure; the best run of the newest report first."""

    measure = serializers.CharField(help_text="Empty without two reports that have something in common.")
    k = serializers.IntegerField(allow_null=True, help_text="Null: over the whole run.")
    reports = TrendReportSerializer(many=True)
    runs = TrendRunSerializer(many=True)
    cautions = serializers.ListField(
        child=serializers.CharField(), help_text="Where the reports do not count alike."
    )


class TrendQuerySerializer(serializers.Serializer[Any]):
    report = serializers.ListField(
        child=serializers.IntegerField(),
        required=False,
        max_length=MOST_REPORTS,
        help_text="Some reports; the newest if absent.",
    )
    measure = serializers.CharField(required=False, help_text="The first that all have, if absent.")
    k = serializers.IntegerField(required=False, help_text="10, or the nearest, if absent.")


class ReportTrend(APIView):
    @answers(TrendSerializer, operation_id="reports_trend", parameters=[TrendQuerySerializer])
    def get(self, request: Request, slug: str) -> object:
        """Each run's figure in each report, its changes, and where the reports do not count alike."""
        collection = collection_for(request.user, slug)
        values = parsed(TrendQuerySerializer, request)
        if keys := values.get("report"):
            there = set(collection.reports.listed().values_list("pk", flat=True))
            for key in set(keys) - there:
                raise InputError(f"This collection has no report {key}.", field="report")
        trend = _chosen_trend(request._request, collection)
        if trend is None:
            return NOTHING
        offers: list[tuple[str, object, Sequence[object]]] = [
            ("measure", trend.measure, measures_of(trend.reports)),
            ("k", trend.k, common_cutoffs(trend.reports, trend.measure)),
        ]
        for name, chosen, offered in offers:
            if values.get(name, chosen) != chosen:
                names = ", ".join("none (the whole run)" if one is None else str(one) for one in offered)
                problem = f"These reports have no {name} {values[name]} in common; choose one of {names}."
                raise InputError(problem, field=name)
        return _plain(trend)


def _plain(trend: Trend) -> dict[str, object]:
    since = {report.pk: changes for report, changes in changes_between(trend.reports)}
    return {
        "measure": trend.measure,
        "k": trend.k,
        "reports": [
            {
                "id": report.pk,
                "name": report.name,
                "release": report.release.name,
                "created_at": report.created_at,
                "changes": since.get(report.pk, []),
            }
            for report in trend.reports
        ],
        "runs": [
            {"run": run, "points": [None if point is None else _point(point) for point in points]}
            for run, points in trend.points.items()
        ],
        "cautions": cautions(trend.reports, with_estimates=trend.average is not None),
    }


def _point(point: Point) -> dict[str, object]:
    figure = {name: point.figure.get(name) for name in ("mean", "low", "high", "estimate")}
    return {**figure, "difference": point.difference, "other_file": point.other_file}


def _row(trend: Trend, run: str) -> dict[str, Any]:
    return {
        "run": run,
        "cells": [None if point is None else _cell(trend, point) for point in trend.points[run]],
    }


def _cell(trend: Trend, point: Point) -> dict[str, Any]:
    value, low, high, difference = trend.read(point)
    return {
        "mean": decimal(value),
        "interval": interval({"low": low, "high": high}).strip(),
        "change": "" if difference is None else signed(difference),
        "moved": bool(difference and abs(difference) >= 0.0005),
        "other_file": point.other_file,
    }


def _title(trend: Trend) -> str:
    return titled(trend.measure, trend.k) + (", estimated" if trend.average else "")


def _picture(collection: Collection, trend: Trend) -> dict[str, Any] | None:
    if not trend.curves:
        return None

    names = [report.pk for report in trend.reports]
    query = urlencode({"report": names, "measure": trend.measure, "k": trend.k or ""}, doseq=True)
    title = _title(trend)
    runs, what = len(trend.curves), "Estimate" if trend.average else "Mean"
    more = f" The {runs} best of {len(trend.points)} runs." if len(trend.points) > runs else ""
    return {
        "addresses": {
            variant.replace("-", "_"): (
                f"{reverse('report_trend_picture', args=[collection.slug, variant])}?{query}"
            )
            for variant in VARIANTS
        },
        "wide": over_time_size(runs),
        "narrow": over_time_size(runs, narrow=True),
        "alt": f"{title} of {runs} runs in {len(names)} reports; the table below has the same numbers.",
        "reading": f"{what} with its interval in each report, oldest first.{more}",
    }
