"""For the reference: examples in docstrings become blocks of code; Markdown would make quotations of them."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).+)*", re.MULTILINE)


class Doctests(Extension):  # type: ignore[misc]  # of an extra
    """Puts fences around them as docstrings are read."""

    def on_object(self, *, obj: Object, **others: Any) -> None:
        """Called by griffe for everything that it reads."""
        if obj.docstring:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```\n{found[0]}\n```", obj.docstring.value)
