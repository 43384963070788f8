"""Models of stage 3: reports, replays, comparisons with an exact run, and canaries with their values."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from labeling.models import QrelsRelease
from pooling.models import Collection, Run
from pooling.tidying.kept import NOT_DELETED, Kept, account_field


class Report(Kept):
    """Runs × a qrels release; computed once and kept, so that showing it computes nothing."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="reports")
    name = models.CharField(max_length=200)
    release = models.ForeignKey(QrelsRelease, on_delete=models.PROTECT, related_name="reports")
    runs = models.ManyToManyField(Run, related_name="reports")
    options = models.JSONField(
        default=dict,
        help_text="Cutoffs, measures, conventions, seed, versions, and checksums of what was measured.",
    )
    result = models.JSONField(default=dict, help_text="The object that `evaluate --format json` prints.")
    summary = models.JSONField(
        default=dict,
        editable=False,
        help_text="What lists say of it: answer, and recall of each run at one K.",
    )
    # Parquet: run, query_id, measure, k, value
    per_query = models.FileField(upload_to="reports/", max_length=300)
    # Parquet: query_id, document_id, relevance, rank_0 ... (order of options["runs"]; null: not retrieved)
    relevant = models.FileField(upload_to="reports/", max_length=300)
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("report", args=[self.pk])


class SharedLink(models.Model):
    """A read-only way to a report, or to the comparison of two of its runs, for anyone who has the link.

    Only the hash of its token is kept. `first`, `second` and `k` are those of a comparison, and empty for the
    whole report.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="shared_links")
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="shared_links")
    token_sha256 = models.CharField(max_length=64, unique=True)
    first = models.CharField(max_length=200, blank=True)
    second = models.CharField(max_length=200, blank=True)
    k = models.PositiveIntegerField(null=True, blank=True)
    note = models.CharField(max_length=100, blank=True, help_text="For admins: whom it is for.")
    # Without its author a link would be nobody's, and could not end with a role.
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"link {self.pk} to report {self.report_id}"

    @property
    def is_of_comparison(self) -> bool:
        """It leads to two runs rather than to the whole report."""
        return bool(self.first)


class Replay(Kept):
    """Strategies replayed on labels that were there; computed once and kept."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="replays")
    name = models.CharField(max_length=200)
    # Null: the labels as they stood. What was used is told in `options`, which outlives the release.
    release = models.ForeignKey(
        QrelsRelease, null=True, blank=True, on_delete=models.SET_NULL, related_name="replays"
    )
    options = models.JSONField(
        default=dict,
        help_text="Labels, runs with checksums, strategies, depth, budgets, seeds, noise, batch.",
    )
    result = models.JSONField(default=dict, help_text="The object that `simulate --format json` prints.")
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("replay", args=[self.pk])


class LatencyReport(Kept):
    """Approximate runs against an exact one with the latency of each setting; computed once and kept."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="latency_reports")
    name = models.CharField(max_length=200)
    exact = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")
    runs = models.ManyToManyField(Run, related_name="latency_reports")
    options = models.JSONField(
        default=dict, help_text="K, target, settings with latency, conventions, checksums, versions."
    )
    result = models.JSONField(
        default=dict, help_text="The object that `evaluate --against --format json` prints."
    )
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("latency_report", args=[self.pk])


class Canary(Kept):
    """Queries whose measure every imported run is checked against, and who hears of it when it falls.

    What is measured (release, queries, measure, confidence) stays as it is, so that its values can be
    compared. Other queries begin another stretch of its history.
    """

    class Reference(models.TextChoices):
        BEST = "best", "the run before, and the best of those before it"
        PINNED = "pinned", "the run before, and one run for good"
        PREVIOUS = "previous", "the run before alone"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="canaries")
    name = models.CharField(max_length=200)
    release = models.ForeignKey(QrelsRelease, on_delete=models.PROTECT, related_name="canaries")
    tag = models.CharField(max_length=200, blank=True, help_text="Empty: every query of the release.")
    measure = models.CharField(max_length=60, help_text="Such as recall@10.")
    threshold = models.FloatField()
    confidence = models.FloatField(default=0.95)
    only_clear = models.BooleanField(
        default=False, help_text="Send a message only if the whole interval is below the threshold."
    )
    webhook_url = models.CharField(max_length=1000, blank=True)
    sealed_secret = models.TextField(blank=True, help_text="Signs what the webhook gets; encrypted.")
    mail_to = models.JSONField(default=list, blank=True, help_text="Addresses.")
    reference = models.CharField(max_length=10, choices=Reference.choices, default=Reference.BEST)
    pinned = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    trouble = models.TextField(
        blank=True, help_text="Why the newest run could not be measured, as in the message."
    )
    lost_tag = models.BooleanField(
        default=False, help_text="A message was sent that no query has the tag any more."
    )
    site = models.CharField(
        max_length=300, blank=True, help_text="Address of the site when this was created."
    )
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "canaries"
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "name"], condition=NOT_DELETED, name="one_canary_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("canary", args=[self.pk])


class CanaryStretch(models.Model):
    """A part of a canary's history over the same queries: those that had its tag when the stretch began."""

    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="stretches")
    queries = models.JSONField(
        null=True, help_text="Ids, in bytewise order; null: every query of the release."
    )
    scored = models.PositiveIntegerField(default=0, help_text="How many of them have a relevant label.")
    deviation = models.FloatField(
        null=True, help_text="Of the differences of two runs by query, from one comparison when it began."
    )
    started_at = models.DateTimeField(auto_now_add=True)
    started_by = account_field()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "canary stretches"

    def __str__(self) -> str:
        return f"{self.canary_id} since {self.started_at:%Y-%m-%d}"


class CanaryValueManager(models.Manager["CanaryValue"]):
    """Values of runs that are not deleted."""

    def get_queryset(self) -> models.QuerySet[CanaryValue]:
        """Without those of deleted runs, which come back with these."""
        return super().get_queryset().filter(run__deleted_at=None)


class CanaryValue(models.Model):
    """One run's value of a canary, and differences from other runs; both p are one-sided and corrected."""

    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="values")
    stretch = models.ForeignKey(CanaryStretch, on_delete=models.CASCADE, related_name="values")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="canary_values")
    family = models.CharField(max_length=200)
    mean = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    queries = models.PositiveIntegerField()
    previous = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    difference = models.FloatField(null=True)
    difference_low = models.FloatField(null=True)
    difference_high = models.FloatField(null=True)
    p = models.FloatField(null=True)
    deviation = models.FloatField(null=True, help_text="Of the differences from the run before, by query.")
    reference = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    reference_difference = models.FloatField(null=True)
    reference_low = models.FloatField(null=True)
    reference_high = models.FloatField(null=True)
    reference_p = models.FloatField(null=True)
    reasons = models.JSONField(
        default=list, help_text="Why a message was sent: below, drop, drop_since_reference."
    )
    judged = models.FloatField(null=True, help_text="judged@K over what the run retrieved.")
    undecided = models.JSONField(
        default=list, help_text="Of below and the reasons, what the unjudged documents could take back."
    )
    notes = models.JSONField(default=list, help_text="Sentences on ids that meet no label.")
    measured_at = models.DateTimeField(auto_now_add=True)

    objects = CanaryValueManager()

    class Meta:
        ordering = ["stretch_id", "run_id"]
        constraints = [
            models.UniqueConstraint(fields=["stretch", "run"], name="one_value_per_stretch_and_run")
        ]

    def __str__(self) -> str:
        return f"{self.canary_id}: {self.run_id}"


class Webhook(models.Model):
    """An address that hears what happens in a collection; its secret signs what it gets."""

    class Event(models.TextChoices):
        QUEUE_FINISHED = "queue.finished"
        RELEASE_MADE = "release.made"
        REPORT_MADE = "report.made"
        CANARY_FELL = "canary.fell"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=1000)
    events = models.JSONField(default=list, help_text="What it hears of.")
    sealed_secret = models.TextField(help_text="Encrypted; shown once.")
    site = models.CharField(max_length=300, blank=True, help_text="The address that links begin with.")
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class CanaryDelivery(models.Model):
    """One message to one receiver about one event, and what became of it: about canaries, or to a webhook of
    the collection, with its body.

    What has not arrived is tried again at `next_try_at`, until `give_up_at`. While it is being sent,
    `next_try_at` is when its sender must have died.
    """

    class Channel(models.TextChoices):
        WEBHOOK = "webhook"
        MAIL = "mail"

    class State(models.TextChoices):
        WAITING = "waiting"
        SENDING = "sending"
        SENT = "sent"
        FAILED = "failed"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="canary_deliveries")
    canaries = models.ManyToManyField(Canary, through="CanaryNews", related_name="deliveries")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    receiver = models.CharField(max_length=1000, help_text="Host of the webhook, or address.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    tries = models.PositiveIntegerField(default=0)
    detail = models.TextField(blank=True, help_text="The receiver's response, or why nothing was sent.")
    created_at = models.DateTimeField(auto_now_add=True)
    next_try_at = models.DateTimeField(default=timezone.now)
    give_up_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    webhook = models.ForeignKey(Webhook, null=True, on_delete=models.CASCADE, related_name="deliveries")
    body = models.JSONField(null=True, help_text="What a webhook of the collection gets.")
    subject = models.CharField(
        max_length=200, blank=True, db_default="", help_text="Told once to each webhook."
    )

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "canary deliveries"

    def __str__(self) -> str:
        return f"{self.channel} to {self.receiver} ({self.state})"

    @property
    def is_under_way(self) -> bool:
        """Nothing has become of it yet, or another try is due or begun."""
        late = timezone.now() - self.next_try_at
        is_begun = self.state == self.State.SENDING and late < timedelta(0)
        is_due = self.state == self.State.WAITING and timedelta(0) <= late < timedelta(minutes=1)
        return is_begun or is_due or not (self.ended_at or self.tries or self.detail)


class CanaryNewsManager(models.Manager["CanaryNews"]):
    """News of canaries that are not deleted."""

    def get_queryset(self) -> models.QuerySet[CanaryNews]:
        return super().get_queryset().filter(canary__deleted_at=None)


class CanaryNews(models.Model):
    """One canary in a message: a run's value, or trouble; neither in a test."""

    delivery = models.ForeignKey(CanaryDelivery, on_delete=models.CASCADE, related_name="news")
    canary = models.ForeignKey(Canary, on_delete=models.CASCADE, related_name="news")
    value = models.ForeignKey(CanaryValue, null=True, on_delete=models.CASCADE, related_name="news")
    reasons = models.JSONField(default=list, help_text="Why the message is sent.")
    trouble = models.TextField(blank=True)

    objects = CanaryNewsManager()

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "canary news"

    def __str__(self) -> str:
        return f"{self.canary_id} in {self.delivery_id}"
