"""What stage 2 keeps: queues, items and leases; judgments as events and projection; labels and releases.

A judgment belongs to (query, document), never to a queue position.
"""

from __future__ import annotations

import secrets
import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from pooling.models import Collection, Document, Pool, Query


def draw_seed() -> int:
    """A seed that nobody can guess."""
    return secrets.randbelow(2**62)


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

    class GoldPause(models.TextChoices):
        """Who acts when answers to gold questions say that somebody should be paused."""

        AUTOMATIC = "automatic", "at once, by itself"
        PROPOSED = "proposed", "an admin, who sees it proposed"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="queues")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="queues")
    name = models.CharField(max_length=200)
    judgments_per_item = models.PositiveSmallIntegerField(default=1)
    lease_seconds = models.PositiveIntegerField(default=600)
    seed = models.BigIntegerField(default=0, help_text="Shuffles the items within a query.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    gold_first_share = models.FloatField(default=0, help_text="Of a person's first 25 items.")
    gold_share = models.FloatField(default=0, help_text="Of a person's later items.")
    practice_questions = models.PositiveSmallIntegerField(default=0, help_text="Before the first item.")
    gold_pause = models.CharField(max_length=10, choices=GoldPause.choices, default=GoldPause.AUTOMATIC)
    gold_count = models.PositiveIntegerField(default=0, help_text="Gold questions hidden among the items.")
    practice_count = models.PositiveIntegerField(default=0, help_text="Practice questions there are.")
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
        """In adjudication: enough judgments but no majority, or two people could not judge.

        Gold and aside are pairs whose answer is known, hidden in everybody's stream or kept out of it:
        practice questions, and former gold questions that the pool does not hold. No verdict fills a slot.
        """

        OPEN = "open"
        DONE = "done"
        ADJUDICATION = "adjudication"
        GOLD = "gold"
        ASIDE = "aside"

    # The indexes below begin with these two keys.
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="items", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="items", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="items")
    order_key = models.BigIntegerField(
        help_text="Presentation order, stored when the queue is opened; 0 for a pair outside the pool."
    )
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
    gold_seed = models.BigIntegerField(default=draw_seed, help_text="Says where gold questions come.")
    handed_out = models.PositiveIntegerField(
        default=0, help_text="Items leased and not returned, where the queue has gold questions."
    )
    practised = models.BooleanField(default=False, help_text="No practice question is due.")
    paused = models.BooleanField(default=False, help_text="As long as a quarantine is not lifted.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "annotator"], name="one_bookmark_per_annotator")
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} is in stretch {self.stretch} of queue {self.queue_id}"


class GoldQuestion(models.Model):
    """A pair whose answer is known. In the stream it looks like any other; practice ones come before it."""

    class Origin(models.TextChoices):
        MARKED = "marked"
        IMPORTED = "imported"
        UNANIMOUS = "unanimous"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="gold_questions")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="gold_questions", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="gold_questions")
    answer = models.CharField(
        max_length=12,
        choices=[(value, label) for value, label in Verdict.choices if value != "cannot_judge"],
    )
    reason = models.TextField(blank=True, help_text="Why; shown in the practice round.")
    practice = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.MARKED)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["query", "document"], name="one_gold_question_per_pair")
        ]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}: {self.answer}"


class DeclinedSuggestion(models.Model):
    """A unanimous pair that an admin does not want as a gold question; it is not suggested again."""

    query = models.ForeignKey(
        Query, on_delete=models.CASCADE, related_name="declined_suggestions", db_index=False
    )
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="declined_suggestions")
    declined_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    declined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["query", "document"], name="declined_once_per_pair")]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}"


class Quarantine(models.Model):
    """An annotator's work in a queue stopped, and their judgments there kept but not counted, until restored.

    `evidence` is what the answers to gold questions said at that time: `score`, `answers` (the newest first)
    and the number of `judgments` that were set aside.
    """

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="quarantines", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="quarantines"
    )
    reason = models.TextField(blank=True)
    evidence = models.JSONField(default=dict)
    imposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Null for the rule.",
    )
    imposed_at = models.DateTimeField(default=timezone.now)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    lifted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-imposed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "annotator"],
                condition=models.Q(lifted_at__isnull=True),
                name="one_quarantine_at_a_time",
            )
        ]
        indexes = [models.Index(fields=["queue", "annotator"], name="quarantines_of_a_queue")]

    def __str__(self) -> str:
        return f"{self.annotator_id} in queue {self.queue_id}"


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
    gold = models.ForeignKey(
        GoldQuestion,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="answers",
        db_index=False,
        help_text="The question that this verdict answered.",
    )
    undoes = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "key"], name="one_event_per_key")]
        indexes = [
            models.Index(fields=["queue", "annotator", "id"], name="events_of_an_annotator"),
            models.Index(
                fields=["gold", "annotator"], name="answers_to_gold", condition=models.Q(gold__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    """Judgments."""

    def counted(self) -> JudgmentQuerySet:
        """Those that labels and slots count: neither answers to gold questions nor in quarantine."""
        return self.filter(is_gold=False, quarantine=None)


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
    is_gold = models.BooleanField(default=False, help_text="The answer to a gold question; it never counts.")
    quarantine = models.ForeignKey(
        Quarantine,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="judgments",
        db_index=False,
        help_text="While it is set, the judgment does not count.",
    )

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "document", "annotator"], name="one_verdict_per_person_and_pair"
            )
        ]
        indexes = [
            models.Index(fields=["collection", "annotator"], name="judgments_of_an_annotator"),
            models.Index(
                fields=["annotator"], name="gold_answers_that_stand", condition=models.Q(is_gold=True)
            ),
            models.Index(
                fields=["quarantine"],
                name="judgments_in_quarantine",
                condition=models.Q(quarantine__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.verdict}"

    @property
    def is_counted(self) -> bool:
        """Whether labels and slots count it; as `JudgmentQuerySet.counted`."""
        return not self.is_gold and self.quarantine_id is None


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
