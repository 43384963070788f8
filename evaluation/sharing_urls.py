"""The addresses of links to reports; `evaluation/urls.py` takes them in."""

from django.urls import URLPattern

from evaluation.reports import sharing_api as api
from evaluation.reports import sharing_views as views
from pooling.interface.addresses import call, page

urlpatterns: list[URLPattern] = [
    page("reports/<int:report_id>/share/", views.report_share, "report_share"),
    page("reports/<int:report_id>/share/<int:link_id>/withdraw/", views.report_unshare, "report_unshare"),
    page("shared/<str:token>/", views.shared, "shared"),
    page("shared/<str:token>/<slug:variant>.svg", views.shared_picture, "shared_picture"),
]
api_urlpatterns: list[URLPattern] = [
    call("reports/<int:report_id>/links/", api.SharedLinks, "api_report_links"),
    call("reports/<int:report_id>/links/<int:link_id>/", api.OneSharedLink, "api_report_link"),
]
