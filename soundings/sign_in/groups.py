"""Rights by groups of the provider: given at a sign-in, and withdrawn at the first one without the group.

What groups gave is noted with the account's link to the provider. A membership that somebody gave by hand, or
whose role somebody changed since, is theirs: groups do not touch it.
"""

from __future__ import annotations

import logging
from typing import TypedDict

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import transaction

from pooling.interface.problems import InputError
from pooling.models import Collection, Membership
from pooling.people.activity_log import record_action
from pooling.people.membership import add_member, change_role, remove_member
from soundings.installation.sign_in import ROLES, Provider

logger = logging.getLogger(__name__)


class Given(TypedDict):
    """What groups gave: roles by the numbers of memberships, and whether they made a site admin."""

    memberships: dict[str, str]
    site_admin: bool


def groups_in(claim: object) -> frozenset[str]:
    """The names in a claim, which is a list, or a text for one group; none for anything else."""
    if isinstance(claim, str):
        return frozenset({claim})
    if isinstance(claim, list):
        return frozenset(one for one in claim if isinstance(one, str))
    return frozenset()


@transaction.atomic
def apply_groups(user: User, groups: frozenset[str], provider: Provider, before: Given) -> Given:
    """Give and withdraw what the groups of somebody decide; what they have given now."""
    user = get_user_model().objects.select_for_update().get(pk=user.pk)
    return {
        "memberships": _memberships(user, groups, provider, before["memberships"]),
        "site_admin": _site_admin(user, bool(groups & provider.site_admins), was_given=before["site_admin"]),
    }


def _memberships(
    user: User, groups: frozenset[str], provider: Provider, before: dict[str, str]
) -> dict[str, str]:
    wanted = _wanted(groups, provider)
    given: dict[str, str] = {}
    for row in Membership.objects.filter(user=user).select_related("collection"):
        slug, role = row.collection.slug, before.get(str(row.pk))
        group, new = wanted.pop(slug, ("", ""))
        if role != row.role:  # by hand
            continue
        try:
            if not new:
                remove_member(row, group="left")
                continue
            if new != role:
                change_role(row, new, group=group)
        except InputError as problem:
            logger.warning("groups do not change account %s in %s: %s", user.pk, slug, problem)
        given[str(row.pk)] = row.role
    for slug, (group, role) in wanted.items():
        collection = Collection.objects.filter(slug=slug).first()
        if collection is None:
            logger.warning("SOUNDINGS_OIDC_GROUPS names the collection %s, which does not exist", slug)
            continue
        given[str(add_member(collection, user.get_username(), role, group=group).pk)] = role
    return given


def _wanted(groups: frozenset[str], provider: Provider) -> dict[str, tuple[str, str]]:
    """Group and role by the short name of a collection; of several roles the one that may most."""
    wanted: dict[str, tuple[str, str]] = {}
    for one in sorted(provider.groups, key=lambda one: ROLES.index(one.role)):
        if one.group in groups:
            wanted.setdefault(one.slug, (one.group, one.role))
    return wanted


def _site_admin(user: User, is_wanted: bool, *, was_given: bool) -> bool:
    if is_wanted and not user.is_superuser:
        _set_site_admin(user, True)
        return True
    if is_wanted or not was_given or not user.is_superuser:
        return is_wanted and was_given
    others = get_user_model().objects.filter(is_active=True, is_superuser=True).exclude(pk=user.pk)
    if not others.exists():
        logger.warning("account %s stays site admin without its group: it is the last one", user.pk)
        return True
    _set_site_admin(user, False)
    return False


def _set_site_admin(user: User, value: bool) -> None:
    user.is_superuser = user.is_staff = value
    user.save(update_fields=["is_superuser", "is_staff"])
    record_action(None, None, "site admin made" if value else "site admin ended", user, by="group")
