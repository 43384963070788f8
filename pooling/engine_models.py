from __future__ import annotations

from django.db import models
from django.urls import reverse

from pooling.tidying.kept import NOT_DELETED, Kept, account_field


class Engine(Kept):
    """A search engine that is asked for the queries of a collection; see `pooling/engines/description.py`.

    With a statement it is a database of the site's settings, otherwise an address. The key goes to the
    address's host alone: an address on another host drops it.
    """

    collection = models.ForeignKey("pooling.Collection", on_delete=models.CASCADE, related_name="engines")
    name = models.CharField(max_length=200)
    address = models.TextField(blank=True)
    body = models.TextField(blank=True)
    id_path = models.TextField(blank=True)
    score_path = models.TextField(blank=True)
    key_header = models.CharField(max_length=200, blank=True)
    sealed_key = models.TextField(blank=True, help_text="Encrypted.")
    database = models.CharField(max_length=200, blank=True)
    statement = models.TextField(blank=True)
    depth = models.PositiveIntegerField(default=100)
    concurrency = models.PositiveSmallIntegerField(default=2)
    per_second = models.FloatField(null=True, blank=True)
    time_out = models.FloatField(default=10.0, help_text="Seconds for an answer.")
    every_hours = models.PositiveIntegerField(null=True, blank=True)
    next_at = models.DateTimeField(null=True, blank=True, help_text="When it is asked by itself.")
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "name"], condition=NOT_DELETED, name="one_engine_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("engine", args=[self.collection.slug, self.pk])


class EngineAsking(models.Model):
    """An engine being asked for all queries; it goes with its answers once they are a run."""

    engine = models.ForeignKey(Engine, on_delete=models.CASCADE, related_name="askings")
    run_name = models.CharField(max_length=200)
    settings = models.JSONField(help_text="As it is asked; without the key.")
    pool = models.ForeignKey(
        "pooling.Pool",
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Extended by the run.",
    )
    requests = models.PositiveIntegerField(default=0)
    retries = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.run_name} of {self.engine_id}"


class EngineAnswer(models.Model):
    """An engine's answer to one query."""

    asking = models.ForeignKey(EngineAsking, on_delete=models.CASCADE, related_name="answers")
    query = models.ForeignKey("pooling.Query", on_delete=models.CASCADE, related_name="+")
    document_ids = models.JSONField(default=list)
    scores = models.JSONField(null=True)
    repeated = models.PositiveIntegerField(default=0, help_text="Hits whose document came before.")
    latency_ms = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["asking", "query"], name="one_answer_per_query_asked")]

    def __str__(self) -> str:
        return f"{self.asking_id}: {self.query_id}"
