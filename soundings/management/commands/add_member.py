"""`add_member`: give an account a role in a collection."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.models import Collection, Role
from pooling.people.membership import add_member


class Command(InputCommand):
    """The command's form of the members page."""

    help = "Give an account a role in a collection."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="the collection's short name, as in its address")
        parser.add_argument("name", help="user name of the account")
        parser.add_argument("--role", required=True, choices=Role.values)

    def handle(self, *args: Any, slug: str, name: str, role: str, **options: Any) -> None:
        collection = Collection.objects.filter(slug=slug).first()
        if collection is None:
            raise InputError(f"There is no collection “{slug}”.")
        add_member(collection, name, role)
        self.stdout.write(f"{name} is now {role} of {collection.name}.")
