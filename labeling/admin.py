"""Stage 2 in Django's own admin, for looking up: what has rules is changed on the pages."""

from django.contrib import admin

from labeling.models import ImportedLabel, Item, Judgment, JudgmentEvent, QrelsRelease, Queue
from pooling.admin import ReadOnly


@admin.register(Queue)
class QueueAdmin(ReadOnly):
    list_display = ("name", "collection", "pool", "judgments_per_item", "state", "opened_at")
    list_select_related = ("collection", "pool")


@admin.register(Item)
class ItemAdmin(ReadOnly):
    list_display = ("id", "queue", "query_id", "document_id", "needed", "done", "leased", "state")
    list_filter = ("state",)
    list_select_related = ("queue",)


@admin.register(JudgmentEvent)
class JudgmentEventAdmin(ReadOnly):
    list_display = ("id", "annotator", "kind", "verdict", "reason", "extra", "prelabel_seen", "created_at")
    list_filter = ("kind", "verdict", "prelabel_seen")
    list_select_related = ("annotator",)


@admin.register(Judgment)
class JudgmentAdmin(ReadOnly):
    list_display = ("id", "annotator", "query_id", "document_id", "verdict", "judged_at")
    list_filter = ("verdict",)
    list_select_related = ("annotator",)


@admin.register(ImportedLabel)
class ImportedLabelAdmin(ReadOnly):
    list_display = ("id", "collection", "query_id", "document_id", "relevance", "source_name")
    list_select_related = ("collection",)


@admin.register(QrelsRelease)
class QrelsReleaseAdmin(ReadOnly):
    list_display = ("name", "collection", "rule", "pair_count", "relevant_count", "released_at")
    list_select_related = ("collection",)
