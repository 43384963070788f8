"""Keeps the names of the HTTP interface as they are: `python -m tests.soundings.interface_names`."""

from __future__ import annotations

import os

import django


def main() -> None:
    """Write `interface.txt`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "soundings.settings")
    django.setup()
    from django.conf import settings

    from tests.soundings.test_api_docs import KEPT, drawn, names

    lines = [f"version {settings.INTERFACE_VERSION}", *sorted(names(drawn()))]
    KEPT.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
