"""The addresses of what retrieval engineers watch: approximate indexes and canaries."""

from django.urls import URLPattern, path

from evaluation.canaries import api as canary_api
from evaluation.canaries import views as canary_views
from evaluation.indexes import api as latency_api
from evaluation.indexes import views as latency_views
from pooling.tidying.api import Restored

urlpatterns: list[URLPattern] = [
    path("collections/<slug:slug>/latency/", latency_views.latency_reports, name="latency_reports"),
    path("collections/<slug:slug>/latency/new/", latency_views.latency_new, name="latency_new"),
    path("latency/<int:report_id>/", latency_views.latency_report, name="latency_report"),
    path(
        "latency/<int:report_id>/download/<slug:format>/",
        latency_views.latency_download,
        name="latency_download",
    ),
    path("latency/<int:report_id>/<slug:variant>.svg", latency_views.latency_chart, name="latency_chart"),
    path("collections/<slug:slug>/canaries/", canary_views.canaries, name="canaries"),
    path("collections/<slug:slug>/canaries/new/", canary_views.canary_new, name="canary_new"),
    path("canaries/<int:canary_id>/", canary_views.canary, name="canary"),
    path("canaries/<int:canary_id>/change/", canary_views.canary_edit, name="canary_edit"),
    path("canaries/<int:canary_id>/queries/", canary_views.canary_queries, name="canary_queries"),
    path("canaries/<int:canary_id>/test/", canary_views.canary_test, name="canary_test"),
    path(
        "canaries/<int:canary_id>/messages/<int:delivery_id>/again/",
        canary_views.delivery_again,
        name="delivery_again",
    ),
    path(
        "canaries/<int:canary_id>/download/<slug:format>/",
        canary_views.canary_download,
        name="canary_download",
    ),
    path("canaries/<int:canary_id>/<slug:variant>.svg", canary_views.canary_chart, name="canary_chart"),
]
api_urlpatterns: list[URLPattern] = [
    path(
        "collections/<slug:slug>/latency/", latency_api.LatencyReports.as_view(), name="api_latency_reports"
    ),
    path("latency/<int:report_id>/", latency_api.LatencyResult.as_view(), name="api_latency_report"),
    path("latency/<int:report_id>/restore/", Restored.as_view(kind="index"), name="api_latency_restore"),
    path("canaries/<int:canary_id>/restore/", Restored.as_view(kind="canary"), name="api_canary_restore"),
    path("collections/<slug:slug>/canaries/", canary_api.Canaries.as_view(), name="api_canaries"),
    path("canaries/<int:canary_id>/", canary_api.OneCanary.as_view(), name="api_canary"),
    path("canaries/<int:canary_id>/queries/", canary_api.CanaryQueries.as_view(), name="api_canary_queries"),
]
