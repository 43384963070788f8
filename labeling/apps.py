"""Stage 2 as a Django app."""

from importlib import import_module

from django.apps import AppConfig

# Modules that say which work is theirs: imports of files, and what the background worker does.
WORKING = (
    "adaptive.finishing",
    "adaptive.prior",
    "gold.importing",
    "judging.old_notes",
    "judgment_imports.importing",
    "judgment_imports.kinds",
    "prelabels.importing",
    "prelabels.passes",
    "qrels.imported",
    "queues.kinds",
    "queues.opening_jobs",
    "queues.redundancy",
)


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        """Register what the worker does: imports, changes of queues, pre-labels, and forgetting old notes."""
        for module in WORKING:
            import_module(f"labeling.{module}")
