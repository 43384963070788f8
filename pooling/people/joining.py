"""Ways of somebody with an account into a collection: added at once, or asked first.

Added at once by people who run the site, and by those who see the person among the members of another
collection already. Everybody else's adding is an offer that the person accepts. Then the answer is the same
whether there is an account of that name or not: nobody finds out who has one by trying names.
"""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from pooling.models import Collection, Invitation, Membership
from pooling.people.access import READERS
from pooling.people.invitations import offer
from pooling.people.membership import add_member


def add_or_ask(collection: Collection, username: str, role: str, *, by: User) -> Membership | Invitation:
    """The new member, or the offer that waits for the person.

    `InputError` for a member, and for a role that is none. Only people who run the site learn that a name
    is nobody's.
    """
    if _adds_at_once(by, username):
        return add_member(collection, username, role, by=by)
    user = get_user_model().objects.filter(username=username).first()
    return offer(collection, username, role, by=by, user=user)


def _adds_at_once(by: User, username: str) -> bool:
    if by.is_superuser or by.is_staff:
        return True
    seen = Membership.objects.filter(user=by, role__in=READERS).values("collection")
    return Membership.objects.filter(user__username=username, collection__in=seen).exists()
