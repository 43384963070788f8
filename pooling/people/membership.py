"""Memberships of collections: the one place that writes them."""

from __future__ import annotations

import re
from itertools import count

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from pooling.interface.markdown import LONGEST_MARKDOWN
from pooling.interface.problems import InputError, refuse_all
from pooling.models import Collection, Invitation, Membership, Role
from pooling.people.access import READERS, check_role
from pooling.people.activity_log import record_action
from pooling.people.invitations import offer, withdraw_those_of

# Room for a number behind it.
MOST_OF_NAME = 50
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,60}")
#: A host learns where each annotator is; a list that nobody can read through is no decision.
MOST_HOSTS = 20
#: Characters of the longest name (RFC 1035).
LONGEST_HOST = 253
LONGEST_HOSTS = MOST_HOSTS * (LONGEST_HOST + 1)
# Nothing else may get into the policy that a browser is sent.
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def image_hosts_in(text: str) -> list[str]:
    """Host names separated by white space, in lower case, each once.

    `InputError` for what is no plain host name, such as one with a scheme, a port or a wildcard, and for more
    than `MOST_HOSTS`.

    >>> image_hosts_in("Images.example.org\\ncdn.example.org images.example.org")
    ['images.example.org', 'cdn.example.org']
    """
    hosts = list(dict.fromkeys(text.lower().split()))
    for host in hosts:
        if not _HOST.fullmatch(host) or len(host) > LONGEST_HOST:
            problem = (
                f"“{host[:80]}” is not a host name. Write it as images.example.org, without https://, "
                "port or path; one with other letters than a to z in its xn--… form."
            )
            raise InputError(problem, field="image_hosts")
    if len(hosts) > MOST_HOSTS:
        problem = f"A collection has at most {MOST_HOSTS} image hosts; these are {len(hosts):,}."
        raise InputError(problem, field="image_hosts")
    return hosts


def create_collection(
    user: User | None, *, slug: str, name: str, question: str = "", guidelines: str = ""
) -> Collection:
    """Create a collection with `user` as admin, if given; `InputError` for a slug taken or not valid."""
    _check_collection(slug, name, question, guidelines)
    collection = Collection(slug=slug, name=name, guidelines=guidelines)
    if question:
        collection.question = question
    with transaction.atomic():
        try:
            with transaction.atomic():
                collection.save()
        except IntegrityError:
            problem = f"Collection “{slug}” already exists. Choose another short name."
            raise InputError(problem, field="slug", conflict=True) from None
        if user is not None:
            Membership.objects.create(collection=collection, user=user, role=Role.ADMIN)
        record_action(collection, user, "collection created", collection.name)
    return collection


def change_collection(collection: Collection, *, by: User | None = None, **changes: str) -> Collection:
    """Give a collection another name, question, guidelines, language, synonyms or image hosts; what is not
    named stays.

    `InputError` names the fields that cannot be so.
    """
    wanted = {name: getattr(collection, name) for name in ("name", "question", "guidelines")} | changes
    _check_collection(collection.slug, *(wanted[name] for name in ("name", "question", "guidelines")))
    if len(wanted.get("synonyms", "")) > LONGEST_MARKDOWN:
        problem = f"Synonyms have at most {LONGEST_MARKDOWN:,} characters."
        raise InputError(problem, field="synonyms")
    if "image_hosts" in changes:
        changes["image_hosts"] = "\n".join(image_hosts_in(changes["image_hosts"]))
    changed = sorted(name for name, value in changes.items() if value != getattr(collection, name))
    if not changed:
        return collection
    for name in changed:
        setattr(collection, name, changes[name])
    with transaction.atomic():
        collection.save(update_fields=changed)
        record_action(collection, by, "collection changed", collection.name, changed=changed)
    return collection


def free_slug(name: str) -> str:
    """A short name for a collection of this name, which no other has: “Help centre” is help-centre."""
    short = slugify(name)[:MOST_OF_NAME].strip("-_") or "collection"
    taken = set(Collection.objects.filter(slug__startswith=short).values_list("slug", flat=True))
    tried = (f"{short}-{number}" if number > 1 else short for number in count(1))
    return next(slug for slug in tried if slug not in taken)


def _check_collection(slug: str, name: str, question: str, guidelines: str) -> None:
    problems = {}
    if not SLUG.fullmatch(slug):
        problems["slug"] = "A short name has 1 to 60 letters, digits, hyphens and underscores."
    if not 1 <= len(name.strip()) <= 200:
        problems["name"] = "A name has 1 to 200 characters."
    if len(question) > 300:
        problems["question"] = "A question has at most 300 characters."
    if len(guidelines) > LONGEST_MARKDOWN:
        problems["guidelines"] = f"Guidelines have at most {LONGEST_MARKDOWN:,} characters."
    refuse_all(problems)


def collection_named(slug: str) -> Collection:
    """The collection of this short name, for commands, which ask nobody for permission."""
    collection = Collection.objects.filter(slug=slug).first()
    if collection is None:
        raise InputError(f"No collection “{slug}”. Create it on the site or with import_collection.")
    return collection


def account_named(username: str) -> User:
    """The account of this user name, or `InputError`."""
    user = get_user_model().objects.filter(username=username).first()
    if user is None:
        problem = f"No account “{username}”. Create it with create_user, or invite the person."
        raise InputError(problem, field="username")
    return user


def add_member(
    collection: Collection, username: str, role: str, *, by: User | None = None, group: str = ""
) -> Membership:
    """Give an account a role; `InputError` if unknown or a member. group: of the provider, that decided."""
    user = account_named(username)
    check_role(role)
    try:
        with transaction.atomic():
            record_action(collection, by, "member added", user, role=role, **_through(group))
            return Membership.objects.create(collection=collection, user=user, role=role)
    except IntegrityError:
        problem = f"{username} is already a member. Change the role in the list of members."
        raise InputError(problem, field="username", conflict=True) from None


@transaction.atomic
def change_role(membership: Membership, role: str, *, by: User | None = None, group: str = "") -> Membership:
    """Give a member another role, ending invitations of a former admin; `InputError` for the last admin."""
    check_role(role)
    if role != Role.ADMIN:
        _keep_an_admin(membership)
        withdraw_those_of(membership.user, membership.collection, by=by)
    before, membership.role = membership.role, role
    membership.save(update_fields=["role"])
    detail = {"before": before, "role": role, **_through(group)}
    record_action(membership.collection, by, "role changed", membership.user, **detail)
    return membership


@transaction.atomic
def remove_member(membership: Membership, *, by: User | None = None, group: str = "") -> None:
    """End a membership and the person's open invitations; judgments stay. `InputError` for the last admin."""
    _keep_an_admin(membership)
    withdraw_those_of(membership.user, membership.collection, by=by)
    detail = {"role": membership.role, **_through(group)}
    record_action(membership.collection, by, "member removed", membership.user, **detail)
    membership.delete()


def _through(group: str) -> dict[str, str]:
    return {"group": group} if group else {}


def _keep_an_admin(membership: Membership) -> None:
    """Lock the collection's admins, so that two of them cannot remove each other at the same moment."""
    admins = Membership.objects.select_for_update().filter(
        collection_id=membership.collection_id, role=Role.ADMIN
    )
    if [admin.pk for admin in admins] == [membership.pk]:
        raise InputError(f"{membership.user} is the only admin. Make someone else an admin first.")


# Added at once by people who run the site, and by those who see the person among the members of another
# collection already. Everybody else's adding is an offer that the person accepts. Then the answer is the same
# whether there is an account of that name or not: nobody finds out who has one by trying names.
def add_or_ask(collection: Collection, username: str, role: str, *, by: User) -> Membership | Invitation:
    """The new member, or the offer that waits for the person.

    `InputError` for a member, and for a role that is none. Only people who run the site learn that a name
    is nobody's.
    """
    if _adds_at_once(by, username):
        return add_member(collection, username, role, by=by)
    user = get_user_model().objects.filter(username=username).first()
    return offer(collection, username, role, by=by, user=user)


def adds_anybody(by: User) -> bool:
    """Whether everybody whom this person adds is a member at once."""
    return by.is_superuser or by.is_staff


def _adds_at_once(by: User, username: str) -> bool:
    if adds_anybody(by):
        return True
    seen = Membership.objects.filter(user=by, role__in=READERS).values("collection")
    return Membership.objects.filter(user__username=username, collection__in=seen).exists()
