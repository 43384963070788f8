"""What stage 2 keeps: queues, items and leases; judgments as events and projection; labels and releases.

A judgment belongs to (query, document), never to a queue position.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from pooling.models import Collection, Document, Pool, Query


class Verdict(models.TextChoices):
    RELEVANT = "relevant"
    NOT_RELEVANT = "not_relevant", "not relevant"
    CANNOT_JUDGE = "cannot_judge", "can't judge"


class Reason(models.TextChoices):
    """Why a pair could not be judged."""

    BROKEN = "broken", "The document is broken"
    LANGUAGE = "language", "I don't read this language"
    EXPERT = "expert", "It needs an expert"
    QUERY = "query", "The query is unclear"
    OTHER = "other", "Something else"


class Queue(models.Model):
    """A pool being judged."""

    class State(models.TextChoices):
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="queues")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="queues")
    name = models.CharField(max_length=200)
    judgments_per_item = models.PositiveSmallIntegerField(default=1)
    lease_seconds = models.PositiveIntegerField(default=600)
    seed = models.BigIntegerField(default=0, help_text="Shuffles the items within a query.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    opened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-opened_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="one_queue_per_name")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("queue", args=[self.pk])


class Item(models.Model):
    """A pair in a queue. `done` and `leased` are counted in the transaction that changes them."""

    class State(models.TextChoices):
        """In adjudication: enough judgments but no majority, or two people could not judge."""

        OPEN = "open"
        DONE = "done"
        ADJUDICATION = "adjudication"

    # The indexes below begin with these two keys.
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="items", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="items", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="items")
    order_key = models.BigIntegerField(help_text="Presentation order, stored when the queue is opened.")
    second_key = models.BigIntegerField(
        null=True, blank=True, help_text="Another order, for second opinions; null where one is needed."
    )
    needed = models.PositiveSmallIntegerField()
    done = models.PositiveSmallIntegerField(default=0, help_text="Judgments of the pair that fill a slot.")
    leased = models.PositiveSmallIntegerField(
        default=0, help_text="Leases given and not yet returned, expired or not."
    )
    leased_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The earliest expiry: from then on the leases have to be counted again.",
    )
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "query", "document"], name="a_pair_once_per_queue")
        ]
        indexes = [
            models.Index(fields=["queue", "state", "order_key"], name="items_in_order"),
            models.Index(
                fields=["queue", "state", "second_key"],
                name="items_in_second_order",
                condition=models.Q(second_key__isnull=False),
            ),
            models.Index(fields=["query", "document"], name="items_of_a_pair"),
        ]

    def __str__(self) -> str:
        return f"item {self.pk} of queue {self.queue_id}"


class Lease(models.Model):
    """An annotator holds an item until `expires_at`; an expired lease is as good as none."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="leases", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="leases")
    token = models.UUIDField(default=uuid.uuid4, unique=True)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "annotator"], name="one_lease_per_item_and_annotator")
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} holds item {self.item_id}"


class Bookmark(models.Model):
    """Where an annotator is in a queue: in which stretch of which order, in how many rounds through it.

    Its row is also the lock that lets claims of one person wait for each other.
    """

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="bookmarks", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="bookmarks"
    )
    in_second_order = models.BooleanField(default=False)
    lap = models.PositiveIntegerField(default=0, help_text="Times through the whole order before this one.")
    stretch = models.BigIntegerField(default=0, help_text="Stretches count from 1; 0 is before the first.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "annotator"], name="one_bookmark_per_annotator")
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} is in stretch {self.stretch} of queue {self.queue_id}"


class JudgmentEvent(models.Model):
    """What a person did, appended and never changed: a verdict, an undo or a skip."""

    class Kind(models.TextChoices):
        VERDICT = "verdict"
        UNDO = "undo"
        SKIP = "skip"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="judgment_events")
    queue = models.ForeignKey(
        Queue, null=True, on_delete=models.SET_NULL, related_name="events", db_index=False
    )
    item = models.ForeignKey(Item, null=True, on_delete=models.SET_NULL, related_name="events")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="judgment_events")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="judgment_events")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="judgment_events", db_index=False
    )
    kind = models.CharField(max_length=10, choices=Kind.choices)
    # A client's key has at most 64 characters; undo and skip put a word before it.
    key = models.CharField(max_length=80, help_text="Chosen by the client; sending it again changes nothing.")
    verdict = models.CharField(max_length=12, choices=Verdict.choices, blank=True)
    reason = models.CharField(max_length=10, choices=Reason.choices, blank=True)
    note = models.TextField(blank=True)
    shown = models.CharField(max_length=10, blank=True, help_text="passage or document")
    document_version = models.PositiveIntegerField(null=True, blank=True)
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    lease = models.UUIDField(null=True, blank=True)
    extra = models.BooleanField(default=False, help_text="No slot was free when it arrived.")
    undoes = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "key"], name="one_event_per_key")]
        indexes = [models.Index(fields=["queue", "annotator", "id"], name="events_of_an_annotator")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Judgment(models.Model):
    """An annotator's current verdict on a pair: the projection of that person's events."""

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="judgments", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="judgments", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="judgments")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="judgments"
    )
    verdict = models.CharField(max_length=12, choices=Verdict.choices)
    event = models.ForeignKey(JudgmentEvent, on_delete=models.PROTECT, related_name="+")
    judged_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "document", "annotator"], name="one_verdict_per_person_and_pair"
            )
        ]
        indexes = [models.Index(fields=["collection", "annotator"], name="judgments_of_an_annotator")]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.verdict}"


class ImportedLabel(models.Model):
    """A label that came from a qrels file; a negative relevance is "pooled, not judged"."""

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="imported_labels", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="imported_labels", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="imported_labels")
    relevance = models.IntegerField()
    source_name = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    imported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["query", "document"], name="one_imported_label_per_pair")
        ]
        indexes = [models.Index(fields=["collection"], name="imported_labels_by_coll")]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}: {self.relevance}"


class QrelsRelease(models.Model):
    """Labels frozen under a name; the file and its checksum do not change any more."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="releases")
    name = models.CharField(max_length=200)
    rule = models.CharField(max_length=40)
    file = models.FileField(upload_to="qrels/", max_length=300)  # TREC qrels
    sha256 = models.CharField(max_length=64)
    pair_count = models.PositiveIntegerField()
    relevant_count = models.PositiveIntegerField()
    query_count = models.PositiveIntegerField()
    sidecar = models.JSONField(default=dict, help_text="Rule, counts, provenance and checksum, as exported.")
    released_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    released_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-released_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["collection", "name"], name="one_release_per_name")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("release", args=[self.collection.slug, self.pk])
