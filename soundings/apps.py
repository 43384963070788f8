"""The site as a Django app: its commands, sign-in and home page."""

from django.apps import AppConfig


class SoundingsConfig(AppConfig):
    name = "soundings"
    verbose_name = "Soundings"

    def ready(self) -> None:
        """Watch over what ends with a password."""
        from django.contrib.auth import get_user_model
        from django.db.models.signals import pre_save

        from soundings.accounts.tokens import keep_tokens_when_rehashed

        pre_save.connect(keep_tokens_when_rehashed, sender=get_user_model())
