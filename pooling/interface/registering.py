"""Tables that modules fill as they are imported: a new job, import or kind cannot be missed. The modules are
found by what they say, and loaded when somebody first looks at a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

# What a module says that registers work, an import, or what happens to what people delete. Bytes with a line
# feed in front take a quarter of the time.
REGISTERS = re.compile(
    rb"\n(?:@(?:job_kind|importer|depends_on|rests_on|when|when_many|forgets_old|empties_collections)\b"
    rb"|register\(\s*Kind\()"
)
# Those whose modules were not looked through yet.
_packages: dict[ModuleType, None] = {}


class Registry(MutableMapping[Key, Value]):
    """What modules register, each as it is imported; all of it whenever it is read."""

    def __init__(self) -> None:
        self._rows: dict[Key, Value] = {}

    def __setitem__(self, key: Key, value: Value) -> None:
        self._rows[key] = value

    def __delitem__(self, key: Key) -> None:
        del self._rows[key]

    def __getitem__(self, key: Key) -> Value:
        load_what_registers()
        return self._rows[key]

    def __iter__(self) -> Iterator[Key]:
        load_what_registers()
        return iter(self._rows)

    def __len__(self) -> int:
        load_what_registers()
        return len(self._rows)

    def so_far(self, key: Key, new: Value) -> Value:
        """The value of a key, for a module that adds to it; `new` where it is the first."""
        return self._rows.setdefault(key, new)


class NamedRegistry(Registry[str, Value]):
    """A table in the order of its names, whichever module was imported first."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))


def registers(package: ModuleType | None) -> None:
    """Modules of this package are among those that fill the tables."""
    assert package is not None, "an app has a package by the time that it is ready"
    _packages[package] = None


def load_what_registers() -> None:
    """Import the modules that register something, package by package in the order of their names."""
    for package in tuple(_packages):
        folder = Path(str(package.__file__)).parent
        for path in sorted(folder.rglob("*.py")):
            if REGISTERS.search(path.read_bytes()):
                import_module(".".join((package.__name__, *path.relative_to(folder).with_suffix("").parts)))
        # Only now: another thread that looks meanwhile waits for the same modules.
        _packages.pop(package, None)
