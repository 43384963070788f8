from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from collections.abc import Set

    from django.contrib.admin.models import LogEntry
    from django.contrib.auth.models import User
    from django.http import HttpRequest


def on_sign_in(sender: object, request: HttpRequest, user: User, **more: object) -> None:
    from pooling.people.activity_log import record_action
    from soundings.accounts.languages import bring_language
    from soundings.sign_in.keeping import note_use

    bring_language(request, user)
    note_use(request, user)
    record_action(None, user, "signed in")


def on_sign_out(sender: object, request: HttpRequest, **more: object) -> None:
    from soundings.sign_in.keeping import forget_sign_out

    forget_sign_out(request)


def on_change_under_admin(sender: object, instance: LogEntry, created: bool, **more: object) -> None:
    from soundings.trail.writing import write_change

    if created:
        write_change(instance)


def on_account_saved(sender: object, instance: User, update_fields: Set[str] | None, **more: object) -> None:
    from soundings.accounts.tokens import keep_tokens_when_rehashed

    if update_fields == {"password"}:
        keep_tokens_when_rehashed(instance)


def on_account_removed(sender: object, instance: User, **more: object) -> None:
    """Also as one of many, of which Django's admin tells nothing."""
    from pooling.people.activity_log import record_action

    record_action(None, None, "account removed", f"account {instance.pk}")


class SoundingsConfig(AppConfig):
    name = "soundings"
    verbose_name = "Soundings"

    def ready(self) -> None:
        """Listen to accounts; count, and send errors, where that is wanted."""
        from django.conf import settings
        from django.contrib.admin.models import LogEntry
        from django.contrib.auth import get_user_model
        from django.contrib.auth.signals import user_logged_in, user_logged_out
        from django.db.models.signals import post_delete, post_save, pre_save

        from pooling.interface.registering import registers

        registers(self.module)
        user_logged_in.connect(on_sign_in, dispatch_uid="sign-ins")
        user_logged_out.connect(on_sign_out, dispatch_uid="sign-outs")
        post_save.connect(on_change_under_admin, sender=LogEntry, dispatch_uid="trail of changes")
        pre_save.connect(on_account_saved, sender=get_user_model(), dispatch_uid="tokens")
        post_delete.connect(on_account_removed, sender=get_user_model(), dispatch_uid="trail of accounts")
        if settings.METRICS:
            from soundings.serving.figures import start_counting

            start_counting()
        if settings.SENTRY_DSN:
            from soundings.serving.logs import start_sending

            start_sending(settings.SENTRY_DSN)
