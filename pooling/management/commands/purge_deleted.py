"""`purge_deleted`: what was deleted more than thirty days ago is erased; `serve` does it by itself."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from pooling.formats.wording import counted
from pooling.tidying.erasing import erase_old


class Command(BaseCommand):
    help = "Erase what was deleted more than thirty days ago, with its files. `serve` does it every hour."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{counted(erase_old(), 'thing')} erased.")
