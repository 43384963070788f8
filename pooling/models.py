"""Models of stage 1: collections and their members, queries, documents, runs and pools.

The rows of a run live in a Parquet file in file storage; the database has one row of facts about it.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_noop

from pooling import account_models, engine_models, search_models  # noqa: F401  are models too
from pooling.formats.query_facts import tags_of
from pooling.interface.markdown import LONGEST_MARKDOWN
from pooling.pool_models import Pool as Pool
from pooling.pool_models import PoolEntry as PoolEntry
from pooling.pool_models import PoolRun as PoolRun
from pooling.pool_models import StoredFrame as StoredFrame
from pooling.tidying.kept import ARCHIVED_OR_DELETED, NOT_DELETED, Kept, account_field


class Job(models.Model):
    """Long work done by the background worker, with its progress."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    collection = models.ForeignKey("pooling.Collection", on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=40, help_text="Name under which the work is registered.")
    arguments = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    progress = models.FloatField(default=0, help_text="0 to 1.")
    detail = models.TextField(blank=True, help_text="Current step, or why it failed.")
    result = models.JSONField(null=True, blank=True)
    worker = models.CharField(max_length=300, blank=True, help_text="Host and process that run it.")
    task = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="What the worker knows it by."
    )
    was_interrupted = models.BooleanField(
        default=False, db_default=False, help_text="Failed because its worker was stopped."
    )
    created_by = account_field()
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.kind} ({self.state})"

    def get_absolute_url(self) -> str:
        return reverse("job", args=[self.pk])

    @property
    def is_finished(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)


class JobBeat(models.Model):
    """When the worker of a running job last said that it lives. A separate row, because the work itself may
    hold the job's row in a long transaction."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="beat")
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.job_id} at {self.seen_at}"


class JobCancellation(models.Model):
    """Somebody asked for a running job's end; apart, so that asking need not wait for the job's row."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="cancellation")
    asked_by = account_field()
    asked_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"end of {self.job_id}"


class Role(models.TextChoices):
    """Rights of a member: an admin may do everything, an annotator judge, a viewer look at everything."""

    ADMIN = gettext_noop("admin")
    ANNOTATOR = gettext_noop("annotator")
    VIEWER = gettext_noop("viewer")


class Collection(Kept):
    """Documents, queries, runs, pools and judgments of one project."""

    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=200)
    question = models.CharField(
        max_length=300,
        default="Is this document relevant to the query?",
        help_text="The question an annotator answers for each pair.",
    )
    guidelines = models.TextField(
        blank=True, max_length=LONGEST_MARKDOWN, help_text="What relevant means here, in Markdown."
    )
    language = models.CharField(
        max_length=10,
        default="en",
        db_default="en",
        help_text="Of its texts, by ISO 639-1: what counts as the same word.",
    )
    synonyms = models.TextField(
        blank=True,
        default="",
        db_default="",
        max_length=20_000,
        help_text="Words that mean the same, a group on each line, separated by commas: tram, streetcar.",
    )
    image_hosts = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Hosts whose images documents show, one on each line; empty: no images.",
    )
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="collections"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "slug"]
        constraints = [
            models.UniqueConstraint(fields=["slug"], condition=NOT_DELETED, name="one_collection_per_slug")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("collection", args=[self.slug])


class Membership(models.Model):
    """One person's role in one collection."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user__username"]
        constraints = [models.UniqueConstraint(fields=["collection", "user"], name="one_role_per_member")]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.collection}"


class Invitation(models.Model):
    """A link, or an offer to the account of a user name, that makes one person a member once they agree.

    Only a link's hash is kept: anyone who reads the database cannot join. `user` is the account that an
    offer is for; an offer to a name that nobody has is stored all the same, and nobody can accept it.
    """

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices)
    token_sha256 = models.CharField(max_length=64, unique=True)
    email = models.EmailField(blank=True, help_text="Email address it was sent to, if any.")
    mailed_at = models.DateTimeField(null=True, blank=True)
    note = models.CharField(max_length=100, blank=True, help_text="For admins: whom it is for.")
    username = models.CharField(max_length=150, blank=True, help_text="The account it is offered to, if any.")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="offers"
    )
    # None for a command. Without its author an invitation would be nobody's, and could not end with a role.
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"invitation {self.pk} to {self.collection_id} as {self.role}"


class AdminAction(models.Model):
    """A line of the trail: one thing that somebody did, to a collection or on the site; see
    `pooling.people.chain`.

    Appended, and then only numbered, and without its address after some days. People and collections are kept
    as their numbers, which stay when what they belong to goes.
    """

    collection = models.ForeignKey(
        Collection,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="admin_actions",
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
    )
    about = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        help_text="Whom it was done to; then `subject` is empty.",
    )
    action = models.CharField(max_length=60, help_text="Such as “member added”.")
    subject = models.CharField(max_length=300, blank=True, help_text="What it was done to.")
    detail = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)
    address = models.CharField(max_length=45, blank=True, default="", db_default="")
    address_salt = models.CharField(max_length=32, blank=True, default="", db_default="")
    address_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    number = models.PositiveBigIntegerField(null=True, unique=True, help_text="Its place in the chain.")
    sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["collection", "-id"], name="actions_of_a_collection"),
            models.Index(fields=["at"], condition=~models.Q(address=""), name="actions_with_an_address"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_id}: {self.action} {self.about_id or self.subject}"

    @property
    def subject_name(self) -> str:
        if self.about_id is None:
            return self.subject
        return self.about.get_username() if self.about else f"account {self.about_id}"


class TextImport(Kept):
    """A file of queries or documents that was imported; what it created goes and comes back with it."""

    QUERIES = "queries"
    DOCUMENTS = "documents"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="text_imports")
    of = models.CharField(max_length=20, choices=[(QUERIES, QUERIES), (DOCUMENTS, DOCUMENTS)])
    name = models.CharField(max_length=300)
    created_count = models.PositiveIntegerField(default=0, help_text="New, or brought back.")
    changed_count = models.PositiveIntegerField(default=0)
    changed_ids = models.JSONField(default=list, help_text="The first of those whose texts it changed.")
    imported_by = account_field()
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def list_page(self) -> str:
        return self.of


class Query(Kept):
    """A query with the collection's own, opaque id; `metadata` may hold `narrative` and `tags`."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="queries")
    external_id = models.CharField(max_length=500)
    text = models.TextField()
    metadata = models.JSONField(default=dict, blank=True)
    brought_by = models.ForeignKey(
        TextImport, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )

    class Meta:
        verbose_name_plural = "queries"
        constraints = [
            models.UniqueConstraint(fields=["collection", "external_id"], name="one_query_per_external_id")
        ]

    def __str__(self) -> str:
        return f"{self.external_id}: {self.text}"

    @property
    def narrative(self) -> str:
        """One or two sentences on what counts as relevant, or nothing."""
        return str(self.metadata.get("narrative") or "")

    @property
    def tags(self) -> list[str]:
        return list(tags_of(self.metadata))


class Document(Kept):
    """A document that was imported or that some pool contains; `text` is null while it is not known."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="documents")
    external_id = models.CharField(max_length=500)
    title = models.TextField(blank=True)
    text = models.TextField(null=True, blank=True)  # noqa: DJ001  null is "not known", empty is "has no text"
    metadata = models.JSONField(default=dict, blank=True)
    # Counts up when title or text change, so that a verdict says which text was on screen.
    version = models.PositiveIntegerField(default=1)
    brought_by = models.ForeignKey(
        TextImport, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["collection", "external_id"], name="one_document_per_external_id")
        ]
        indexes = [
            models.Index(
                fields=["collection"], name="document_without_text", condition=models.Q(text__isnull=True)
            ),
            models.Index(fields=["collection"], name="documents_put_away", condition=ARCHIVED_OR_DELETED),
        ]

    def __str__(self) -> str:
        return self.title or self.external_id


class Run(Kept):
    """One retriever's ranked lists; immutable once imported."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="runs")
    name = models.CharField(max_length=200)
    file = models.FileField(upload_to="runs/", max_length=300)  # Parquet: query_id, document_id, score, rank
    source_name = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64, help_text="Checksum of the file as it was imported.")
    tag = models.CharField(max_length=500, blank=True)
    row_count = models.PositiveBigIntegerField()
    query_count = models.PositiveIntegerField()
    depth = models.PositiveIntegerField(help_text="The longest list of a query.")
    preflight = models.JSONField(default=dict)
    imported_by = account_field()
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "name"], condition=NOT_DELETED, name="one_run_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("run", args=[self.collection.slug, self.pk])
