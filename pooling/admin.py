"""Stage 1 in Django's own admin, mostly for looking up: what has rules is changed on the pages."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from pooling.models import Collection, Document, Job, Membership, Pool, Query, Run


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows can be looked at, and nothing else."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    extra = 0
    autocomplete_fields = ["user"]


@admin.register(Collection)
class CollectionAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["name", "slug", "created_at"]
    search_fields = ["name", "slug"]
    inlines = [MembershipInline]


@admin.register(Query)
class QueryAdmin(ReadOnly):
    list_display = ["external_id", "text", "collection"]
    list_filter = ["collection"]
    list_select_related = ["collection"]
    search_fields = ["external_id", "text"]


@admin.register(Document)
class DocumentAdmin(ReadOnly):
    list_display = ["external_id", "title", "version", "collection"]
    list_filter = ["collection"]
    list_select_related = ["collection"]
    search_fields = ["external_id"]


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ["name", "collection", "query_count", "row_count", "depth", "imported_at"]
    list_filter = ["collection"]
    list_select_related = ["collection"]
    search_fields = ["name", "tag"]


@admin.register(Pool)
class PoolAdmin(ReadOnly):
    list_display = ["name", "collection", "strategy", "depth", "pair_count", "chosen_count", "built_at"]
    list_filter = ["collection"]
    list_select_related = ["collection"]


@admin.register(Job)
class JobAdmin(ReadOnly):
    list_display = ["kind", "collection", "state", "progress", "detail", "created_at"]
    list_filter = ["state", "kind"]
    list_select_related = ["collection"]
