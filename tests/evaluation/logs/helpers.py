"""Running `drift` in a test."""

from __future__ import annotations

import io
import json
from typing import Any

from django.core.management import call_command


def ran(*options: object) -> str:
    """What the command prints."""
    output = io.StringIO()
    call_command("drift", *map(str, options), stdout=output)
    return output.getvalue()


def drift(*options: object) -> dict[str, Any]:
    """Its answer as JSON."""
    answer: dict[str, Any] = json.loads(ran(*options, "--format", "json"))
    return answer
