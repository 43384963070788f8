"""Links to reports, as HTTP calls read and write them."""

from __future__ import annotations

from rest_framework import serializers

from evaluation.models import SharedLink
from evaluation.report_store.shared_links import LONGEST_DAYS, LONGEST_NOTE, USUAL_DAYS


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
