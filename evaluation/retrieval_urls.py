"""The addresses of what retrieval engineers watch: approximate indexes and canaries."""

from django.urls import URLPattern

from evaluation.canaries import api as canary_api
from evaluation.canaries import hooks_views
from evaluation.canaries import views as canary_views
from evaluation.indexes import api as latency_api
from evaluation.indexes import views as latency_views
from pooling.interface.addresses import below, call, page
from pooling.tidying.api import Restored

urlpatterns: list[URLPattern] = [
    *below(
        "collections/<slug:slug>/",
        page("latency/", latency_views.latency_reports, "latency_reports"),
        page("latency/new/", latency_views.latency_new, "latency_new"),
        page("canaries/", canary_views.canaries, "canaries"),
        page("canaries/new/", canary_views.canary_new, "canary_new"),
        page("webhooks/", hooks_views.webhooks, "webhooks"),
        page("webhooks/new/", hooks_views.webhook_new, "webhook_new"),
    ),
    *below(
        "latency/<int:report_id>/",
        page("", latency_views.latency_report, "latency_report"),
        page("download/<slug:format>/", latency_views.latency_download, "latency_download"),
        page("<slug:variant>.svg", latency_views.latency_chart, "latency_chart"),
    ),
    *below(
        "canaries/<int:canary_id>/",
        page("", canary_views.one_canary, "canary"),
        page("change/", canary_views.canary_edit, "canary_edit"),
        page("queries/", canary_views.canary_queries, "canary_queries"),
        page("test/", canary_views.canary_test, "canary_test"),
        page("messages/<int:delivery_id>/again/", canary_views.delivery_again, "delivery_again"),
        page("download/<slug:format>/", canary_views.canary_download, "canary_download"),
        page("<slug:variant>.svg", canary_views.canary_chart, "canary_chart"),
    ),
    *below(
        "webhooks/<int:webhook_id>/",
        page("", hooks_views.webhook, "webhook"),
        page("test/", hooks_views.webhook_test, "webhook_test"),
        page("remove/", hooks_views.webhook_remove, "webhook_remove"),
        page(
            "messages/<int:delivery_id>/again/", hooks_views.webhook_delivery_again, "webhook_delivery_again"
        ),
    ),
]
api_urlpatterns: list[URLPattern] = [
    *below(
        "collections/<slug:slug>/",
        call("latency/", latency_api.LatencyReports, "api_latency_reports"),
        call("canaries/", canary_api.Canaries, "api_canaries"),
        call("webhooks/", hooks_views.Webhooks, "api_webhooks"),
    ),
    *below(
        "latency/<int:report_id>/",
        call("", latency_api.LatencyResult, "api_latency_report"),
        call("files/<slug:format>/", latency_api.LatencyFile, "api_latency_file"),
        call("restore/", Restored, "api_latency_restore", kind="index"),
    ),
    *below(
        "canaries/<int:canary_id>/",
        call("restore/", Restored, "api_canary_restore", kind="canary"),
        call("", canary_api.OneCanary, "api_canary"),
        call("test/", canary_api.CanaryTest, "api_canary_test"),
        call("messages/", canary_api.CanaryMessages, "api_canary_messages"),
        call("messages/<int:delivery_id>/again/", canary_api.CanaryMessageAgain, "api_delivery_again"),
        call("files/<slug:format>/", canary_api.CanaryFile, "api_canary_file"),
        call("queries/", canary_api.CanaryQueries, "api_canary_queries"),
    ),
    *below(
        "webhooks/<int:webhook_id>/",
        call("", hooks_views.OneWebhook, "api_webhook"),
        call("test/", hooks_views.WebhookTest, "api_webhook_test"),
        call("deliveries/", hooks_views.WebhookDeliveries, "api_webhook_deliveries"),
        call(
            "deliveries/<int:delivery_id>/again/",
            hooks_views.WebhookDeliveryAgain,
            "api_webhook_delivery_again",
        ),
    ),
]
