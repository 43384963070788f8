from django.apps import AppConfig


class SoundingsConfig(AppConfig):
    name = "soundings"
    verbose_name = "Soundings"

    def ready(self) -> None:
        """Watch what ends with a password; register what is kept for days; count and send errors."""
        from django.conf import settings
        from django.contrib.auth import get_user_model
        from django.db.models.signals import pre_save

        from pooling.jobs.registering import load_what_registers
        from soundings.accounts.tokens import keep_tokens_when_rehashed
        from soundings.serving.figures import start_counting
        from soundings.serving.logs import start_sending
        from soundings.trail.writing import listen

        load_what_registers(self.module)
        listen()
        pre_save.connect(keep_tokens_when_rehashed, sender=get_user_model())
        if settings.METRICS:
            start_counting()
        if settings.SENTRY_DSN:
            start_sending(settings.SENTRY_DSN)
