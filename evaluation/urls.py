"""The addresses of this stage: pages, and the HTTP interface below /api/."""

from django.urls import URLPattern, path

from evaluation import api, views

urlpatterns: list[URLPattern] = [
    path("collections/<slug:slug>/reports/", views.reports, name="reports"),
    path("collections/<slug:slug>/reports/new/", views.report_new, name="report_new"),
    path("reports/<int:report_id>/", views.report, name="report"),
    path("reports/<int:report_id>/download/<slug:format>/", views.report_download, name="report_download"),
    path(
        "reports/<int:report_id>/<slug:measure>/<slug:variant>.svg", views.report_chart, name="report_chart"
    ),
]
api_urlpatterns: list[URLPattern] = [
    path("collections/<slug:slug>/reports/", api.Reports.as_view(), name="api_reports"),
    path("reports/<int:report_id>/", api.ReportResult.as_view(), name="api_report"),
]
