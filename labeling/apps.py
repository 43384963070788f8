"""Stage 2 as a Django app."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        """Register what the worker does: imports, opening, changing and finishing of queues, pre-labels."""
