"""Models about accounts besides Django's own: tokens, letters, preferences, and the end of the trail."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy


class Scope(models.TextChoices):
    READ = "read", gettext_lazy("Read")
    JUDGE = "judge", gettext_lazy("Read and judge")
    ADMIN = "admin", gettext_lazy("All that I may do")


class ApiToken(models.Model):
    """A program's sign-in, of which only the hash is kept; it ends when its owner's password changes."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    token_sha256 = models.CharField(max_length=64, unique=True)
    password_sha256 = models.CharField(max_length=64, help_text="Of the stored password, itself a hash.")
    scope = models.CharField(
        max_length=10, choices=Scope.choices, default=Scope.ADMIN, db_default=Scope.ADMIN.value
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="None: with the password alone.")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class Letter(models.Model):
    """A letter that somebody caused, by a hash of who or to whom, kept for an hour to limit their number."""

    about_sha256 = models.CharField(max_length=64)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["about_sha256", "at"], name="letters_about_somebody")]

    def __str__(self) -> str:
        return f"letter {self.pk}"


class Preferences(models.Model):
    """Somebody's preferences for pages, on every machine they sign in from."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preferences"
    )
    columns = models.JSONField(default=dict, help_text="Names of columns by the name of a table.")
    reading = models.JSONField(default=dict, help_text="How documents to judge are shown.")
    language = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        help_text="Of pages; empty: what the browser asks for.",
    )

    def __str__(self) -> str:
        return f"preferences of {self.user}"


class SeenSession(models.Model):
    """A browser in which somebody is signed in, by Django's session; `seen_at` is minutes behind at most."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="seen_sessions")
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=300, blank=True, help_text="As it names itself.")
    address = models.CharField(max_length=45, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"session {self.pk} of {self.user}"


class TrailHead(models.Model):
    """The newest line of the trail: one row, which everyone locks who appends to the chain."""

    number = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.number}:{self.sha256}"
