from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from evaluation.models import Report
    from labeling.models import QrelsRelease, Queue
    from pooling.engine_models import Engine
    from pooling.models import Run


def on_run_imported(sender: object, run: Run, **more: object) -> None:
    from evaluation.canaries.watching import watch_run

    watch_run(run)


def on_release_made(sender: object, instance: QrelsRelease, created: bool, **more: object) -> None:
    from evaluation.canaries.hooks import tell_of_release

    if created:
        tell_of_release(instance)


def on_report_made(sender: object, instance: Report, created: bool, **more: object) -> None:
    from evaluation.canaries.hooks import tell_of_report

    if created:
        tell_of_report(instance)


def on_queue_emptied(sender: object, queue: Queue, **more: object) -> None:
    from evaluation.canaries.hooks import tell_of_queue

    tell_of_queue(queue)


def on_engine_failed(sender: object, engine: Engine, problem: str, **more: object) -> None:
    from evaluation.canaries.watching import tell_of_engine

    tell_of_engine(engine, problem)


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from django.db.models.signals import post_save

        from evaluation.models import Report
        from labeling.models import QrelsRelease
        from labeling.signals import queue_emptied
        from pooling.interface.registering import registers
        from pooling.signals import engine_failed, run_imported

        registers(self.module)
        post_save.connect(on_release_made, sender=QrelsRelease, dispatch_uid="webhooks of releases")
        post_save.connect(on_report_made, sender=Report, dispatch_uid="webhooks of reports")
        queue_emptied.connect(on_queue_emptied, dispatch_uid="webhooks of queues")
        run_imported.connect(on_run_imported, dispatch_uid="canaries")
        engine_failed.connect(on_engine_failed, dispatch_uid="canaries")
