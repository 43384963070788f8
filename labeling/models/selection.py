"""Live orders: the settings an adaptive queue is opened with, and how far the selection of each query is."""

from __future__ import annotations

from django.db import models

from labeling.models.prelabels import Prelabeler
from labeling.models.queues import Queue
from pooling.models import Query
from pooling.ranking.selection import EQUAL, GREEDY, SHARE


class Selection(models.Model):
    """A queue's choice of what is judged next. Its row is the lock for ordering anything again."""

    class Rule(models.TextChoices):
        """How the budget is spread over queries."""

        EQUAL = EQUAL, "the same number of pairs for each query"
        SHARE = SHARE, "the same share of each query's pool"
        GREEDY = GREEDY, "wherever relevant documents turn up"

    class Over(models.TextChoices):
        """What a bound on what is missing speaks of."""

        QUERY = "query", "each query by itself"
        QUEUE = "queue", "all queries together"

    queue = models.OneToOneField(Queue, on_delete=models.CASCADE, primary_key=True, related_name="selection")
    strategy = models.CharField(max_length=40, help_text="What orders the documents; of the pool.")
    budget = models.PositiveIntegerField(null=True, blank=True, help_text="Pairs in all. Null: every pair.")
    budget_rule = models.CharField(max_length=10, choices=Rule.choices, default=Rule.EQUAL)
    budget_floor = models.PositiveIntegerField(null=True, blank=True, help_text="Pairs for each query.")
    stop_missing = models.FloatField(
        null=True, blank=True, help_text="Stop when at most this share of the relevant documents is missing."
    )
    stop_looks = models.PositiveSmallIntegerField(default=0, help_text="Number of looks at the audit.")
    stop_over = models.CharField(max_length=10, choices=Over.choices, default=Over.QUERY)
    query_count = models.PositiveIntegerField(default=0)
    lessons = models.BinaryField(default=bytes, help_text="What all queries teach the strategy, as float64.")
    looks = models.JSONField(default=list, help_text="What was seen of all queries together, look by look.")
    # Taken away, it would leave lessons behind that count its votes among the runs.
    prior = models.ForeignKey(
        Prelabeler,
        null=True,
        blank=True,
        on_delete=models.RESTRICT,
        related_name="+",
        help_text="The model whose scores the strategy starts from. Null: it starts from the runs alone.",
    )
    prior_votes = models.PositiveIntegerField(default=0, help_text="As how many runs its scores count then.")

    def __str__(self) -> str:
        return f"{self.strategy} in queue {self.queue_id}"


class QueryPlan(models.Model):
    """The selection of one query: what was handed out, what comes next, and what finished it.

    Batches count from 1. Of those up to `begun` something was handed out: they do not change any more, and
    their documents stand in `reached` and `drawn`. `ahead` is what is planned behind them.
    """

    class Finish(models.TextChoices):
        BUDGET = "budget", "its budget"
        POOL = "pool", "the end of its pool"
        BOUND = "bound", "a bound on what is missing"
        HAND = "hand", "an admin"

    selection = models.ForeignKey(Selection, on_delete=models.CASCADE, related_name="plans", db_index=False)
    query = models.ForeignKey(Query, on_delete=models.CASCADE, related_name="+")
    place = models.PositiveIntegerField(help_text="Of the query among the queries, from 0, drawn.")
    size = models.PositiveIntegerField(help_text="Documents in the pool.")
    budget = models.PositiveIntegerField(help_text="Documents that may be handed out.")
    begun = models.PositiveIntegerField(default=0)
    spent = models.PositiveIntegerField(default=0, help_text="Documents in the batches begun.")
    judged = models.PositiveIntegerField(default=0, help_text="Judgments when it was last planned.")
    settled = models.PositiveIntegerField(default=0, help_text="Documents handed out and settled, then.")
    found = models.PositiveIntegerField(default=0, help_text="Relevant ones among them, then.")
    recent = models.FloatField(default=0, help_text="Share of relevant ones among the last ten reached.")
    reached = models.JSONField(default=list, help_text="[document, batch]; batch 0 is known beforehand.")
    drawn = models.JSONField(default=list, help_text="[document, batch, draw], in the order of the audit.")
    ahead = models.JSONField(default=list, help_text="[handed, reached, joined] of each batch, as documents.")
    alike = models.JSONField(default=dict, help_text="Document → a number that near-duplicates share.")
    draw = models.PositiveSmallIntegerField(default=1, help_text="Which draw of the audit estimates rest on.")
    lesson = models.BinaryField(default=bytes, help_text="What the query teaches, as in `lessons`.")
    audit = models.JSONField(default=list, help_text="[size, sampled, relevant] of the remainder, then.")
    looks = models.JSONField(default=list, help_text="What was seen of the query, look by look.")
    finished_by = models.CharField(max_length=10, choices=Finish.choices, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    fresh = models.PositiveIntegerField(default=0, help_text="Documents drawn again when it was stopped.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["selection", "query"], name="one_plan_per_query_and_queue")
        ]

    def __str__(self) -> str:
        return f"query {self.query_id} in queue {self.selection_id}"
