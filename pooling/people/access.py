"""The doors to stage 1's rows: a stranger gets "not found", a member without the role "forbidden"."""

from __future__ import annotations

from typing import TypeVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404
from django.utils.functional import lazy
from django.utils.translation import gettext, gettext_noop

from pooling.interface.problems import InputError
from pooling.models import Collection, Job, Membership, Pool, Role, Run
from pooling.people.current import COLLECTION

ADMIN = (Role.ADMIN,)
READERS = (Role.ADMIN, Role.VIEWER)
JUDGES = (Role.ADMIN, Role.ANNOTATOR)
MEMBERS = (Role.ADMIN, Role.ANNOTATOR, Role.VIEWER)

# The same words for what does not exist and for what is somebody else's.
NOTHING_HERE = gettext_noop("Not found, or it belongs to a collection of which you are not a member.")

# Nobody becomes one on a page.
FOR_SITE_ADMINS = (
    "This is for site admins. The person who runs the site makes such an account on the server: "
    "create_user NAME --site-admin."
)

Row = TypeVar("Row", bound=Model)


class SiteAdminNeededError(PermissionDenied):
    """Nothing that a role in a collection could help with."""


def require_site_admin(user: User | AnonymousUser) -> None:
    if not user.is_superuser:
        raise SiteAdminNeededError(FOR_SITE_ADMINS)


def fetch(rows: QuerySet[Row], **conditions: object) -> Row:
    """The one row of `rows` that meets the conditions; `Http404` in the words that a stranger gets."""
    row = rows.filter(**conditions).first()
    if row is None:
        raise Http404(gettext(NOTHING_HERE))
    return row


def runs_site(user: User | AnonymousUser) -> bool:
    """Site admins, and the first account, which has no rights in the collections of others."""
    return user.is_staff or user.is_superuser


def may_create_collections(user: User | AnonymousUser) -> bool:
    """The people who run the site may, or everyone with an account if the setting says so."""
    return runs_site(user) or (user.is_authenticated and settings.COLLECTION_CREATORS == "everyone")


def require_creator(user: User | AnonymousUser) -> None:
    """Raise `PermissionDenied` for a person who may not create collections."""
    if not may_create_collections(user):
        raise PermissionDenied("On this site, those who run it create collections. Ask one of them.")


def check_role(role: str) -> None:
    """`InputError` for a role that does not exist."""
    if role not in Role.values:
        raise InputError(f"Unknown role “{role}”. Choose one of {', '.join(Role.values)}.", field="role")


def collections_of(user: User | AnonymousUser) -> QuerySet[Collection]:
    """The collections that `user` may know of, archived ones among them."""
    if user.is_superuser:
        return Collection.objects.all()
    return Collection.objects.filter(memberships__user_id=user.pk or 0)


def deleted_collections_of(user: User | AnonymousUser) -> QuerySet[Collection]:
    """The deleted collections that `user` may restore."""
    rows = Collection.everything.filter(deleted_at__isnull=False, erased_at=None)
    if user.is_superuser:
        return rows
    return rows.filter(memberships__user_id=user.pk or 0, memberships__role=Role.ADMIN)


def role_in(user: User | AnonymousUser, collection: Collection) -> Role | None:
    """The role of `user` in `collection`, or None for a stranger; a superuser is admin everywhere."""
    if user.is_superuser:
        return Role.ADMIN
    memberships = Membership.objects.filter(user_id=user.pk or 0, collection=collection).order_by()
    role = memberships.values_list("role", flat=True).first()
    return Role(role) if role else None


def require_role(
    user: User | AnonymousUser, collection: Collection, roles: tuple[Role, ...], *, deleted_too: bool = False
) -> None:
    """`Http404` for a stranger, or if deleted unless `deleted_too`; else `PermissionDenied` for a role."""
    admit(role_in(user, collection), collection, roles, deleted_too=deleted_too)


def _needed(roles: tuple[Role, ...], role: Role) -> str:
    sentence = gettext("This needs the role {needed}; your role here is {role}.")
    needed = gettext(" or ").join(gettext(one) for one in roles)
    return sentence.format(needed=needed, role=gettext(role))


def admit(
    role: Role | None, collection: Collection, roles: tuple[Role, ...], *, deleted_too: bool = False
) -> None:
    """`require_role` for a role that is known already."""
    if role is None or (collection.deleted_at and not deleted_too):
        raise Http404(gettext(NOTHING_HERE))
    if role not in roles:
        raise PermissionDenied(lazy(_needed, str)(roles, role))
    COLLECTION.set(collection.slug)
    collection.role = role  # type: ignore[attr-defined]  # for templates: what to offer


def collection_for(user: User | AnonymousUser, slug: str, roles: tuple[Role, ...] = READERS) -> Collection:
    """Fetch a collection for somebody with one of `roles`."""
    collection = fetch(Collection.objects.all(), slug=slug)
    require_role(user, collection, roles)
    return collection


def run_for(user: User | AnonymousUser, run_id: int, roles: tuple[Role, ...] = READERS) -> Run:
    """Fetch a run, and its collection, for somebody with one of `roles`."""
    run = fetch(Run.objects.select_related("collection"), pk=run_id)
    require_role(user, run.collection, roles)
    return run


def pool_for(user: User | AnonymousUser, pool_id: int, roles: tuple[Role, ...] = READERS) -> Pool:
    """Fetch a pool, and its collection, for somebody with one of `roles`."""
    pool = fetch(Pool.objects.select_related("collection"), pk=pool_id)
    require_role(user, pool.collection, roles)
    return pool


def job_for(user: User | AnonymousUser, job_id: int, roles: tuple[Role, ...] = READERS) -> Job:
    """Fetch a job, and its collection, for somebody with one of `roles`."""
    job = fetch(Job.objects.select_related("collection"), pk=job_id)
    require_role(user, job.collection, roles)
    return job
