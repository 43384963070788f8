"""The process that keeps this one, which asks every second and ends with it, however it ended."""

from __future__ import annotations

import os

KEEPER = "SOUNDINGS_KEEPER"
# Set where no worker keeps house, so that a web process does.
IN_WEB = "SOUNDINGS_WEB_KEEPS_HOUSE"


def keeper_is_gone() -> bool:
    """False where no process keeps this one."""
    kept_by = os.environ.get(KEEPER)
    return kept_by is not None and kept_by != str(os.getppid())
