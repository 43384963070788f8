"""Fields of what can be archived and deleted, and the managers that show what is still there."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from django.conf import settings
from django.db import models
from django.db.models.sql import Query

if TYPE_CHECKING:  # models are declared before those of accounts can be loaded
    from django.contrib.auth.models import User

# How long a deletion can be undone; after that the thing is erased.
RESTORABLE = timedelta(days=30)
# Names are unique among what is not deleted, so that a deleted thing's name can be given again.
NOT_DELETED = models.Q(deleted_at=None)
# What pools and queues to come leave out.
ARCHIVED_OR_DELETED = models.Q(deleted_at__isnull=False) | models.Q(archived_at__isnull=False)

Row = TypeVar("Row", bound=models.Model, covariant=True)


def account_field() -> models.ForeignKey[User | None, User | None]:
    """Who did it: empty for the site itself, and once the account is removed."""
    return models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")


class KeptQuerySet(models.QuerySet[Row]):
    def listed(self) -> KeptQuerySet[Row]:
        """Those that lists, forms and defaults offer: not archived."""
        return self.filter(archived_at=None)


@cache
def _present(model: type[models.Model]) -> Query:
    """What each of a model's queries begins with, put together once and copied."""
    return KeptQuerySet(model).filter(deleted_at=None).query


class PresentManager(models.Manager[Row]):
    """Things that are not deleted; archived ones are among them."""

    def get_queryset(self) -> KeptQuerySet[Row]:
        return KeptQuerySet(self.model, query=_present(self.model).chain(), using=self._db)

    def listed(self) -> KeptQuerySet[Row]:
        return self.get_queryset().listed()


class EveryManager(models.Manager[Row]):
    """Deleted rows as well."""


class Kept(models.Model):
    """A thing that can be archived, or deleted with thirty days in which that can be undone.

    An archived thing is in no list, form or default, but has its address, and counts where it is evidence.
    A deleted one is only on the page of archived and deleted things. Rows that refer to it still find it.
    """

    archived_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    erased_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When its content went for good, where its row had to stay.",
    )

    objects = PresentManager()
    everything = EveryManager()

    class Meta:
        abstract = True
