"""Stage 2 as a Django app."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        """Register the import of qrels and the opening of queues, for the worker as for the site."""
        from labeling import label_import, opening  # noqa: F401
