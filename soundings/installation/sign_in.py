"""Sign-in by environment variables: a provider of OpenID Connect, passwords, a second factor.

django-allauth does the work. It is an extra, and enters the settings only where one of these is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from soundings.installation.elsewhere import require_library
from soundings.installation.environment import Environment

ROLES = ("admin", "annotator", "viewer")
OFF, REQUIRED = "off", "required"
NO_YES = ("no", "yes")
ISSUER = "SOUNDINGS_OIDC_ISSUER"
SECOND_FACTOR = "SOUNDINGS_SECOND_FACTOR"
#: Apps of django-allauth by their labels, and what to say where tables of theirs are in the way.
LIBRARY = ("account", "socialaccount", "mfa")
OTHER_SETTINGS = (
    "tables of sign-in by a provider or of second factors. Set SOUNDINGS_OIDC_ISSUER and "
    "SOUNDINGS_SECOND_FACTOR as they were when these tables were made"
)
#: What says nothing without an issuer.
OF_PROVIDER = ("CLIENT_ID", "CLIENT_SECRET", "NAME", "GROUPS_CLAIM", "GROUPS", "SITE_ADMINS")
HERE = ("localhost", "127.0.0.1", "::1")
LONGEST_NAME = 40


class GroupRole(NamedTuple):
    group: str
    slug: str
    role: str


@dataclass(frozen=True)
class Provider:
    """The server that signs people in, and what it may decide; the secret is in no text about it."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    groups_claim: str
    groups: tuple[GroupRole, ...]
    site_admins: frozenset[str]
    makes_accounts: bool
    links_by_email: bool


def provider_of(env: Environment) -> Provider | None:
    """The provider that the variables SOUNDINGS_OIDC_… describe; None where there is none."""
    given = {name: str(env.str(f"SOUNDINGS_OIDC_{name}", default="")).strip() for name in OF_PROVIDER}
    makes_accounts = env.choice("SOUNDINGS_OIDC_NEW_ACCOUNTS", NO_YES) == "yes"
    links_by_email = env.choice("SOUNDINGS_OIDC_LINK_BY_EMAIL", NO_YES) == "yes"
    issuer = str(env.str(ISSUER, default="")).strip()
    if not issuer:
        if alone := next((name for name, value in given.items() if value), ""):
            raise ImproperlyConfigured(f"SOUNDINGS_OIDC_{alone} needs {ISSUER}, the address of the provider.")
        return None
    _check_issuer(issuer)
    for name in ("CLIENT_ID", "CLIENT_SECRET"):
        if not given[name]:
            raise ImproperlyConfigured(f"{ISSUER} needs SOUNDINGS_OIDC_{name} as well.")
    if len(given["NAME"]) > LONGEST_NAME:
        raise ImproperlyConfigured(f"SOUNDINGS_OIDC_NAME has at most {LONGEST_NAME} characters.")
    require_library(ISSUER, ("allauth", "jwt", "requests"), "sso")
    return Provider(
        issuer=issuer.rstrip("/"),
        client_id=given["CLIENT_ID"],
        client_secret=given["CLIENT_SECRET"],
        name=given["NAME"] or str(urlsplit(issuer).hostname),
        groups_claim=given["GROUPS_CLAIM"] or "groups",
        groups=_groups(given["GROUPS"]),
        site_admins=frozenset(_listed(given["SITE_ADMINS"])),
        makes_accounts=makes_accounts,
        links_by_email=links_by_email,
    )


def passwords_of(env: Environment, provider: Provider | None) -> bool:
    """True where people sign in with passwords; without them there must be a provider."""
    if env.choice("SOUNDINGS_PASSWORDS", ("yes", "no")) == "yes":
        return True
    if provider is None:
        raise ImproperlyConfigured(
            f"SOUNDINGS_PASSWORDS is “no”, and nobody could sign in: set {ISSUER} as well."
        )
    return False


def second_factor_of(env: Environment) -> str:
    """off, optional or required."""
    chosen = env.choice(SECOND_FACTOR, (OFF, "optional", REQUIRED))
    if chosen != OFF:
        require_library(SECOND_FACTOR, ("allauth", "qrcode"), "sso")
    return chosen


def allauth_apps(provider: Provider | None, second_factor: str) -> list[str]:
    """The apps of django-allauth that these need; none where neither is wanted."""
    apps = []
    if provider:
        apps += ["allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
    if second_factor != OFF:
        apps.append("allauth.mfa")
    return ["allauth.account", *apps, "soundings.sign_in"] if apps else []


def _check_issuer(issuer: str) -> None:
    url = urlsplit(issuer)
    is_safe = url.scheme == "https" or (url.scheme == "http" and url.hostname in HERE)
    if not (is_safe and url.hostname) or url.username or url.query or url.fragment:
        # Without the value, which may hold a password.
        raise ImproperlyConfigured(
            f"{ISSUER} is not the address of a provider; write for instance https://login.example.org/realms/us."
        )


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _groups(text: str) -> tuple[GroupRole, ...]:
    """The roles of a list such as GROUP=short-name:role; the name of a group may hold an equals sign."""
    roles = []
    for part in _listed(text):
        group, _, right = part.rpartition("=")
        slug, _, role = right.strip().partition(":")
        if not (group.strip() and slug and role in ROLES):
            raise ImproperlyConfigured(
                f"SOUNDINGS_OIDC_GROUPS: “{part}” is not GROUP=COLLECTION:ROLE; the collection by its short "
                f"name, and the role one of {', '.join(ROLES)}."
            )
        roles.append(GroupRole(group.strip(), slug, role))
    return tuple(roles)
