from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings


class SignInConfig(AppConfig):
    name = "soundings.sign_in"
    label = "sign_in"
    verbose_name = "Sign-in"

    def ready(self) -> None:
        from django.contrib import admin

        from soundings.installation.sign_in import LIBRARY, OFF
        from soundings.sign_in.admin_pages import LinkPage, SecondFactorPage
        from soundings.sign_in.chosen import FACTORS, LINKS, table

        for model in [model for model in admin.site._registry if model._meta.app_label in LIBRARY]:
            admin.site.unregister(model)
        if settings.OIDC:
            admin.site.register(table(LINKS).model, LinkPage)
        if settings.SECOND_FACTOR != OFF:
            admin.site.register(table(FACTORS).model, SecondFactorPage)
