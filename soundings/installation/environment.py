"""Environment variables, read so that an invalid value is reported with its variable."""

from __future__ import annotations

import ipaddress
import math
import os
import re
import warnings
from collections.abc import Callable, Sequence
from email.utils import parseaddr
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from soundings.installation.elsewhere import Backend, file_storage, shared_cache

# What the site keeps its rows in, and what engines can ask safely: read-only, with a time limit.
ENGINES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
ON, OFF = {"true", "on", "ok", "y", "yes", "1"}, {"false", "off", "n", "no", "0", ""}
# What a request can name: a host, all below a domain (.example.org), an address, or anything (*).
HOST = re.compile(r"\*|\.?[\w-]+(\.[\w-]+)*|\[[0-9a-f:.]+\]", re.ASCII | re.IGNORECASE)
MAILBOX = re.compile(r"[^@\s]+@[^@\s]+")
#: What days may be: a date that is far before or after them would be none.
LONGEST_DAYS = 36_500
# What others read: our own processes, the client, the containers, the tests.
NO_SETTINGS = {
    *("SOUNDINGS_KEEPER", "SOUNDINGS_WEB_KEEPS_HOUSE", "SOUNDINGS_TOKEN", "SOUNDINGS_HOST"),
    *("SOUNDINGS_TEST_DATA", "SOUNDINGS_TEST_REDIS", "SOUNDINGS_CHROMIUM"),
}


class Environment(environ.Env):  # type: ignore[misc]  # untyped
    """django-environ, with one sentence for each value that cannot be used."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[str] = set()

    def unread(self) -> list[str]:
        """Variables that look like settings and are none: misspelled, or of another release."""
        return sorted(
            name for name in {*os.environ} - self.read - NO_SETTINGS if name.startswith("SOUNDINGS_")
        )

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        """The value of a variable in its type; `ImproperlyConfigured` names the variable."""
        self.read.add(var)
        try:
            return super().get_value(var, *args, **options)
        except ValueError:
            problem = f"{var} is “{os.environ.get(var, '')}”, which is not a valid value."
            raise ImproperlyConfigured(problem) from None

    def networks(self, var: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        """The networks of a list such as 10.0.0.0/8,fd00::/8; none where it is not set."""
        try:
            return [ipaddress.ip_network(text.strip()) for text in self.list(var, default=[]) if text.strip()]
        except ValueError as error:
            raise ImproperlyConfigured(f"{var}: {error}; write for instance 10.0.0.0/8.") from None

    def switch(self, var: str, *, default: bool) -> bool:
        chosen = str(self.str(var, default=str(default))).strip()
        if chosen.lower() not in ON | OFF:
            raise ImproperlyConfigured(f"{var} is “{chosen}”; choose from true, false.")
        return chosen.lower() in ON

    def whole(self, var: str, *, default: int, least: int = 0, most: int | None = None) -> int:
        number = int(self.int(var, default=default))
        if number < least or (most is not None and number > most):
            bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise ImproperlyConfigured(f"{var} is “{number}”; write a whole number {bounds}.")
        return number

    def amount(self, var: str, *, default: float, most: float, least: float = 0.0) -> float:
        """A number within its bounds."""
        text = str(self.str(var, default=str(default)))
        try:
            number = float(text)  # django-environ leaves letters out: 1e400 would be 1400
        except ValueError:
            number = math.nan
        if not least <= number <= most:
            raise ImproperlyConfigured(f"{var} is “{text}”; write a number from {least:g} to {most:,.15g}.")
        return number

    def hosts(self, var: str, default: Sequence[str]) -> list[str]:
        names = [name.strip() for name in self.list(var, default=default) if name.strip()]
        if not names:
            raise ImproperlyConfigured(f"{var} is empty; write for instance labels.example.org, or unset it.")
        for name in names:
            if not HOST.fullmatch(name):
                raise ImproperlyConfigured(
                    f"{var}: “{name}” is no host name; write for instance labels.example.org, without "
                    "https://, port and /."
                )
        return names

    def origins(self, var: str) -> list[str]:
        """Where forms may come from, as browsers name it: with https://, and without a path."""
        origins = [text.strip() for text in self.list(var, default=[]) if text.strip()]
        for origin in origins:
            if not _is_origin(origin):
                raise ImproperlyConfigured(
                    f"{var}: “{origin}” is no origin; write for instance https://labels.example.org, without "
                    "/ at its end."
                )
        return origins

    def entries(self, var: str, check: Callable[[Sequence[str]], object]) -> list[str]:
        """A list, none where it is not set; the check's ValueError says what is wrong with an entry."""
        values = list(self.list(var, default=[]))
        try:
            check(values)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var}: {error}") from None
        return values

    def choice(self, var: str, options: tuple[str, ...]) -> str:
        """One of the options; the first where it is not set."""
        chosen = str(self.str(var, default=options[0])).strip()
        if chosen not in options:
            raise ImproperlyConfigured(f"{var} is “{chosen}”; choose from {', '.join(options)}.")
        return chosen

    def storage(self, var: str) -> Backend:
        """From an address such as s3://bucket?endpoint=…, or a storage class."""
        return file_storage(var, self.str(var, default=""))

    def shared(self, var: str) -> Backend:
        return shared_cache(var, self.str(var, default=""))

    def mail(self, var: str) -> dict[str, Any]:
        try:
            server = dict(self.email_url_config(self.str(var)))
            if server["EMAIL_HOST"] or not server["EMAIL_BACKEND"].endswith(".smtp.EmailBackend"):
                return server
        except (KeyError, ValueError, ImproperlyConfigured):
            pass
        # Without the value, which holds a password.
        raise ImproperlyConfigured(
            f"{var} is not a mail server address; write for instance smtp+tls://user:password@host:587."
        )

    def sender(self, var: str, default: str) -> str:
        """The mailbox that mail is from, with a name or without."""
        sender = str(self.str(var, default=default)).strip() or default
        if not MAILBOX.fullmatch(parseaddr(sender)[1]):
            raise ImproperlyConfigured(
                f"{var} is “{sender}”, which is no mail address; write for instance soundings@example.org."
            )
        return sender

    def database(self, var: str, default: str) -> dict[str, Any]:
        database = self._ours(self.str(var, default=default))
        if database is None:  # without the value, which holds a password
            raise ImproperlyConfigured(
                f"{var} is not a database address; write for instance postgres://user@host/name."
            )
        return dict(database)

    def databases(self, var: str) -> dict[str, dict[str, object]]:
        """The databases of a list such as shop=postgres://user@host/name,wiki=sqlite:////data/wiki.db."""
        databases: dict[str, dict[str, object]] = {}
        for text in self.list(var, default=[]):
            name, _, url = text.strip().partition("=")
            database = self._ours(url) if name.isidentifier() else None
            if database is None or database.get("NAME") in (None, "", ":memory:"):
                # Without the value, which holds a password.
                raise ImproperlyConfigured(
                    f"{var}: write NAME=postgres://user:password@host/name or NAME=sqlite:////path, "
                    "separated by commas, and %2C for a comma in a password."
                )
            if name in databases:
                raise ImproperlyConfigured(f"{var} names {name} twice; give each database one name.")
            databases[name] = database
        return databases

    def _ours(self, url: str) -> dict[str, object] | None:
        """A database of a kind that is known here, of its URL; None for anything else."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they hold the password
                database: dict[str, object] = self.db_url_config(url)
        except (ValueError, ImproperlyConfigured):
            return None
        # A service of PostgreSQL's own file of connections names the database.
        options = database.get("OPTIONS")
        is_named = database.get("NAME") or (isinstance(options, dict) and options.get("service"))
        return database if is_named and database.get("ENGINE") in ENGINES else None


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    netloc = parts.netloc if port is None else parts.netloc.removesuffix(f":{port}")
    named = netloc.removeprefix("*.")
    is_whole = parts.scheme in ("http", "https") and text == f"{parts.scheme}://{parts.netloc}"
    return is_whole and bool(host) and HOST.fullmatch(named) is not None
