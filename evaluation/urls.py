from django.urls import URLPattern, re_path

from evaluation import retrieval_urls
from evaluation.charts import api as chart_api
from evaluation.charts import views as chart_views
from evaluation.comparisons import api as comparison_api
from evaluation.comparisons import views as comparison_views
from evaluation.estimates import views as pool_views
from evaluation.failures import api as where_api
from evaluation.failures import ceiling, document_recall, fact_api, fact_views
from evaluation.failures import views as where_views
from evaluation.plans import api as plan_api
from evaluation.plans import replay_api, replay_views
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
]
api_urlpatterns: list[URLPattern] = [
    *below(
        "collections/<slug:slug>/",
        call("reports/", api.Reports, "api_reports"),
        call("reports/trend/", trend_views.ReportTrend, "api_report_trend"),
        call("measure/", measuring_views.Measure, "api_measure"),
        call("replays/", replay_api.Replays, "api_replays"),
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
        call("facts/", fact_api.ReportFacts, "api_report_facts"),
        call("facts/difference/", fact_api.ReportFactDifference, "api_report_fact_difference"),
        call("queries/", where_api.ReportQueries, "api_report_queries"),
        call("queries/missed/", where_api.MissedDocuments, "api_report_missed"),
        call("queries/detail/", where_api.ReportQuery, "api_report_query"),
        call("deciding/", comparison_api.Deciding, "api_deciding"),
    ),
    *below(
        "replays/<int:replay_id>/",
        call("", replay_api.ReplayResult, "api_replay"),
        call("files/<slug:format>/", replay_api.ReplayFile, "api_replay_file"),
        call("restore/", Restored, "api_replay_restore", kind="replay"),
    ),
    call("pools/<int:pool_id>/diagnostics/", pool_views.PoolDiagnostics, "api_pool_diagnostics"),
]
# Approximate indexes and canaries.
urlpatterns += retrieval_urls.urlpatterns
api_urlpatterns += retrieval_urls.api_urlpatterns
# Read-only links to reports.
urlpatterns += [
    page("reports/<int:report_id>/share/", sharing_views.report_share, "report_share"),
    page(
        "reports/<int:report_id>/share/<int:link_id>/withdraw/",
        sharing_views.report_unshare,
        "report_unshare",
    ),
    page("shared/<str:token>/", sharing_views.shared, "shared"),
    page("shared/<str:token>/<slug:variant>.svg", sharing_views.shared_picture, "shared_picture"),
]
api_urlpatterns += [
    *below(
        "reports/<int:report_id>/links/",
        call("", sharing_views.SharedLinks, "api_report_links"),
        call("<int:link_id>/", sharing_views.OneSharedLink, "api_report_link"),
    ),
]
