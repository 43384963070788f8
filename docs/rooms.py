"""The code read as text: its modules, their imports, and the rooms that packages list in their docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# In the direction of imports: a later one may import an earlier one.
PACKAGES = ("pooling", "labeling", "evaluation", "soundings")


@dataclass(frozen=True)
class Import:
    """One import: where it stands, what it names, whether loading the module carries it out, and whether it
    is for types alone."""

    path: str
    line: int
    name: str
    on_load: bool
    for_types: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.name}"


@cache
def modules() -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "migrations" not in path.parts
    )


@cache
def tree_of(path: str) -> ast.Module:
    """A module as Python reads it: once for all who ask."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


@cache
def imports_of(path: str) -> tuple[Import, ...]:
    return tuple(_imports(tree_of(path).body, path, on_load=True))


def _imports(body: list[ast.stmt], path: str, on_load: bool) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (Import(path, node.lineno, alias.name, on_load) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively; name the package"
            assert node.module is not None
            yield from (
                Import(path, node.lineno, f"{node.module}.{alias.name}", on_load) for alias in node.names
            )
        elif _only_for_types(node):
            typed = _imports(getattr(node, "body", []), path, on_load=False)
            yield from (replace(found, for_types=True) for found in typed)
        else:
            inner = on_load and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for field in ("body", "orelse", "finalbody"):
                yield from _imports(getattr(node, field, None) or [], path, inner)
            for handler in getattr(node, "handlers", []):
                yield from _imports(handler.body, path, inner)


def _only_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


@cache
def every_import() -> list[Import]:
    return [found for path in modules() for found in imports_of(path)]


def root_of(name: str) -> str:
    return name.partition(".")[0]


@cache
def module_of(name: str) -> str | None:
    """The file of ours that `name` leads to: a module, a package, or the module that holds it."""
    parts = name.split(".")
    while parts:
        path = "/".join(parts)
        for candidate in (f"{path}.py", f"{path}/__init__.py"):
            if parts[0] in PACKAGES and (ROOT / candidate).exists():
                return candidate
        parts.pop()
    return None


@dataclass(frozen=True)
class Room:
    """A room as its package's docstring lists it: `- name: what it is for`, `(pure)` behind the name."""

    package: str
    name: str
    is_pure: bool
    purpose: str

    @property
    def folder(self) -> Path:
        return ROOT / self.package / self.name


@cache
def rooms_of(package: str) -> tuple[Room, ...]:
    """The rooms of a package, lowest first."""
    source = (ROOT / package / "__init__.py").read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    listed = re.findall(r"^- (\w+)( \(pure\))?: (.+)$", docstring, re.MULTILINE)
    return tuple(Room(package, name, bool(pure), purpose) for name, pure, purpose in listed)


@cache
def place_of(path: str) -> tuple[int, int] | None:
    """Package and room of a module as numbers that grow in the direction of imports; None outside rooms."""
    package, _, rest = path.partition("/")
    names = [room.name for room in rooms_of(package)] if package in PACKAGES else []
    room = rest.partition("/")[0]
    return (PACKAGES.index(package), names.index(room)) if room in names and "/" in rest else None
