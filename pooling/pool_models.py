from __future__ import annotations

from functools import cache
from typing import TypedDict

from django.db import models
from django.db.models.sql import Query
from django.urls import reverse

from pooling.tidying.kept import NOT_DELETED, Kept, account_field


class StoredFrame(TypedDict, total=False):
    """The frame of an audit with a reach: documents by query id, and whether a text ranking is part of it;
    empty without a reach."""

    sizes: dict[str, int]
    text: bool


class Pool(Kept):
    """The pairs chosen for judging from a set of runs, with everything needed to choose them again.

    A later version `extends` the one before it: budget, audit share and seed are those of the pairs that it
    brought. A pool that no strategy chose says in `provenance` where its pairs come from.
    """

    # What stands for a strategy where pairs were picked for a reason, and no audit speaks for the others.
    DECIDING = "deciding"
    SEARCH = "search"
    VERIFICATION = "verification"
    # An audit by scores: its pairs are those of another pool that had no label, its audit was drawn of these.
    STRATA = "strata"
    SAMPLES = (VERIFICATION, STRATA)
    # The pairs of judgments that were imported.
    IMPORTED = "imported"
    PICKED = (DECIDING, SEARCH, IMPORTED, *SAMPLES)

    collection = models.ForeignKey("pooling.Collection", on_delete=models.CASCADE, related_name="pools")
    name = models.CharField(max_length=200)
    depth = models.PositiveIntegerField()
    depths = models.JSONField(default=dict, blank=True, help_text="Runs with their own depth, by name.")
    strategy = models.CharField(max_length=40)
    budget = models.PositiveIntegerField(null=True, blank=True, help_text="Pairs in all, audit included.")
    audit_share = models.FloatField(default=0)
    reach = models.PositiveIntegerField(
        null=True, blank=True, help_text="How far down the audit draws; without one, as deep as the pool."
    )
    frame = models.JSONField(
        default=dict,
        blank=True,
        help_text="What the audit draws from, where it has a reach: documents by query id under `sizes`, and "
        "whether a text ranking is part of it under `text`.",
    )
    seed = models.BigIntegerField(default=0)
    ties = models.CharField(max_length=20, default="docid")
    scores = models.CharField(max_length=20, default="float64")
    version = models.PositiveIntegerField(default=1)
    extends = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.RESTRICT, related_name="extensions"
    )
    provenance = models.JSONField(
        default=dict, blank=True, help_text="Facts about individually picked pairs."
    )
    runs = models.ManyToManyField("pooling.Run", through="PoolRun", related_name="pools")
    pair_count = models.PositiveIntegerField(default=0, help_text="Every pooled pair.")
    chosen_count = models.PositiveIntegerField(default=0, help_text="Pairs in the budget or the audit.")
    query_count = models.PositiveIntegerField(default=0)
    # Sizes by depth and by query, overlap of runs, unique finds: computed once, since a pool does not change.
    diagnostics = models.JSONField(default=dict)
    built_by = account_field()
    built_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-built_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "name"], condition=NOT_DELETED, name="one_pool_per_name"
            ),
            models.UniqueConstraint(
                fields=["extends"], condition=NOT_DELETED, name="one_next_version_per_pool"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("pool", args=[self.collection.slug, self.pk])

    @property
    def is_picked(self) -> bool:
        """Its pairs were picked one by one, and no run was merged."""
        return self.strategy in self.PICKED

    @property
    def chosen_of_earlier(self) -> int:
        """Pairs that the version before had without choosing them, and this one chose."""
        if self.extends is None or "new" not in self.diagnostics:
            return 0
        return int(self.chosen_count - self.extends.chosen_count - self.diagnostics["new"]["chosen"])

    @property
    def deepest(self) -> int:
        return max(map(self.depth_of, [*self.depths, ""]))

    def depth_of(self, run: str) -> int:
        return int(self.depths.get(run, self.depth))

    def frame_size(self, query_id: str) -> int | None:
        """The documents of a query, by the collection's own id, that the audit draws from; None without a
        reach."""
        frame: StoredFrame = self.frame
        return frame.get("sizes", {}).get(query_id)

    def versions(self) -> list[Pool]:
        before = [] if self.extends is None else self.extends.versions()
        return [*before, self]


class PoolRun(models.Model):
    """A run's place in a pool; `index` is what `PoolEntry.found_by` speaks of."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="pool_runs")
    run = models.ForeignKey("pooling.Run", on_delete=models.PROTECT, related_name="pool_runs")
    index = models.PositiveIntegerField()

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["pool", "run"], name="a_run_once_per_pool")]

    def __str__(self) -> str:
        return f"{self.run} in {self.pool}"


#: Pairs that an order which learns may come to draw from beyond the pool: no part of it until then.
IN_RESERVE = models.Q(is_beyond=True, inclusion_probability=None)


class _Entries(models.Manager["PoolEntry"]):
    def get_queryset(self) -> models.QuerySet[PoolEntry]:
        return models.QuerySet(PoolEntry, query=_entries().chain(), using=self._db)


@cache
def _entries() -> Query:
    """What each of their queries begins with, as in `pooling/tidying/kept.py`."""
    return models.QuerySet(PoolEntry).exclude(IN_RESERVE).query


class PoolEntry(models.Model):
    """One pair of a pool: its place in the order, who found it, and its inclusion probability."""

    # The indexes below begin with pool and document: each index more slows the storing of a pool by a tenth.
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="entries", db_index=False)
    query = models.ForeignKey("pooling.Query", on_delete=models.CASCADE, related_name="pool_entries")
    document = models.ForeignKey(
        "pooling.Document", models.CASCADE, related_name="pool_entries", db_index=False
    )
    position = models.PositiveIntegerField(
        help_text="Place in the strategy's order, 1-based within the query."
    )
    run_count = models.PositiveIntegerField()
    # Null where only a text ranking found the document.
    best_rank = models.PositiveIntegerField(null=True, blank=True)
    rrf = models.FloatField()
    in_audit = models.BooleanField(default=False)
    # Null where neither budget nor audit reaches the pair.
    inclusion_probability = models.FloatField(null=True, blank=True)
    found_by = models.JSONField(default=list, help_text="Pairs [run index, rank].")
    version = models.PositiveIntegerField(default=1, help_text="The pool's version that brought the pair.")
    is_beyond = models.BooleanField(
        default=False, db_default=False, help_text="Drawn from beyond the depth of the pool."
    )

    objects = _Entries()
    everything = models.Manager()  # noqa: DJ012  the manager that comes first is the default one

    class Meta:
        base_manager_name = "everything"
        verbose_name_plural = "pool entries"
        constraints = [
            models.UniqueConstraint(fields=["pool", "query", "document"], name="a_pair_once_per_pool")
        ]
        # Neither "which of these documents are pooled" nor "is there an audit" may walk the pool.
        indexes = [
            models.Index(fields=["document", "pool"], name="entries_by_document"),
            models.Index(fields=["pool"], name="entries_in_audit", condition=models.Q(in_audit=True)),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} × {self.document_id}"
