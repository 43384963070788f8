"""Stage 1 as a Django app."""

from django.apps import AppConfig


class PoolingConfig(AppConfig):
    name = "pooling"
    verbose_name = "Pooling"

    def ready(self) -> None:
        """Register the kinds of jobs, for the worker as for the site."""
