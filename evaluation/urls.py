"""The addresses of this stage: pages, and the HTTP interface below /api/."""

from django.urls import URLPattern, path, re_path

from evaluation import retrieval_urls, sharing_urls
from evaluation.charts import api as chart_api
from evaluation.charts import views as chart_views
from evaluation.comparisons import api as comparison_api
from evaluation.comparisons import views as comparison_views
from evaluation.fact_reports import api as fact_api
from evaluation.fact_reports import views as fact_views
from evaluation.failures import api as where_api
from evaluation.failures import ceiling, document_recall
from evaluation.failures import views as where_views
from evaluation.plans import api as plan_api
from evaluation.plans import views as plan_views
from evaluation.pool_estimates import views as pool_views
from evaluation.replays import api as replay_api
from evaluation.replays import views as replay_views
from evaluation.reports import api, change_views, measuring_views, trend_views, views
from pooling.tidying.api import Restored

urlpatterns: list[URLPattern] = [
    path("collections/<slug:slug>/reports/", views.reports, name="reports"),
    path("collections/<slug:slug>/reports/new/", views.report_new, name="report_new"),
    path("collections/<slug:slug>/measure/", measuring_views.measure, name="measure"),
    path("reports/<int:report_id>/", views.report, name="report"),
    path("reports/<int:report_id>/download/<slug:format>/", views.report_download, name="report_download"),
    path(
        "reports/<int:report_id>/comparisons/",
        comparison_views.report_comparisons,
        name="report_comparisons",
    ),
    path(
        "reports/<int:report_id>/comparisons/labels.csv",
        comparison_views.report_deciding,
        name="report_deciding",
    ),
    path("reports/<int:report_id>/comparisons/decide/", comparison_views.report_decide, name="report_decide"),
    path(
        "reports/<int:report_id>/comparisons/forest/<slug:variant>.svg",
        comparison_views.report_forest,
        name="report_forest",
    ),
    path("collections/<slug:slug>/reports/trend/", trend_views.report_trend, name="report_trend"),
    path(
        "collections/<slug:slug>/reports/trend/<slug:variant>.svg",
        trend_views.report_trend_picture,
        name="report_trend_picture",
    ),
    path("collections/<slug:slug>/reports/changes/", trend_views.report_changes, name="report_changes"),
    path("reports/<int:report_id>/again/", change_views.report_again, name="report_again"),
    path("reports/<int:report_id>/charts/", chart_views.report_charts, name="report_charts"),
    path(
        "reports/<int:report_id>/charts/<slug:name>/", chart_views.report_chart_page, name="report_chart_page"
    ),
    re_path(
        r"^reports/(?P<report_id>\d+)/charts/(?P<name>[-\w]+)/(?P<variant>[-\w]+)\.(?P<suffix>svg|json)$",
        chart_views.report_picture,
        name="report_picture",
    ),
    path(
        "reports/<int:report_id>/charts/<slug:name>/download/<slug:format>/",
        chart_views.report_chart_file,
        name="report_chart_file",
    ),
    path("reports/<int:report_id>/where/", where_views.report_where, name="report_where"),
    path(
        "reports/<int:report_id>/where/<slug:variant>.svg",
        where_views.report_where_picture,
        name="report_where_picture",
    ),
    path(
        "reports/<int:report_id>/where/download/<slug:format>/",
        where_views.report_where_file,
        name="report_where_file",
    ),
    path("reports/<int:report_id>/facts/", fact_views.report_facts, name="report_facts"),
    path("reports/<int:report_id>/ceiling/", ceiling.report_ceiling, name="report_ceiling"),
    path("reports/<int:report_id>/documents/", document_recall.report_documents, name="report_documents"),
    path("reports/<int:report_id>/queries/", where_views.report_queries, name="report_queries"),
    path("reports/<int:report_id>/queries/detail/", where_views.report_query, name="report_query"),
    path(
        "reports/<int:report_id>/queries/download/<slug:what>/",
        where_views.report_queries_file,
        name="report_queries_file",
    ),
    path("collections/<slug:slug>/replays/", replay_views.replays, name="replays"),
    path("collections/<slug:slug>/replays/new/", replay_views.replay_new, name="replay_new"),
    path("replays/<int:replay_id>/", replay_views.replay, name="replay"),
    path(
        "replays/<int:replay_id>/download/<slug:format>/",
        replay_views.replay_download,
        name="replay_download",
    ),
    path("replays/<int:replay_id>/<slug:variant>.svg", replay_views.replay_chart, name="replay_chart"),
    path("collections/<slug:slug>/plan/", plan_views.plan_page, name="plan"),
    path("queues/<int:queue_id>/deciding/", comparison_views.queue_deciding, name="queue_deciding"),
    path("collections/<slug:slug>/pools/<int:pool_id>/finds/", pool_views.finds, name="pool_finds"),
]
api_urlpatterns: list[URLPattern] = [
    path("collections/<slug:slug>/reports/", api.Reports.as_view(), name="api_reports"),
    path(
        "collections/<slug:slug>/reports/trend/", trend_views.ReportTrend.as_view(), name="api_report_trend"
    ),
    path("collections/<slug:slug>/measure/", measuring_views.Measure.as_view(), name="api_measure"),
    path("reports/<int:report_id>/", api.ReportResult.as_view(), name="api_report"),
    path("reports/<int:report_id>/again/", change_views.ReportAgain.as_view(), name="api_report_again"),
    path("reports/<int:report_id>/files/<slug:format>/", api.ReportFile.as_view(), name="api_report_file"),
    path("reports/<int:report_id>/restore/", Restored.as_view(kind="report"), name="api_report_restore"),
    path(
        "reports/<int:report_id>/comparisons/",
        comparison_api.ReportComparisons.as_view(),
        name="api_report_comparisons",
    ),
    path("reports/<int:report_id>/changes/", change_views.ReportChanges.as_view(), name="api_report_changes"),
    path("reports/<int:report_id>/charts/", chart_api.ReportCharts.as_view(), name="api_report_charts"),
    path(
        "reports/<int:report_id>/charts/<slug:name>/",
        chart_api.ReportChart.as_view(),
        name="api_report_chart",
    ),
    path("reports/<int:report_id>/breakdown/", where_api.ReportBreakdown.as_view(), name="api_breakdown"),
    path(
        "reports/<int:report_id>/breakdown/files/<slug:format>/",
        where_api.BreakdownFile.as_view(),
        name="api_breakdown_file",
    ),
    path("reports/<int:report_id>/ceiling/", ceiling.ReportCeiling.as_view(), name="api_report_ceiling"),
    path(
        "reports/<int:report_id>/documents/",
        document_recall.ReportDocuments.as_view(),
        name="api_report_documents",
    ),
    path("reports/<int:report_id>/facts/", fact_api.ReportFacts.as_view(), name="api_report_facts"),
    path("reports/<int:report_id>/queries/", where_api.ReportQueries.as_view(), name="api_report_queries"),
    path(
        "reports/<int:report_id>/queries/missed/",
        where_api.MissedDocuments.as_view(),
        name="api_report_missed",
    ),
    path("reports/<int:report_id>/queries/detail/", where_api.ReportQuery.as_view(), name="api_report_query"),
    path("reports/<int:report_id>/deciding/", comparison_api.Deciding.as_view(), name="api_deciding"),
    path("collections/<slug:slug>/replays/", replay_api.Replays.as_view(), name="api_replays"),
    path("replays/<int:replay_id>/", replay_api.ReplayResult.as_view(), name="api_replay"),
    path(
        "replays/<int:replay_id>/files/<slug:format>/",
        replay_api.ReplayFile.as_view(),
        name="api_replay_file",
    ),
    path("replays/<int:replay_id>/restore/", Restored.as_view(kind="replay"), name="api_replay_restore"),
    path("collections/<slug:slug>/plan/", plan_api.Plan.as_view(), name="api_plan"),
    path(
        "pools/<int:pool_id>/diagnostics/",
        pool_views.PoolDiagnostics.as_view(),
        name="api_pool_diagnostics",
    ),
]
# Approximate indexes and canaries.
urlpatterns += retrieval_urls.urlpatterns
api_urlpatterns += retrieval_urls.api_urlpatterns
urlpatterns += sharing_urls.urlpatterns
api_urlpatterns += sharing_urls.api_urlpatterns
