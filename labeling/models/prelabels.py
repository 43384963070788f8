"""Models of pre-labels for pairs. These live apart from judgments, and never take a person's slot.

A `Prelabeler` is a model asked in one exact way; a `Prelabel` is what it said of one pair, and a
`PrelabelFailure` that it said nothing usable. A `PrelabelJob` is one pass over the pairs of a queue.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, F, FloatField, OuterRef, Value, When
from django.db.models.functions import Coalesce

from labeling.models.queues import Queue
from labeling.models.words import THERE, Verdict
from pooling.models import Collection, Document, Query
from pooling.tidying.kept import account_field


def money(**options: Any) -> models.DecimalField[Any, Any]:
    """A field for an amount: prices of single tokens are small, sums of millions are not."""
    return models.DecimalField(max_digits=20, decimal_places=10, **options)


# The score in [0, 1] that orders: the model's own, or 1 and 0 for the verdict where there is none.
ORDER_SCORE = Coalesce(
    F("score"),
    Case(When(verdict=Verdict.RELEVANT, then=Value(1.0)), default=Value(0.0)),
    output_field=FloatField(),
)


class PrelabelerQuerySet(models.QuerySet["Prelabeler"]):
    def listed(self) -> PrelabelerQuerySet:
        """Those to be listed and chosen: with an answer or a failure, used by a queue, or with a pass that
        goes on or is done. Not those that an estimate or a refused start left behind, or a mistyped name,
        whose pass ended before the first answer."""
        mine = {"prelabeler": OuterRef("pk")}
        over = (PrelabelJob.State.FAILED, PrelabelJob.State.CANCELLED)
        return self.filter(
            Exists(Prelabel.objects.filter(**mine))
            | Exists(PrelabelFailure.objects.filter(**mine).order_by())
            | Exists(PrelabelJob.objects.filter(**mine).exclude(state__in=over).order_by())
            | Exists(Queue.objects.filter(**mine).order_by())
        )

    def unpriced(self) -> PrelabelerQuerySet:
        """Those that answered, at least once, while no price was set: what they cost is not known."""
        passes = PrelabelJob.objects.filter(prelabeler=OuterRef("pk"), input_price=None, input_tokens__gt=0)
        return self.filter(Exists(passes.order_by()))


class Prelabeler(models.Model):
    """A model with a prompt and options: whatever changes an answer is here, and nothing else."""

    class Source(models.TextChoices):
        LANGUAGE_MODEL = "language_model", "language model"
        LOCAL_MODEL = "local_model", "local model"  # nothing makes one: it may not learn from audited labels
        IMPORTED = "imported"  # what it learned from is not known, so no estimate by an audit rests on it
        CLICKS = "clicks"  # shares of clicks in a log, read from a file like the imported ones

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="prelabelers")
    source = models.CharField(max_length=20, choices=Source.choices, default=Source.LANGUAGE_MODEL)
    model = models.CharField(max_length=200, help_text="As the server calls it.")
    base_url = models.CharField(max_length=500, blank=True, help_text="The server; empty for a local model.")
    prompt = models.CharField(max_length=60, blank=True, help_text="Name of the template.")
    prompt_version = models.PositiveIntegerField(default=0)
    prompt_hash = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the template with the guidelines in it."
    )
    options = models.JSONField(
        default=dict, help_text="temperature, seed, max_tokens, threshold and the like."
    )
    options_hash = models.CharField(max_length=64)
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = PrelabelerQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "source", "model", "base_url", "prompt", "prompt_hash", "options_hash"],
                name="one_prelabeler_per_way_of_asking",
            )
        ]

    def __str__(self) -> str:
        """Such as “small-model, binary v1 (3f9a01c2)”: the number tells prompts of one version apart."""
        if self.is_from_file:
            return f"{self.model} ({self.source})"
        if not self.prompt:
            return self.model
        return f"{self.model}, {self.prompt} v{self.prompt_version} ({self.prompt_hash[:8]})"

    @property
    def is_from_file(self) -> bool:
        return self.source in (self.Source.IMPORTED, self.Source.CLICKS)


class PrelabelJob(models.Model):
    """A prelabeler's pass over a queue: progress and cost. Its process writes `state`, an admin `asked`."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        PAUSED = "paused"
        CANCELLED = "cancelled"
        DONE = "done"
        FAILED = "failed"

    class Command(models.TextChoices):
        """What an admin wants of the pass while it runs."""

        NOTHING = "", "nothing"
        PAUSE = "pause"
        CANCEL = "cancel"

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="prelabel_jobs")
    prelabeler = models.ForeignKey(Prelabeler, on_delete=models.CASCADE, related_name="jobs")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    asked = models.CharField(max_length=10, choices=Command.choices, default=Command.NOTHING, blank=True)
    detail = models.TextField(blank=True, help_text="Current step, or why it ended.")
    # What was chosen at the start.
    concurrency = models.PositiveIntegerField(default=8, help_text="Requests at a time.")
    pair_limit = models.PositiveIntegerField(null=True, blank=True, help_text="Pairs at most. Null: all.")
    retries_failed = models.BooleanField(default=False, help_text="Asks again where an earlier pass failed.")
    budget = money(null=True, blank=True, help_text="Cost at most. Null: no cap.")
    input_price = money(null=True, blank=True, help_text="Per million tokens.")
    output_price = money(null=True, blank=True, help_text="Per million tokens.")
    currency = models.CharField(max_length=12, blank=True)
    on_site_key = models.BooleanField(
        default=False, help_text="Whether the site paid when it last began. Another's pass never moves there."
    )
    # How far it is; stored with the answers that these count.
    pair_count = models.PositiveIntegerField(default=0, help_text="Pairs that it is to have an answer for.")
    answered_count = models.PositiveIntegerField(default=0, help_text="Pre-labels that were asked for.")
    cached_count = models.PositiveIntegerField(default=0, help_text="Already known, so not paid for again.")
    failed_count = models.PositiveIntegerField(default=0)
    request_count = models.PositiveIntegerField(default=0, help_text="Sent, repeated ones included.")
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cost = money(default=0, help_text="By the usage that the server reported.")
    uncertain_cost = money(default=0, help_text="At most, for unanswered requests; counts for the cap.")
    answer_seconds = models.FloatField(default=0, help_text="That its answers took, added up.")
    journal_offset = models.PositiveBigIntegerField(
        default=0, help_text="Bytes of the journal of answers that are in the database."
    )
    dialect = models.JSONField(default=dict, help_text="Parameters that the server turned out not to accept.")
    worker = models.CharField(max_length=300, blank=True, help_text="Host and process that run it.")
    seen_at = models.DateTimeField(null=True, blank=True, help_text="When the worker last reported progress.")
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            # Two at a time would ask, and pay for, the same pairs.
            models.UniqueConstraint(
                fields=["prelabeler"],
                condition=models.Q(state__in=("queued", "running")),
                name="one_pass_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.prelabeler_id} over queue {self.queue_id} ({self.state})"

    @property
    def done_count(self) -> int:
        return self.answered_count + self.cached_count + self.failed_count

    @property
    def is_active(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def can_resume(self) -> bool:
        """Whether it stopped and may go on. Where all its pairs failed, another pass retries them."""
        all_failed = 0 < self.pair_count <= self.failed_count
        return self.state == self.State.PAUSED or (self.state == self.State.FAILED and not all_failed)


def is_in_queue(queue: Queue) -> models.Exists:
    items = queue.items.filter(
        query=models.OuterRef("query"), document=models.OuterRef("document"), repeats=None
    )
    return models.Exists(items.order_by())


class PrelabelQuerySet(models.QuerySet["Prelabel"]):
    def current(self) -> PrelabelQuerySet:
        """Those of texts that have not changed since, and were not deleted."""
        return self.filter(document_version=F("document__version"), **THERE)

    def in_queue(self, queue: Queue) -> PrelabelQuerySet:
        return self.filter(is_in_queue(queue))


class Prelabel(models.Model):
    """A model's proposal for a pair."""

    class ScoreSource(models.TextChoices):
        NONE = "", "there is none"
        PROBABILITY = "probability", "the probability of the word “relevant”"
        CONFIDENCE = "confidence", "the model's own word for how sure it is"
        GRADE = "grade", "the grade"
        CLASSIFIER = "classifier", "a classifier"
        IMPORTED = "imported", "as the file says"

    prelabeler = models.ForeignKey(
        Prelabeler, on_delete=models.CASCADE, related_name="prelabels", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="prelabels", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="prelabels")
    verdict = models.CharField(
        max_length=12, choices=[(value, label) for value, label in Verdict.choices if value != "cannot_judge"]
    )
    score = models.FloatField(null=True, blank=True, help_text="Of relevant, 0 to 1. Null: none was given.")
    score_source = models.CharField(
        max_length=12, choices=ScoreSource.choices, default=ScoreSource.NONE, blank=True
    )
    grade = models.PositiveSmallIntegerField(null=True, blank=True, help_text="0 to 3, of a graded prompt.")
    reasoning = models.TextField(blank=True)
    text_hash = models.CharField(max_length=64, help_text="SHA-256 of title and text as they were sent.")
    document_version = models.PositiveIntegerField()
    answer_key = models.CharField(
        max_length=64, help_text="SHA-256 of everything the answer depends on; equal keys are asked once."
    )
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = money(default=0, help_text="0 where the answer was known already.")
    job = models.ForeignKey(PrelabelJob, null=True, on_delete=models.SET_NULL, related_name="prelabels")
    created_at = models.DateTimeField()

    objects = PrelabelQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["prelabeler", "query", "document"], name="one_prelabel_per_prelabeler_and_pair"
            )
        ]
        indexes = [
            models.Index(fields=["query", "document"], name="prelabels_of_a_pair"),
            models.Index(fields=["answer_key"], name="prelabels_by_answer"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}: {self.verdict}"


class PrelabelFailure(models.Model):
    """A pair for which a model gave no usable answer. It is never a verdict, and may be tried again."""

    class Reason(models.TextChoices):
        REFUSED = "refused", "the model refused"
        FILTERED = "filtered", "the server's filter stopped it"
        TRUNCATED = "truncated", "the answer was cut off"
        MALFORMED = "malformed", "the answer could not be read"
        RATE_LIMIT = "rate_limit", "too many requests, again and again"
        SERVER = "server", "the server failed"
        TIME_OUT = "time_out", "no answer in time"
        CONNECTION = "connection", "the connection broke"
        TOO_LONG = "too_long", "the document is too long for the model"
        NO_TEXT = "no_text", "the document's text is not known"

    prelabeler = models.ForeignKey(
        Prelabeler, on_delete=models.CASCADE, related_name="failures", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=12, choices=Reason.choices)
    detail = models.TextField(blank=True)
    attempts = models.PositiveIntegerField(default=0, help_text="Requests, over all passes.")
    cost = money(default=0, help_text="Of answers that were paid and not usable.")
    document_version = models.PositiveIntegerField()
    job = models.ForeignKey(PrelabelJob, null=True, on_delete=models.SET_NULL, related_name="failures")
    failed_at = models.DateTimeField()

    class Meta:
        ordering = ["-failed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["prelabeler", "query", "document"], name="one_failure_per_prelabeler_and_pair"
            )
        ]
        indexes = [models.Index(fields=["query"], name="prelabel_failures_of_query")]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}: {self.reason}"


class ModelServerKey(models.Model):
    """A collection's key for a server of models, encrypted; it is sent to that server alone."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="model_server_keys")
    base_url = models.CharField(max_length=500)
    encrypted = models.TextField()
    stored_by = account_field()
    stored_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "base_url"], name="one_key_per_model_server")
        ]

    def __str__(self) -> str:
        return f"a key for {self.base_url}"


def latest_scores(queue: Queue, prelabeler: Prelabeler) -> dict[tuple[int, int], float]:
    """The score in [0, 1] of each pair of the queue that has one, by keys of query and document.

    One statement. A pre-label without a score counts 1 or 0 by its verdict; one of a text that has changed
    since is left out.
    """
    rows = Prelabel.objects.filter(prelabeler=prelabeler).current().in_queue(queue)
    triples = rows.values_list("query_id", "document_id", ORDER_SCORE).iterator()
    return {(query, document): score for query, document, score in triples}


def scores_of_query(prelabeler: int, query: int) -> dict[int, float]:
    """Scores of one query in any queue, by document; arguments and result are keys. One statement."""
    rows = Prelabel.objects.filter(prelabeler=prelabeler, query=query).current()
    return dict(rows.values_list("document_id", ORDER_SCORE))


class PrelabelSight(models.Model):
    """A pre-label that was handed out to somebody: from then on they have seen it, whatever becomes of it.

    What a verdict says of this rests on these rows, never on the word of the sender.
    """

    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="+", db_index=False)
    prelabeler = models.ForeignKey(Prelabeler, on_delete=models.CASCADE, related_name="+")
    verdict = models.CharField(max_length=12, choices=Verdict.choices, help_text="As it was shown.")
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query", "document", "annotator", "prelabeler"],
                name="one_sight_per_person_and_prelabel",
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator_id} saw {self.query_id} × {self.document_id}: {self.verdict}"
