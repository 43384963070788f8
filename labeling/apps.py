"""Stage 2 as a Django app."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        """Register the imports, and the opening and changing of queues, for the worker as for the site."""
        from labeling import gold_import, label_import, opening, redundancy  # noqa: F401
