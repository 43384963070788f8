"""Preparation of an installation that is to serve: tables, and somebody who can sign in."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection, transaction

from pooling.formats.wording import counted
from pooling.interface.problems import InputError
from pooling.interface.results import Progress
from pooling.people.activity_log import record_action
from soundings.installation.migrating import missing_migrations, upgrade

# Accounts that Soundings makes by itself: the first one of `serve`, and the demo's.
FIRST_ADMIN = "admin"
DEMO_ADMIN, DEMO_ANNOTATOR = "demo-admin", "demo-annotator"
SIMULATED = tuple(f"simulated-annotator-{number}" for number in (1, 2, 3))
OWN_ACCOUNTS = (FIRST_ADMIN, DEMO_ADMIN, DEMO_ANNOTATOR, *SIMULATED)

# Without the letters and figures that people take for one another.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


# Any number that nothing else on the database locks: "soundings" in digits of a telephone.
MIGRATING = 768_634_647


def require_ready_database() -> None:
    """Raise `InputError` where the tables are not up to date."""
    if missing := missing_migrations():
        behind = counted(missing, "migration")
        problem = f"The database is {behind} behind. Run migrate, or serve without --no-migrate."
        raise InputError(problem)


def prepare_database(
    progress: Progress = lambda share, detail: None, say: Callable[[str], None] = lambda sentence: None
) -> int:
    """Bring the tables up to date and return how many migrations that took; 0 when nothing was to do.

    say: gets a sentence before that begins.

    Of several processes that start at once, one migrates and the others wait for it. Where a migration fails,
    `InputError` names it, and the tables are as they were.
    """
    missing = missing_migrations()
    if not missing:
        return 0
    say(f"Preparing the database ({counted(missing, 'migration')}); this can take some seconds …")
    with _alone():
        return upgrade(progress)


@contextmanager
def _alone() -> Iterator[None]:
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATING])


def generated_password() -> str:
    """Sixteen random characters in four groups: 79 bits, and still easy to type."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(4)) for _ in range(4))
    return "-".join(groups)


def nobody_is_here_yet() -> bool:
    """No person has an account: those that the site made itself and nobody used do not count."""
    return not get_user_model().objects.exclude(username__in=OWN_ACCOUNTS, last_login=None).exists()


def create_account(name: str, password: str, *, site_admin: bool = False) -> User:
    """Create an account, the first one for running the site; `InputError` if the name is taken or unfit."""
    users = get_user_model()
    runs_site = nobody_is_here_yet()
    if users.objects.filter(username=name).exists():
        raise InputError(f"Account “{name}” already exists. Choose another name.", conflict=True)
    try:
        users(username=name).full_clean(exclude=["password"])
    except ValidationError as error:
        raise InputError(f"“{name}” cannot be a user name. {error.messages[0]}") from None
    with transaction.atomic():
        user = users.objects.create_user(
            name, password=password, is_staff=runs_site or site_admin, is_superuser=site_admin
        )
        record_action(None, None, "account made", user, site_admin=site_admin, runs_site=user.is_staff)
    return user


def create_first_admin() -> tuple[str, str] | None:
    """On an installation without accounts make `admin`; return its name and password, else None."""
    if get_user_model().objects.exists():
        return None
    password = generated_password()
    create_account(FIRST_ADMIN, password, site_admin=True)
    return FIRST_ADMIN, password
