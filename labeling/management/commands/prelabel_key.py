"""`prelabel_key SLUG list|store|remove`: keys of servers of models, which are read from stdin alone."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from labeling.prelabels.options import checked_url, remove_key, store_key
from pooling.interface.commands import InputCommand
from pooling.interface.problems import InputError
from pooling.people.membership import collection_named


class Command(InputCommand):
    help = "Save an encrypted key for a model server: typed without echo, or the first line of stdin."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="the collection's short name")
        parser.add_argument("action", choices=("list", "store", "remove"), help="what to do")
        parser.add_argument("--base-url", metavar="U", help="the server (default: the first of the settings)")

    def handle(self, *args: Any, **options: Any) -> None:
        collection = collection_named(options["slug"])
        if options["action"] == "list":
            self._list(collection)
            return
        url = checked_url(options["base_url"])
        if options["action"] == "remove":
            remove_key(collection, url)
            self.stdout.write(f"The key for {url} is removed.")
            return
        key = _given(url)
        if not key:
            raise InputError("No key on stdin; nothing was saved.")
        store_key(collection, url, key)
        self.stdout.write(f"The key for {url} is saved, encrypted.")

    def _list(self, collection: Any) -> None:
        keys = collection.model_server_keys.select_related("stored_by").order_by("base_url")
        for key in keys:
            by = f" by {key.stored_by}" if key.stored_by else ""
            self.stdout.write(f"{key.base_url}: stored {key.stored_at:%Y-%m-%d}{by}")
        if not keys:
            self.stdout.write(f"“{collection.slug}” has no key.")


def _given(url: str) -> str:
    """A key typed on a terminal, unseen, or the first line of stdin. Arguments can be seen by others."""
    typed = getpass(f"Key for {url}: ") if sys.stdin.isatty() else sys.stdin.readline()
    return typed.strip()
