"""Models of facts that people confirmed, and of what documents say of them.

A `Fact` belongs to a query. A `Support` is one person's current verdict on a fact and a document, the
projection of that person's `SupportEvent`s, as a judgment is of theirs. A queue of kind *facts* holds
`FactItem`s: documents in which the facts of the query are judged.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from labeling.models.prelabels import Prelabeler
from labeling.models.queues import Queue
from pooling.models import Collection, Document, Query
from pooling.tidying.kept import account_field


class Fact(models.Model):
    """One claim that the answer to a query needs, checkable from one passage."""

    class Importance(models.TextChoices):
        VITAL = "vital"
        OKAY = "okay"

    class State(models.TextChoices):
        """Only confirmed facts are judged and counted."""

        PROPOSED = "proposed"
        CONFIRMED = "confirmed"
        REJECTED = "rejected"
        MERGED = "merged"

    class Origin(models.TextChoices):
        IMPORTED = "imported"
        WRITTEN = "written"
        DRAFTED = "drafted", "drafted by a model"

    # The index of a collection's facts by state begins with it.
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="facts", db_index=False)
    # So does the constraint, with the query.
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="facts", db_index=False)
    external_id = models.CharField(max_length=100)
    text = models.TextField()
    importance = models.CharField(max_length=5, choices=Importance.choices, default=Importance.VITAL)
    group = models.CharField(max_length=300, blank=True, help_text="The part of the question it answers.")
    position = models.PositiveIntegerField(default=0, help_text="Among the facts of its query, from 1.")
    version = models.PositiveIntegerField(default=1, help_text="Rises with every change of text.")
    meaning = models.PositiveIntegerField(
        default=1, help_text="The first version that means what this one does: older supports do not count."
    )
    state = models.CharField(max_length=9, choices=State.choices, default=State.PROPOSED)
    merged_into = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="merged"
    )
    origin = models.CharField(max_length=8, choices=Origin.choices, default=Origin.WRITTEN)
    prelabeler = models.ForeignKey(
        Prelabeler,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="facts",
        db_index=False,
        help_text="The model that drafted it.",
    )
    edited = models.BooleanField(default=False, help_text="A person changed the text that it came with.")
    created_by = account_field()
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_by = account_field()
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["query", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["query", "external_id"], name="one_fact_per_id_and_query")
        ]
        indexes = [models.Index(fields=["collection", "state"], name="facts_by_state")]

    def __str__(self) -> str:
        return f"{self.external_id}: {self.text}"


class FactVersion(models.Model):
    """What a fact said, a row for each version: versions are appended and never changed."""

    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="versions", db_index=False)
    version = models.PositiveIntegerField()
    text = models.TextField()
    same_meaning = models.BooleanField(default=False, help_text="As the version before: its supports count.")
    changed_by = account_field()
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["fact", "version"]
        constraints = [models.UniqueConstraint(fields=["fact", "version"], name="one_text_per_fact_version")]

    def __str__(self) -> str:
        return f"version {self.version} of fact {self.fact_id}"


class SupportVerdict(models.TextChoices):
    SUPPORTS = "supports", gettext_noop("supports")
    PARTLY = "partly", gettext_noop("in part")
    NO = "no", gettext_noop("no")
    CANNOT = "cannot", gettext_noop("can't judge")

    @property
    def in_words(self) -> str:
        return gettext(self.label)


class FactItem(models.Model):
    """A document to judge for its query's facts; `asked` and `done` follow while the row is locked."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="fact_items", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="fact_items")
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="fact_items")
    order_key = models.PositiveIntegerField(help_text="Presentation order, from 1.")
    is_audit = models.BooleanField(
        default=False, help_text="Of the share of not relevant documents that is looked at all the same."
    )
    asked = models.PositiveIntegerField(default=0, help_text="Facts that are to be judged in it.")
    done = models.PositiveIntegerField(default=0, help_text="People who have judged all of these.")
    is_open = models.BooleanField(default=True, help_text="Somebody is still to judge it.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "query", "document"], name="one_fact_item_per_document")
        ]
        indexes = [models.Index(fields=["queue", "is_open", "order_key"], name="fact_items_in_order")]

    def __str__(self) -> str:
        return f"fact item {self.pk} of queue {self.queue_id}"


class FactLease(models.Model):
    """An annotator holds an item of facts until `expires_at`; an expired lease is as good as none."""

    item = models.ForeignKey(FactItem, on_delete=models.CASCADE, related_name="leases", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="fact_leases"
    )
    expires_at = models.DateTimeField()
    skipped_at = models.DateTimeField(
        null=True, blank=True, help_text="The person wants to see it only when nothing else is left."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "annotator"], name="one_fact_lease_per_annotator")
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} holds fact item {self.item_id}"


class SupportEvent(models.Model):
    """What a person said of a fact and a document, or took back; appended and never changed."""

    class Kind(models.TextChoices):
        VERDICT = "verdict"
        UNDO = "undo"

    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="support_events", db_index=False
    )
    queue = models.ForeignKey(
        Queue, null=True, on_delete=models.SET_NULL, related_name="support_events", db_index=False
    )
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="support_events")
    fact_version = models.PositiveIntegerField()
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="support_events")
    document_version = models.PositiveIntegerField()
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="support_events", db_index=False
    )
    kind = models.CharField(max_length=7, choices=Kind.choices, default=Kind.VERDICT)
    key = models.CharField(max_length=90, help_text="Chosen by the client; sending it again changes nothing.")
    page = models.UUIDField(default=uuid.uuid4, help_text="The page of facts that was stored at once.")
    verdict = models.CharField(max_length=8, choices=SupportVerdict.choices, blank=True)
    span_start = models.PositiveIntegerField(null=True, blank=True, help_text="Evidence, in that version.")
    span_end = models.PositiveIntegerField(null=True, blank=True, help_text="The character after its last.")
    span_sha256 = models.CharField(max_length=64, blank=True, help_text="Of the evidence as UTF-8.")
    active_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Its part of the page's time.")
    is_adjudication = models.BooleanField(default=False, help_text="It settles the pair.")
    undoes = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "key"], name="one_support_event_per_key")]
        indexes = [
            models.Index(fields=["collection", "created_at"], name="support_events_by_time"),
            models.Index(fields=["queue", "annotator", "id"], name="support_events_of_annotator"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Support(models.Model):
    """A person's current verdict on a fact and a document."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="supports")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="supports", db_index=False)
    fact_version = models.PositiveIntegerField()
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="supports")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="supports")
    verdict = models.CharField(max_length=8, choices=SupportVerdict.choices)
    event = models.ForeignKey(SupportEvent, on_delete=models.PROTECT, related_name="+")
    judged_at = models.DateTimeField()
    is_adjudication = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["fact", "document", "annotator"], name="one_support_per_person_and_pair"
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id}: {self.verdict}"


class GoldSupport(models.Model):
    """A fact and a document with a known answer: it is the label, and shows whose verdicts to trust."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="gold_supports")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="gold", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    answer = models.CharField(
        max_length=8, choices=[choice for choice in SupportVerdict.choices if choice[0] != "cannot"]
    )
    created_by = account_field()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["fact", "document"], name="one_gold_answer_per_pair")]

    def __str__(self) -> str:
        return f"{self.fact_id} × {self.document_id}: {self.answer}"


class ImportedSupport(models.Model):
    """What a file says of a fact and a document; it counts where no person has said anything."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="imported_supports")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="imported_supports", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="imported_supports")
    verdict = models.CharField(max_length=8, choices=SupportVerdict.choices)
    span_start = models.PositiveIntegerField(null=True, blank=True)
    span_end = models.PositiveIntegerField(null=True, blank=True)
    source_name = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    imported_by = account_field()
    imported_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["fact", "document"], name="one_imported_support_per_pair")
        ]

    def __str__(self) -> str:
        return f"{self.fact_id} × {self.document_id}: {self.verdict}"
