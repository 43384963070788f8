"""Models of verdicts: events, and the current verdict that they amount to; and messages about a pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.conf import settings
from django.db import models
from django.utils import timezone

from labeling.models.gold import GoldQuestion, Quarantine
from labeling.models.imports import JudgmentImport
from labeling.models.queues import Item, Queue
from labeling.models.words import ADJUDICATED, Highlight, PrelabelSeen, Reason, Verdict
from pooling.models import Collection, Document, Query
from pooling.tidying.kept import account_field


class JudgmentEvent(models.Model):
    """What a person did, appended and never changed: a verdict, an undo or a skip."""

    class Kind(models.TextChoices):
        VERDICT = "verdict"
        UNDO = "undo"
        SKIP = "skip"

    class Stood(models.TextChoices):
        """As what a verdict stood where it was imported from."""

        COUNTS = "counts"
        ASIDE = "aside", "set aside"
        GOLD = "gold", "answer to a gold question"

    # The index of what came lately begins with it.
    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="judgment_events", db_index=False
    )
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
    highlight = models.CharField(
        max_length=8, choices=Highlight.choices, blank=True, help_text="What was highlighted on screen."
    )
    document_version = models.PositiveIntegerField(null=True, blank=True)
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    span_start = models.PositiveIntegerField(
        null=True, blank=True, help_text="Evidence: its first character in that version of the document."
    )
    span_end = models.PositiveIntegerField(null=True, blank=True, help_text="The character after its last.")
    span_sha256 = models.CharField(
        max_length=64, blank=True, help_text="Of the evidence as UTF-8; empty where the text was gone."
    )
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
    repeats = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="repeated_by",
        db_index=False,
        help_text="The same person's verdict on the pair before it was shown again; this one never counts.",
    )
    is_adjudication = models.BooleanField(
        default=False, help_text="It settles the pair, overriding all other verdicts."
    )
    is_practice = models.BooleanField(
        default=False, help_text="Given in the practice round; it counts in no number."
    )
    prelabel_seen = models.CharField(
        max_length=6,
        choices=PrelabelSeen.choices,
        default=PrelabelSeen.NEVER,
        help_text="Counted by what was handed out to the person.",
    )
    prelabeler = models.ForeignKey(
        "labeling.Prelabeler",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="The model and prompt whose pre-label was seen.",
    )
    undoes = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="undone_by"
    )
    # Of what was imported, the time of its import: that is when it was known here.
    created_at = models.DateTimeField(default=timezone.now)
    # What was given elsewhere and imported is nobody's work here: it counts in no pace and no hours.
    brought_by = models.ForeignKey(
        JudgmentImport,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="events",
        db_index=False,
        help_text="The import that it came with; null for what was said here.",
    )
    said_at = models.DateTimeField(null=True, blank=True, help_text="When it was said elsewhere.")
    stood = models.CharField(  # noqa: DJ001  a column without a default is added at once
        max_length=6,
        choices=Stood.choices,
        null=True,
        blank=True,
        help_text="As what its import made it a judgment; null for none.",
    )
    origin = models.JSONField(
        null=True, blank=True, help_text="Facts of elsewhere that have no row here, such as a model's name."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["annotator", "key"], name="one_event_per_key")]
        indexes = [
            models.Index(fields=["collection", "created_at"], name="events_by_time"),
            models.Index(fields=["queue", "annotator", "id"], name="events_of_an_annotator"),
            models.Index(
                fields=["gold", "annotator"], name="answers_to_gold", condition=models.Q(gold__isnull=False)
            ),
            models.Index(
                fields=["queue", "annotator"],
                name="answers_to_repeats",
                condition=models.Q(repeats__isnull=False),
            ),
            models.Index(
                fields=["brought_by"], name="imported_events", condition=models.Q(brought_by__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class JudgmentQuerySet(models.QuerySet["Judgment"]):
    def counted(self) -> JudgmentQuerySet:
        """Those that labels and slots count: neither answers to gold questions nor in quarantine."""
        return self.filter(is_gold=False, quarantine=None)

    def opinions(self) -> JudgmentQuerySet:
        """Those of them on relevance that people formed by themselves: adjudicators have read the others."""
        return self.counted().filter(is_adjudication=False).exclude(verdict=Verdict.CANNOT_JUDGE)

    def answers_to_hidden_gold(self) -> JudgmentQuerySet:
        """Answers to hidden gold questions in use; what was said in practice never becomes one of them."""
        return self.filter(
            is_gold=True, event__gold__active=True, event__gold__practice=False, event__is_practice=False
        )

    def on_pairs(self, pairs: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], list[Judgment]]:
        """Those on pairs (keys of query and document), with their annotators, in one statement."""
        by_pair: dict[tuple[int, int], list[Judgment]] = {pair: [] for pair in pairs}
        queries, documents = ({pair[place] for pair in by_pair} for place in (0, 1))
        rows = self.filter(query__in=queries, document__in=documents).select_related("annotator")
        for one in rows if by_pair else ():
            if (pair := (one.query_id, one.document_id)) in by_pair:
                by_pair[pair].append(one)
        return by_pair


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
    is_adjudication = models.BooleanField(
        default=False, help_text="It settles the pair, overriding all other verdicts."
    )
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
            # Those that `counted` leaves: what came since a release is read from the index alone.
            models.Index(
                fields=["collection", "judged_at"],
                name="judgments_by_time",
                condition=models.Q(is_gold=False, quarantine__isnull=True),
            ),
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
        """Labels and slots count it; as `JudgmentQuerySet.counted`."""
        return not self.is_gold and self.quarantine_id is None

    @property
    def seconds(self) -> float | None:
        """Active time on the pair; None where it was not measured."""
        spent = self.event.active_ms
        return None if spent is None else spent / 1000

    @property
    def for_slots(self) -> str:
        """Its kind for the slots of an item; see `labeling/items/slots.py`."""
        return ADJUDICATED if self.is_adjudication else self.verdict


LONGEST_MESSAGE = 500


class PairMessage(models.Model):
    """A message from a pair, such as “This document is broken”, and its answer."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="pair_messages")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="pair_messages")
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="pair_messages", db_index=False
    )
    key = models.CharField(max_length=64, help_text="Chosen by the client; sending it again changes nothing.")
    text = models.CharField(max_length=LONGEST_MESSAGE)
    sent_at = models.DateTimeField(default=timezone.now)
    answer = models.CharField(max_length=LONGEST_MESSAGE, blank=True)
    answered_by = account_field()
    answered_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["author", "key"], name="one_message_per_key")]

    def __str__(self) -> str:
        return self.text
