"""Stage 2 as a Django app."""

from django.apps import AppConfig


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        """Register what the worker does: imports, opening, changing and finishing of queues, pre-labels."""
        from labeling.adaptive import finishing
        from labeling.adaptive import prior as live_prior
        from labeling.gold import importing as gold_import
        from labeling.prelabels import passes as prelabel_jobs
        from labeling.qrels import imported as label_import
        from labeling.queues import opening_jobs as opening
        from labeling.queues import redundancy
