"""The addresses of links to reports; `evaluation/urls.py` takes them in."""

from django.urls import URLPattern, path

from evaluation.sharing import api, views

urlpatterns: list[URLPattern] = [
    path("reports/<int:report_id>/share/", views.report_share, name="report_share"),
    path(
        "reports/<int:report_id>/share/<int:link_id>/withdraw/", views.report_unshare, name="report_unshare"
    ),
    path("shared/<str:token>/", views.shared, name="shared"),
    path("shared/<str:token>/<slug:variant>.svg", views.shared_picture, name="shared_picture"),
]
api_urlpatterns: list[URLPattern] = [
    path("reports/<int:report_id>/links/", api.SharedLinks.as_view(), name="api_report_links"),
    path("reports/<int:report_id>/links/<int:link_id>/", api.OneSharedLink.as_view(), name="api_report_link"),
]
