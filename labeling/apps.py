from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from labeling.models import Queue


def on_migrated(sender: AppConfig, using: str, plan: Sequence[object] = (), **more: object) -> None:
    from labeling.items.counts import keep_counts

    keep_counts(using, plan)


def on_queue_removed(sender: object, instance: Queue, **more: object) -> None:
    from labeling.items.counts import forget_counts

    forget_counts(instance)


class LabelingConfig(AppConfig):
    name = "labeling"
    verbose_name = "Labeling"

    def ready(self) -> None:
        from django.db.models.signals import post_delete, post_migrate

        from labeling.models import Queue
        from pooling.interface.registering import registers

        registers(self.module)
        post_migrate.connect(on_migrated, sender=self, dispatch_uid="counts of items")
        post_delete.connect(on_queue_removed, sender=Queue, dispatch_uid="counts of items")
