"""Stage 3 as a Django app."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from pooling.models import Run

# Modules that say which work of the background worker is theirs.
WORKING = (
    "canaries.watching",
    "indexes.stored",
    "plans.launch",
    "replays.stored",
    "report_store.kinds",
    "reports.making",
)


def hear_of_run(sender: object, run: Run, **more: object) -> None:
    """Have a new run measured by the canaries."""
    from evaluation.canaries.watching import watch_run

    watch_run(run)


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        """Make the work of this stage's jobs known to the background worker, and hear of new runs."""
        for module in WORKING:
            import_module(f"evaluation.{module}")
        from pooling.signals import run_imported

        run_imported.connect(hear_of_run, dispatch_uid="canaries")
