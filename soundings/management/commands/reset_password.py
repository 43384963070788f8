"""`reset_password`: a link by which somebody chooses a new password."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.management.base import CommandParser
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.people.membership import account_named


class Command(InputCommand):
    """The link is all that is made; the old password works until a new one is chosen."""

    help = "Print a link to choose a new password for an account; it works once, for three days."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="user name of the account")
        parser.add_argument(
            "--site", default="http://localhost:8000", help="address of the site, to precede the link's path"
        )

    def handle(self, *args: Any, name: str, site: str, **options: Any) -> None:
        if not settings.PASSWORDS:
            raise InputError("This site has no passwords (SOUNDINGS_PASSWORDS is “no”).")
        user = account_named(name)
        uid = urlsafe_base64_encode(force_bytes(user.pk))
        path = reverse("password_reset_confirm", args=[uid, default_token_generator.make_token(user)])
        self.stdout.write(site.rstrip("/") + path)
