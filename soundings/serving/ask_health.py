"""`python -m soundings.serving.ask_health`: 0 when a container's own site answers; no Django, so quick."""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException


def answers(port: int, host: str) -> bool:
    """/health/ at a port of this machine answers 200 under a name of the site."""
    connection = HTTPConnection("127.0.0.1", port, timeout=8)
    try:
        connection.request("GET", "/health/", headers={"Host": host})
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def main() -> int:
    """Ask at PORT, under the first of SOUNDINGS_HOSTS."""
    named = [name.strip().removeprefix(".") for name in os.environ.get("SOUNDINGS_HOSTS", "").split(",")]
    host = next((name for name in named if name and name != "*"), "localhost")
    return 0 if answers(int(os.environ.get("PORT", "8000")), host) else 1


if __name__ == "__main__":
    sys.exit(main())
