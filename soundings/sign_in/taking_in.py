"""Whose account the provider signs in: known by its subject, linked by a verified address, or new."""

from __future__ import annotations

import logging
import re
import unicodedata
from itertools import count
from typing import Any, TypedDict

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from pooling.interface.problems import InputError
from pooling.models import Collection, Membership
from pooling.people.activity_log import record_action
from pooling.people.membership import add_member, change_role, remove_member
from soundings.installation.sign_in import ROLES, Provider
from soundings.sign_in.chosen import LINKS, table, the_provider

# Rights by groups of the provider: given at a sign-in, and withdrawn at the first one without the group.


logger = logging.getLogger(__name__)


class GroupRoles(TypedDict):
    """Gifts of groups: roles by the numbers of memberships, and whether they made a site admin."""

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
def apply_groups(user: User, groups: frozenset[str], provider: Provider, before: GroupRoles) -> GroupRoles:
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


#: What the one provider is called in rows of django-allauth.
PROVIDER = "company"
LONGEST_NAME = 100
NOT_IN_NAMES = re.compile(r"[^\w.@+-]+")


class Claims(TypedDict, total=False):
    """The provider's claims about a person, as far as they are read; there may be more, such as groups."""

    sub: str
    email: object
    email_verified: object
    preferred_username: object
    given_name: object
    family_name: object


def person_for(claims: Claims, *, invited: bool) -> User:
    """The account of the claims, with rights of its groups; `InputError` for none, unless `invited`."""
    try:
        with transaction.atomic():
            return _person_for(claims, invited)
    except IntegrityError:  # two first sign-ins at once: the other one made the account
        with transaction.atomic():
            return _person_for(claims, invited)


def _person_for(claims: Claims, invited: bool) -> User:
    links = table(LINKS)
    link = links.filter(provider=PROVIDER, uid=claims["sub"]).first()
    if link is None:
        user = _unlinked(claims, invited)
        link = links.create(provider=PROVIDER, uid=claims["sub"], user=user)
    user = link.user
    if not user.is_active:
        raise InputError(_("This account is disabled. Ask the person who runs this site."))
    groups = groups_in(claims.get(the_provider().groups_claim))
    link.extra_data = apply_groups(user, groups, the_provider(), _given(link.extra_data))
    link.save()
    user.refresh_from_db()
    return user  # type: ignore[no-any-return]


def _given(kept: object) -> GroupRoles:
    data: dict[str, Any] = kept if isinstance(kept, dict) else {}
    return {"memberships": data.get("memberships") or {}, "site_admin": bool(data.get("site_admin"))}


def _unlinked(claims: Claims, invited: bool) -> User:
    """The account that a subject gets at its first sign-in."""
    email = _address(claims.get("email"))
    with_address = _with_address(email) if email else []
    if with_address:
        is_same = len(with_address) == 1 and _lowered(with_address[0].email) == _lowered(email)
        if the_provider().links_by_email and claims.get("email_verified") is True and is_same:
            return _linked(with_address[0])
        raise InputError(
            _("Another account here has your email address. Ask the person who runs this site to link them.")
        )
    if not (the_provider().makes_accounts or invited):
        raise InputError(_("You have no account here yet. Ask for an invitation."))
    return _made(claims, email)


def _with_address(email: str) -> list[User]:
    """Accounts with an address or one like it, compared here as databases differ (ı and i, say)."""
    wanted = _alike(email)
    accounts = get_user_model().objects.exclude(email="").values_list("pk", "email")
    keys = [key for key, address in accounts.iterator() if _alike(address) == wanted]
    return list(get_user_model().objects.filter(pk__in=keys[:2]))


def _alike(text: str) -> str:
    """A form in which addresses are equal that differ in case or in characters that stand for the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _lowered(address: str) -> str:
    """Without case in ASCII alone: each of two addresses that are merely alike may be somebody's."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in address)


def _linked(user: User) -> User:
    """The provider alone signs this account in from now on: its password may be somebody else's."""
    user.set_unusable_password()
    user.save(update_fields=["password"])
    record_action(None, user, "account linked", user, by="email address")
    return user


def _made(claims: Claims, email: str) -> User:
    user = get_user_model().objects.create_user(
        _free_name(plain(claims.get("preferred_username")) or email.partition("@")[0]),
        email=email,
        first_name=plain(claims.get("given_name"))[:LONGEST_NAME],
        last_name=plain(claims.get("family_name"))[:LONGEST_NAME],
    )
    record_action(None, user, "account made", user, by="provider")
    return user


def plain(claim: object) -> str:
    """A claim without what no database stores: NUL, and halves of surrogate pairs."""
    return "" if claim is None else str(claim).replace("\0", "").encode(errors="ignore").decode()


def _free_name(wanted: str) -> str:
    """A user name that no account has: ada, or else ada-2."""
    users = get_user_model()
    short = NOT_IN_NAMES.sub("-", users.normalize_username(wanted)).strip("-")[:LONGEST_NAME] or "person"
    tried = (f"{short}-{number}" if number > 1 else short for number in count(1))
    return next(name for name in tried if not users.objects.filter(username__iexact=name).exists())


def _address(claim: object) -> str:
    address = claim if isinstance(claim, str) and plain(claim) == claim else ""
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address
