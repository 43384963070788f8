"""The addresses of what retrieval engineers watch: approximate indexes and canaries."""

from django.urls import URLPattern, path

from evaluation.canaries import api as canary_api
from evaluation.canaries import hooks_api, hooks_views
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
    path("collections/<slug:slug>/webhooks/", hooks_views.webhooks, name="webhooks"),
    path("collections/<slug:slug>/webhooks/new/", hooks_views.webhook_new, name="webhook_new"),
    path("webhooks/<int:webhook_id>/", hooks_views.webhook, name="webhook"),
    path("webhooks/<int:webhook_id>/test/", hooks_views.webhook_test, name="webhook_test"),
    path("webhooks/<int:webhook_id>/remove/", hooks_views.webhook_remove, name="webhook_remove"),
    path(
        "webhooks/<int:webhook_id>/messages/<int:delivery_id>/again/",
        hooks_views.webhook_delivery_again,
        name="webhook_delivery_again",
    ),
]
api_urlpatterns: list[URLPattern] = [
    path(
        "collections/<slug:slug>/latency/", latency_api.LatencyReports.as_view(), name="api_latency_reports"
    ),
    path("latency/<int:report_id>/", latency_api.LatencyResult.as_view(), name="api_latency_report"),
    path(
        "latency/<int:report_id>/files/<slug:format>/",
        latency_api.LatencyFile.as_view(),
        name="api_latency_file",
    ),
    path("latency/<int:report_id>/restore/", Restored.as_view(kind="index"), name="api_latency_restore"),
    path("canaries/<int:canary_id>/restore/", Restored.as_view(kind="canary"), name="api_canary_restore"),
    path("collections/<slug:slug>/canaries/", canary_api.Canaries.as_view(), name="api_canaries"),
    path("canaries/<int:canary_id>/", canary_api.OneCanary.as_view(), name="api_canary"),
    path("collections/<slug:slug>/webhooks/", hooks_api.Webhooks.as_view(), name="api_webhooks"),
    path("webhooks/<int:webhook_id>/", hooks_api.OneWebhook.as_view(), name="api_webhook"),
    path("webhooks/<int:webhook_id>/test/", hooks_api.WebhookTest.as_view(), name="api_webhook_test"),
    path(
        "webhooks/<int:webhook_id>/deliveries/",
        hooks_api.WebhookDeliveries.as_view(),
        name="api_webhook_deliveries",
    ),
    path(
        "webhooks/<int:webhook_id>/deliveries/<int:delivery_id>/again/",
        hooks_api.WebhookDeliveryAgain.as_view(),
        name="api_webhook_delivery_again",
    ),
    path("canaries/<int:canary_id>/test/", canary_api.CanaryTest.as_view(), name="api_canary_test"),
    path(
        "canaries/<int:canary_id>/messages/",
        canary_api.CanaryMessages.as_view(),
        name="api_canary_messages",
    ),
    path(
        "canaries/<int:canary_id>/messages/<int:delivery_id>/again/",
        canary_api.CanaryMessageAgain.as_view(),
        name="api_delivery_again",
    ),
    path(
        "canaries/<int:canary_id>/files/<slug:format>/",
        canary_api.CanaryFile.as_view(),
        name="api_canary_file",
    ),
    path("canaries/<int:canary_id>/queries/", canary_api.CanaryQueries.as_view(), name="api_canary_queries"),
]
