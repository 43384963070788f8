from __future__ import annotations

from django.urls import URLPattern, re_path

from evaluation.canaries import api as canary_api
from evaluation.canaries import hooks_views
from evaluation.canaries import views as canary_views
from evaluation.charts import api as chart_api
from evaluation.charts import views as chart_views
from evaluation.comparisons import api as comparison_api
from evaluation.comparisons import views as comparison_views
from evaluation.estimates import views as pool_views
from evaluation.failures import api as where_api
from evaluation.failures import ceiling, document_recall, fact_views
from evaluation.failures import views as where_views
from evaluation.indexes import api as latency_api
from evaluation.indexes import views as latency_views
from evaluation.plans import api as plan_api
from evaluation.plans import replay_views
from evaluation.plans import views as plan_views
from evaluation.reports import api, change_views, measuring_views, sharing_views, trend_views, views
from pooling.interface.addresses import below, call, page
from pooling.tidying.api import Restored

urlpatterns: list[URLPattern] = [
    *below(
        "collections/<slug:slug>/",
        page("reports/", views.reports, "reports"),
        page("reports/new/", views.report_new, "report_new"),
        page("measure/", measuring_views.measure, "measure"),
        page("reports/trend/", trend_views.report_trend, "report_trend"),
        page("reports/trend/<slug:variant>.svg", trend_views.report_trend_picture, "report_trend_picture"),
        page("reports/changes/", trend_views.report_changes, "report_changes"),
        page("replays/", replay_views.replays, "replays"),
        page("replays/new/", replay_views.replay_new, "replay_new"),
        page("plan/", plan_views.plan_page, "plan"),
        page("pools/<int:pool_id>/finds/", pool_views.finds, "pool_finds"),
    ),
    *below(
        "reports/<int:report_id>/",
        page("", views.one_report, "report"),
        page("download/<slug:format>/", views.report_download, "report_download"),
        page("comparisons/", comparison_views.report_comparisons, "report_comparisons"),
        page("comparisons/labels.csv", comparison_views.report_deciding, "report_deciding"),
        page("comparisons/decide/", comparison_views.report_decide, "report_decide"),
        page("comparisons/forest/<slug:variant>.svg", comparison_views.report_forest, "report_forest"),
        page("again/", change_views.report_again, "report_again"),
        page("charts/", chart_views.report_charts, "report_charts"),
        page("charts/<slug:name>/", chart_views.report_chart_page, "report_chart_page"),
        page(
            "charts/<slug:name>/download/<slug:format>/", chart_views.report_chart_file, "report_chart_file"
        ),
        page("where/", where_views.report_where, "report_where"),
        page("where/<slug:variant>.svg", where_views.report_where_picture, "report_where_picture"),
        page("where/download/<slug:format>/", where_views.report_where_file, "report_where_file"),
        page("facts/", fact_views.report_facts, "report_facts"),
        page("ceiling/", ceiling.report_ceiling, "report_ceiling"),
        page("documents/", document_recall.report_documents, "report_documents"),
        page("queries/", where_views.report_queries, "report_queries"),
        page("queries/detail/", where_views.report_query, "report_query"),
        page("queries/download/<slug:what>/", where_views.report_queries_file, "report_queries_file"),
    ),
    re_path(
        r"^reports/(?P<report_id>\d+)/charts/(?P<name>[-\w]+)/(?P<variant>[-\w]+)\.(?P<suffix>svg|json)$",
        chart_views.report_picture,
        name="report_picture",
    ),
    *below(
        "replays/<int:replay_id>/",
        page("", replay_views.one_replay, "replay"),
        page("download/<slug:format>/", replay_views.replay_download, "replay_download"),
        page("<slug:variant>.svg", replay_views.replay_chart, "replay_chart"),
    ),
    page("queues/<int:queue_id>/deciding/", comparison_views.queue_deciding, "queue_deciding"),
    # Approximate indexes and canaries.
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
    # Read-only links to reports.
    page("reports/<int:report_id>/share/", sharing_views.report_share, "report_share"),
    page(
        "reports/<int:report_id>/share/<int:link_id>/withdraw/",
        sharing_views.report_unshare,
        "report_unshare",
    ),
    page("shared/<str:token>/", sharing_views.shared, "shared"),
    page("shared/<str:token>/<slug:variant>.svg", sharing_views.shared_picture, "shared_picture"),
]
api_urlpatterns: list[URLPattern] = [
    *below(
        "collections/<slug:slug>/",
        call("reports/", api.Reports, "api_reports"),
        call("reports/trend/", trend_views.ReportTrend, "api_report_trend"),
        call("measure/", measuring_views.Measure, "api_measure"),
        call("replays/", plan_api.Replays, "api_replays"),
        call("plan/", plan_api.Plan, "api_plan"),
    ),
    *below(
        "reports/<int:report_id>/",
        call("", api.ReportResult, "api_report"),
        call("again/", change_views.ReportAgain, "api_report_again"),
        call("files/<slug:format>/", api.ReportFile, "api_report_file"),
        call("restore/", Restored, "api_report_restore", kind="report"),
        call("comparisons/", comparison_api.ReportComparisons, "api_report_comparisons"),
        call("changes/", change_views.ReportChanges, "api_report_changes"),
        call("charts/", chart_api.ReportCharts, "api_report_charts"),
        call("charts/<slug:name>/", chart_api.ReportChart, "api_report_chart"),
        call("breakdown/", where_api.ReportBreakdown, "api_breakdown"),
        call("breakdown/files/<slug:format>/", where_api.BreakdownFile, "api_breakdown_file"),
        call("ceiling/", ceiling.ReportCeiling, "api_report_ceiling"),
        call("documents/", document_recall.ReportDocuments, "api_report_documents"),
        call("facts/", where_api.ReportFacts, "api_report_facts"),
        call("facts/difference/", where_api.ReportFactDifference, "api_report_fact_difference"),
        call("queries/", where_api.ReportQueries, "api_report_queries"),
        call("queries/missed/", where_api.MissedDocuments, "api_report_missed"),
        call("queries/detail/", where_api.ReportQuery, "api_report_query"),
        call("deciding/", comparison_api.Deciding, "api_deciding"),
    ),
    *below(
        "replays/<int:replay_id>/",
        call("", plan_api.ReplayResult, "api_replay"),
        call("files/<slug:format>/", plan_api.ReplayFile, "api_replay_file"),
        call("restore/", Restored, "api_replay_restore", kind="replay"),
    ),
    call("pools/<int:pool_id>/diagnostics/", pool_views.PoolDiagnostics, "api_pool_diagnostics"),
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
    *below(
        "reports/<int:report_id>/links/",
        call("", sharing_views.SharedLinks, "api_report_links"),
        call("<int:link_id>/", sharing_views.OneSharedLink, "api_report_link"),
    ),
]
