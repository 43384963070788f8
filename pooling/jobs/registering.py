"""Modules that register something, found by what they say: a new job, import or kind cannot be missed."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

# What a module says that registers work, an import, or what happens to what people delete. Every process
# looks through all modules when it starts: bytes with a line feed in front take a quarter of the time.
REGISTERS = re.compile(
    rb"\n(?:@(?:job_kind|importer|depends_on|rests_on|when|when_many|forgets_old|empties_collections|receiver)\b"
    rb"|register\(\s*Kind\()"
)


def load_what_registers(package: ModuleType | None) -> None:
    """Import the modules of a package that register something, in the order of their names."""
    assert package is not None, "an app has a package by the time that it is ready"
    folder = Path(str(package.__file__)).parent
    for path in sorted(folder.rglob("*.py")):
        if REGISTERS.search(path.read_bytes()):
            import_module(".".join((package.__name__, *path.relative_to(folder).with_suffix("").parts)))
