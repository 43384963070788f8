"""How long tests wait for what comes about by itself: on the busiest machine only what hangs is given up."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 900


def wait_until(condition: Callable[[], object], pause: Callable[[float], None] | None = None) -> None:
    """Ask twenty times a second; `pause` sleeps so many milliseconds where a thread may not simply sleep."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, "It did not come about."
        if pause:
            pause(50)
        else:
            time.sleep(0.05)
