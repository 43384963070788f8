"""Queues with their items, the leases on these, and where each annotator is."""

from __future__ import annotations

import re
import secrets
import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from labeling.models.words import Highlight, PrelabelMode, Verdict
from pooling.models import Collection, Document, Pool, Query
from pooling.tidying.kept import NOT_DELETED, Kept, account_field

# The word of `public_name` in labeling/queues/opening.py.
NUMBERED = re.compile("Queue ([0-9]+)")


def public_title(name: str) -> str:
    """A queue's public name as a page has it: one that nobody chose is in the reader's language."""
    numbered = NUMBERED.fullmatch(name)
    return gettext("Queue {number}").format(number=numbered[1]) if numbered else name


def draw_seed() -> int:
    return secrets.randbelow(2**62)


class Queue(Kept):
    """A pool being judged."""

    class State(models.TextChoices):
        OPEN = gettext_noop("open")
        PAUSED = gettext_noop("paused")
        CLOSED = gettext_noop("closed")

    class Kind(models.TextChoices):
        """What is judged in it: whether documents are relevant, or which facts they support."""

        PAIRS = "pairs"
        FACTS = "facts"

    class GoldPause(models.TextChoices):
        """Who acts when answers to gold questions say that somebody should be paused."""

        AUTOMATIC = "automatic", "at once, by itself"
        PROPOSED = "proposed", "an admin, who sees it proposed"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="queues")
    pool = models.ForeignKey(Pool, on_delete=models.PROTECT, related_name="queues")
    name = models.CharField(max_length=200)
    public_name = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="What annotators read: it tells nothing of samples and runs.",
    )
    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.PAIRS, db_default=Kind.PAIRS)
    covered_by = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Of facts: one with this many supports is no longer asked. Null: every pair is.",
    )
    judgments_per_item = models.PositiveSmallIntegerField(default=1)
    most_judgments_per_item = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Maximum when judgments tie: one more is asked for until then. Null: none for a tie.",
    )
    lease_seconds = models.PositiveIntegerField(default=600)
    seed = models.BigIntegerField(default=0, help_text="Shuffles the items within a query.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    state_before = models.CharField(
        max_length=10, choices=State.choices, blank=True, help_text="Before it was deleted, which closes it."
    )
    is_adaptive = models.BooleanField(default=False, help_text="Labels reorder the remaining pairs.")
    gold_first_share = models.FloatField(default=0, help_text="Of a person's first 25 items.")
    gold_share = models.FloatField(default=0, help_text="Of a person's later items.")
    repeat_share = models.FloatField(default=0, help_text="Of items, a person's own earlier ones again.")
    practice_questions = models.PositiveSmallIntegerField(default=0, help_text="Before the first item.")
    gold_pause = models.CharField(max_length=10, choices=GoldPause.choices, default=GoldPause.AUTOMATIC)
    tells_agreement = models.BooleanField(
        default=False, help_text="Annotators see how often they agree with the final labels."
    )
    gold_count = models.PositiveIntegerField(default=0, help_text="Gold questions hidden among the items.")
    practice_count = models.PositiveIntegerField(default=0, help_text="Practice questions there are.")
    price_per_judgment = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="Null: the site's."
    )
    currency = models.CharField(max_length=12, blank=True, help_text="Empty: the site's.")
    overhead = models.FloatField(
        null=True, blank=True, help_text="Share that is added to the price, such as fees. Null: none."
    )
    prelabel_mode = models.CharField(
        max_length=10,
        choices=PrelabelMode.choices,
        default=PrelabelMode.BLIND,
        help_text="Whether annotators see pre-labels.",
    )
    prelabeler = models.ForeignKey(
        "labeling.Prelabeler",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="queues",
        help_text="Whose pre-labels are shown, or ask for second opinions.",
    )
    blind_share = models.FloatField(
        default=0.1, help_text="Share of pairs that stay blind in every mode (control arm)."
    )
    blind_seed = models.BigIntegerField(default=draw_seed, help_text="Draws the control arm.")
    second_opinion_from = models.FloatField(
        null=True,
        blank=True,
        help_text="A verdict against a pre-label so sure asks for one more judgment. Null: none does.",
    )
    highlight = models.CharField(
        max_length=8,
        choices=Highlight.choices,
        default=Highlight.TERMS,
        help_text="What is highlighted in documents.",
    )
    opened_by = account_field()
    opened_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-opened_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "name"], condition=NOT_DELETED, name="one_queue_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **options: Any) -> None:
        if self._state.adding:
            self.public_name = self.public_name or self.name
        super().save(*args, **options)

    def get_absolute_url(self) -> str:
        return reverse("queue", args=[self.pk])

    @property
    def public_title(self) -> str:
        return public_title(self.public_name)

    @property
    def hides_items(self) -> bool:
        """Gold questions or repeats come among the items."""
        return self.gold_count > 0 or self.repeat_share > 0

    @property
    def bounds(self) -> tuple[int, int]:
        return self.judgments_per_item, self.most_judgments_per_item or self.judgments_per_item


class Item(models.Model):
    """A pair in a queue. `needed`, `done` and `leased` follow in the transaction of what they count."""

    class State(models.TextChoices):
        """In adjudication: enough judgments but no majority, or two people could not judge.

        Gold and aside are pairs whose answer is known, hidden in everybody's stream or kept out of it:
        practice questions, and former gold questions that the pool does not hold. A repeat is a pair that one
        person has judged, shown to them again. Withdrawn are pairs whose query or document was deleted. No
        verdict fills a slot of these.
        """

        OPEN = "open"
        DONE = "done"
        ADJUDICATION = "adjudication"
        GOLD = "gold"
        ASIDE = "aside"
        REPEAT = "repeat"
        WITHDRAWN = "withdrawn"

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
    # The queue's bounds when the item was last gone through: the code that locks the row reads what holds for
    # it.
    needed_at_least = models.PositiveSmallIntegerField()
    needed_at_most = models.PositiveSmallIntegerField()
    expected = models.CharField(
        max_length=12,
        choices=Verdict.choices,
        blank=True,
        default="",
        help_text=(
            "The verdict that a confident pre-label predicts, if a contradiction asks for more judgments."
        ),
    )
    needed = models.PositiveSmallIntegerField(help_text="Within these bounds, depending on the verdicts.")
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
    repeats = models.ForeignKey(
        "labeling.JudgmentEvent",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="The verdict whose pair is shown to its author again.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "query", "document"],
                condition=models.Q(repeats__isnull=True),
                name="a_pair_once_per_queue",
            )
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


class ItemCount(models.Model):
    """Items of a queue that are alike; rows of one kind add up, written by `labeling/items/counts.py`."""

    # No reference, which the database would check with every verdict.
    queue = models.BigIntegerField(db_index=True)
    is_placed = models.BooleanField(help_text="The order key is above 0.")
    state = models.CharField(max_length=12)
    needed = models.SmallIntegerField()
    done = models.SmallIntegerField()
    needed_at_least = models.SmallIntegerField()
    needed_at_most = models.SmallIntegerField()
    is_expecting = models.BooleanField(help_text="A pre-label lets expect a verdict.")
    many = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.many} {self.state} items of queue {self.queue}"


class Lease(models.Model):
    """An annotator holds an item until `expires_at`; an expired lease is as good as none."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="leases", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="leases")
    token = models.UUIDField(default=uuid.uuid4, unique=True)
    leased_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "annotator"], name="one_lease_per_item_and_annotator")
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} holds item {self.item_id}"


class LeftTold(models.Model):
    """The number of items left that an annotator last saw in a queue, and after how many of their answers.

    It stands for a while, so that none of their own verdicts moves it but by being one more.
    """

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="+", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    left = models.PositiveIntegerField()
    answers = models.PositiveIntegerField()
    told_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "annotator"], name="left_told_once")]

    def __str__(self) -> str:
        return f"{self.left} left in queue {self.queue_id} for {self.annotator_id}"


class Bookmark(models.Model):
    """An annotator's place in a queue, by order, round and stretch; also the lock of their claims."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="bookmarks", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="bookmarks"
    )
    in_second_order = models.BooleanField(default=False)
    lap = models.PositiveIntegerField(default=0, help_text="Times through the whole order before this one.")
    stretch = models.BigIntegerField(default=0, help_text="Stretches count from 1; 0 is before the first.")
    gold_seed = models.BigIntegerField(default=draw_seed, help_text="Says where gold questions come.")
    handed_out = models.PositiveIntegerField(
        default=0, help_text="Places dealt, where the queue hides checks among its items."
    )
    gold_dealt = models.PositiveIntegerField(default=0, help_text="Gold questions dealt.")
    gold_owed = models.PositiveIntegerField(
        default=0, help_text="Those that were due where none could be had."
    )
    repeats_owed = models.PositiveIntegerField(default=0, help_text="The same of pairs shown again.")
    practised = models.BooleanField(default=False, help_text="No practice question is due.")
    paused = models.BooleanField(default=False, help_text="As long as a quarantine is not lifted.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "annotator"], name="one_bookmark_per_annotator")
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} is in stretch {self.stretch} of queue {self.queue_id}"


class Dealt(models.Model):
    """An item at its place in somebody's stream, where the queue hides checks; see `labeling/gold/hidden.py`.

    A place is dealt once: what is returned, skipped or taken back comes again from there.
    """

    bookmark = models.ForeignKey(Bookmark, on_delete=models.CASCADE, related_name="dealt", db_index=False)
    # The constraint below begins with it.
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+", db_index=False)
    stretch = models.BigIntegerField()
    place = models.PositiveIntegerField(help_text="Places count from 0, over all stretches.")
    put_off = models.BooleanField(default=False, help_text="A check has its place; it is dealt again later.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "bookmark"], name="dealt_once_to_somebody")]
        indexes = [models.Index(fields=["bookmark", "place"], name="dealt_in_order")]

    def __str__(self) -> str:
        return f"item {self.item_id} at place {self.place}"
