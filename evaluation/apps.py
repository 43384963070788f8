"""Stage 3 as a Django app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        """Make the work of this stage's jobs known to the background worker."""
        from evaluation import campaigns, replays, reports  # noqa: F401
