"""Stage 2 as a Django app."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        """Register for the worker what it does: imports, opening and changing of queues, pre-labels."""
        from labeling import gold_import, label_import, opening, prelabel_jobs, redundancy  # noqa: F401
