"""Who the people of a file are here: accounts of the collection, or imported annotators."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User

from labeling.models import ImportedAnnotator
from pooling.models import Collection, Membership, Role

# Nobody can choose such a name for an account: it has blanks and brackets.
MARK = " (imported)"


def accounts_of(collection: Collection) -> dict[str, User]:
    """User names, and emails that one person alone has, of those who judge in a collection."""
    members = Membership.objects.filter(collection=collection, role__in=(Role.ADMIN, Role.ANNOTATOR))
    people = [one.user for one in members.select_related("user") if one.user.is_active]
    by_mail: dict[str, list[User]] = {}
    for person in people:
        if person.email:
            by_mail.setdefault(person.email.lower(), []).append(person)
    found = {email: owners[0] for email, owners in by_mail.items() if len(owners) == 1}
    return {**found, **{person.get_username(): person for person in people}}


def people_of(collection: Collection, names: Iterable[str], *, accounts: bool) -> dict[str, User]:
    """The account of each name: an account that exists where that was asked for, or one that nobody can sign
    in to, made when it is first needed. Needs a transaction.
    """
    known = accounts_of(collection) if accounts else {}
    imported = {one.name: one.user for one in collection.imported_annotators.select_related("user")}
    found: dict[str, User] = {}
    for name in dict.fromkeys(names):
        account = known.get(name) or known.get(name.lower()) if accounts else None
        found[name] = account or imported.get(name) or _make(collection, name)
    return found


def _make(collection: Collection, name: str) -> User:
    base = name.removesuffix(MARK)
    taken = set(User.objects.filter(username__startswith=base + MARK[:-1]).values_list("username", flat=True))
    numbers = (MARK, *(f"{MARK[:-1]} {number})" for number in range(2, len(taken) + 3)))
    username = next(one for mark in numbers if (one := base + mark) not in taken)
    user = User.objects.create(username=username, password=make_password(None), is_active=False)
    ImportedAnnotator.objects.create(collection=collection, user=user, name=name)
    return user
