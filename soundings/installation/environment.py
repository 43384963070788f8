"""Environment variables, read so that an invalid value is reported with its variable."""

from __future__ import annotations

import ipaddress
import os
import warnings
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured


class Environment(environ.Env):  # type: ignore[misc]  # untyped
    """django-environ, with one sentence for each value that cannot be used."""

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        """The value of a variable in its type; `ImproperlyConfigured` names the variable."""
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

    def mail(self, var: str) -> dict[str, Any]:
        """The mail server of a URL, as Django writes it."""
        try:
            return dict(self.email_url(var))
        except (KeyError, ImproperlyConfigured):
            raise ImproperlyConfigured(
                f"{var} is not a mail server address; write for instance smtp+tls://user:password@host:587."
            ) from None

    def database(self, var: str, default: str) -> dict[str, Any]:
        """The database of a URL, as Django writes it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said below, in one sentence
            found: dict[str, Any] = self.db_url(var, default=default)
        if not found.get("ENGINE"):
            raise ImproperlyConfigured(
                f"{var} is not a database address; write for instance postgres://user@host/name."
            )
        return found
