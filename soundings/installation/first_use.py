"""What an installation needs before it can serve: tables, and somebody who can sign in."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from pooling.interface.problems import InputError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Accounts that Soundings makes by itself: the first one of `serve`, and the demo's.
FIRST_ADMIN = "admin"
DEMO_ADMIN, DEMO_ANNOTATOR = "demo-admin", "demo-annotator"
SIMULATED = tuple(f"simulated-annotator-{number}" for number in (1, 2, 3))
OWN_ACCOUNTS = (FIRST_ADMIN, DEMO_ADMIN, DEMO_ANNOTATOR, *SIMULATED)

# Without the letters and figures that people take for one another.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


def prepare_database() -> int:
    """Bring the tables up to date and return how many migrations that took; 0 when nothing was to do."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        call_command("migrate", verbosity=0, interactive=False)
    return len(plan)


def generated_password() -> str:
    """Sixteen random characters in four groups: 79 bits, and still easy to type."""
    groups = ("".join(secrets.choice(ALPHABET) for _ in range(4)) for _ in range(4))
    return "-".join(groups)


def create_account(name: str, password: str, *, site_admin: bool = False) -> User:
    """Create an account; `InputError` when the name is taken or is no user name.

    The first one that a person makes is that of the person who runs the site: it adds members without asking
    them.
    """
    users = get_user_model()
    runs_site = not users.objects.exclude(username__in=OWN_ACCOUNTS, last_login=None).exists()
    if users.objects.filter(username=name).exists():
        raise InputError(f"Account “{name}” already exists. Choose another name.", conflict=True)
    try:
        users(username=name).full_clean(exclude=["password"])
    except ValidationError as error:
        raise InputError(f"“{name}” cannot be a user name. {error.messages[0]}") from None
    return users.objects.create_user(
        name, password=password, is_staff=runs_site or site_admin, is_superuser=site_admin
    )


def create_first_admin() -> tuple[str, str] | None:
    """On an installation without accounts make `admin`; return its name and password, else None."""
    if get_user_model().objects.exists():
        return None
    password = generated_password()
    create_account(FIRST_ADMIN, password, site_admin=True)
    return FIRST_ADMIN, password
