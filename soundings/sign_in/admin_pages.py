"""Pages of site admins under /admin/: link an account to a person of the provider, or end a second factor."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from soundings.sign_in.taking_in import PROVIDER


class LinkPage(admin.ModelAdmin):  # type: ignore[type-arg]
    fields = ("user", "uid")
    raw_id_fields = ("user",)
    list_display = ("user", "uid", "last_login")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """There is one provider."""
        obj.provider = PROVIDER
        super().save_model(request, obj, form, change)


class SecondFactorPage(admin.ModelAdmin):  # type: ignore[type-arg]
    """Second factors, to delete those of somebody who has lost phone and recovery codes; never a secret."""

    fields = readonly_fields = ("user", "type", "created_at", "last_used_at")
    list_display = ("user", "type", "created_at", "last_used_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """People set theirs up themselves."""
        return False
