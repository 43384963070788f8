"""Links to reports over HTTP, for admins."""

from __future__ import annotations

from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from evaluation.access import report_for
from evaluation.models import SharedLink
from evaluation.report_store.shared_links import (
    LONGEST_DAYS,
    LONGEST_NOTE,
    USUAL_DAYS,
    Sharing,
    links_of,
    share,
    withdraw_link,
)
from evaluation.reports.sharing_forms import chosen_pair
from pooling.interface.api import answers, parsed, person, takes
from pooling.people.access import ADMIN, fetch
from pooling.tables.calls import lists
from pooling.tables.rows import Rows


class SharedLinkSerializer(serializers.ModelSerializer[SharedLink]):
    """A read-only link to a report; its `url` is shown once."""

    days = serializers.IntegerField(
        write_only=True, required=False, default=USUAL_DAYS, min_value=1, max_value=LONGEST_DAYS
    )
    until = serializers.DateField(
        write_only=True, required=False, default=None, allow_null=True, help_text="A day instead of `days`."
    )
    note = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_NOTE,
        help_text="Tells admins whom it is for.",
    )
    a = serializers.CharField(
        source="first", required=False, default="", allow_blank=True, help_text="Compare this run …"
    )
    b = serializers.CharField(
        source="second", required=False, default="", allow_blank=True, help_text="… with this one."
    )
    k = serializers.IntegerField(required=False, default=None, allow_null=True)
    created_by = serializers.CharField(source="created_by.username", read_only=True)
    url = serializers.CharField(read_only=True, required=False)

    class Meta:
        model = SharedLink
        fields = [
            *("id", "days", "until", "note", "a", "b", "k"),
            *("created_by", "created_at", "expires_at", "opened_at", "url"),
        ]
        read_only_fields = ["created_at", "expires_at", "opened_at"]


class SharedLinks(APIView):
    @lists(SharedLinkSerializer, operation_id="reports_links_list")
    def get(self, request: Request, report_id: int) -> Rows:
        """List the links that still work, newest first."""
        report = report_for(request.user, report_id, ADMIN)
        return links_of(report)

    @takes(SharedLinkSerializer, gives=SharedLinkSerializer, status=201, operation_id="reports_links_create")
    def post(self, request: Request, report_id: int) -> object:
        """Make a read-only link that needs no account, to the report or to a comparison of `a` with `b` at
        `k`; its address is only in this response."""
        report = report_for(request.user, report_id, ADMIN)
        given = parsed(SharedLinkSerializer, request)
        if given["first"] or given["second"]:
            named = {"a": given["first"], "b": given["second"], "k": given["k"]}
            given["first"], given["second"], given["k"] = chosen_pair(report, named)
        link, token = share(report, Sharing(**given), by=person(request))
        link.url = request.build_absolute_uri(reverse("shared", args=[token]))  # type: ignore[attr-defined]
        return link


class OneSharedLink(APIView):
    @answers(operation_id="reports_links_destroy")
    def delete(self, request: Request, report_id: int, link_id: int) -> None:
        """Withdraw a link."""
        report = report_for(request.user, report_id, ADMIN)
        rows = report.shared_links.select_related("report", "collection")
        withdraw_link(fetch(rows, pk=link_id), by=person(request))
