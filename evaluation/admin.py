"""Reports and replays in the admin, to look at; they are made through the pages and the HTTP interface."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from evaluation.models import Replay, Report


@admin.register(Report)
class ReportAdmin(admin.ModelAdmin[Report]):
    list_display = ("name", "collection", "release", "created_by", "created_at")
    list_filter = ("collection",)
    list_select_related = ("collection", "release", "created_by")
    search_fields = ("name",)
    readonly_fields = [field.name for field in (*Report._meta.fields, *Report._meta.many_to_many)]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Replay)
class ReplayAdmin(admin.ModelAdmin[Replay]):
    list_display = ("name", "collection", "created_by", "created_at")
    list_filter = ("collection",)
    list_select_related = ("collection", "created_by")
    search_fields = ("name",)
    readonly_fields = [field.name for field in Replay._meta.get_fields()]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
