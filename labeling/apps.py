"""Stage 2 as a Django app."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        """Register the import of qrels, for the worker as for the site."""
        from labeling import label_import  # noqa: F401
