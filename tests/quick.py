"""The tests that a change touches: `make quick` runs those files, nearest first.

A change is what differs from `origin/main` and what is not committed. Nearest are the changed tests
themselves, then those in the room of a changed module, those that import it, and those that import what
imports it. Slow tests and the browser are left to `make test`.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from docs.rooms import PACKAGES, ROOT, imports_of, module_of, modules, place_of

# Of the whole code as text; they take seconds.
ALWAYS = ("architecture", "docs", "language", "map", "packaging", "patience")
# So many files of tests run at most; what is further away than that is left to `make test`.
MOST_FILES = 40


def changed_paths() -> list[str]:
    """What differs from where this branch left `origin/main`, or from HEAD where there is none."""
    known = _git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    new = _git("ls-files", "--others", "--exclude-standard")
    return sorted({*_git("diff", "--name-only", known[0]), *new})


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


@cache
def importers() -> dict[str, set[str]]:
    """The modules and files of tests that import a module, each by its path."""
    found: dict[str, set[str]] = defaultdict(set)
    tests = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py")]
    for path in (*modules(), *tests):
        for one in imports_of(path):
            imported = module_of(one.name) or _tests_module(one.name)
            if imported:
                found[imported].add(path)
    return found


def _tests_module(name: str) -> str | None:
    parts = name.split(".")
    paths = ("/".join(parts[:count]) + ".py" for count in range(len(parts), 1, -1))
    return next((path for path in paths if parts[0] == "tests" and (ROOT / path).exists()), None)


def touched_by(changed: Iterable[str]) -> dict[str, int]:
    """The files of tests, and how far each is from the change."""
    near: dict[str, int] = {}

    def add(paths: Iterable[str], distance: int) -> None:
        for path in sorted(paths):
            if _is_test(path) and (ROOT / path).exists():
                near[path] = min(distance, near.get(path, distance))

    for path in changed:
        for module in [path] if path.endswith(".py") else _that_name(path):
            add([module], 0)
            if place_of(module):
                folder = ROOT / "tests" / "/".join(module.split("/")[:2])
                add((str(test.relative_to(ROOT)) for test in folder.glob("test_*.py")), 1)
            add(importers()[module], 2)
            add(_that_call(module), 2)
            for other in importers()[module]:
                add(importers()[other], 3)
    return near


def _is_used_everywhere(path: str) -> bool:
    """A front door, what all tests share, or what is installed."""
    is_module = path.partition("/")[0] in PACKAGES and path.endswith(".py") and "/management/" not in path
    shared = ("tests/conftest.py", "tests/world.py", "pyproject.toml", "constraints.txt")
    return path in shared or (is_module and place_of(path) is None)


def _is_test(path: str) -> bool:
    return path.rpartition("/")[2].startswith("test_") and not path.startswith("tests/browser/")


def _that_name(path: str) -> list[str]:
    """The modules that name a template or another file, in quotes, as Django's loaders take it."""
    folder, _, name = path.partition("/")
    if folder not in ("templates", "static", "locale", "examples"):
        return []
    return [module for module in modules() if f'"{name}"' in (ROOT / module).read_text(encoding="utf-8")]


def _that_call(module: str) -> list[str]:
    """The files of tests that name a command."""
    folder, _, name = module.removesuffix(".py").rpartition("/")
    if not folder.endswith("management/commands"):
        return []
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path.relative_to(ROOT)) for path in tests if f'"{name}"' in path.read_text(encoding="utf-8")]


def main(arguments: list[str]) -> int:
    """Choose, say what was chosen, and run it."""
    changed = changed_paths()
    near = touched_by(changed)
    chosen = sorted(near, key=lambda path: (near[path], path))[:MOST_FILES]
    print(f"{len(changed)} files have changed; of {len(near)} files of tests near them run {len(chosen)}:")
    print("\n".join(f"  {path}" for path in chosen) or "  none")
    if used := [path for path in changed if _is_used_everywhere(path)]:
        print(f"Everything uses {', '.join(used)}: run make test as well.")
    sys.stdout.flush()
    always = [f"tests/test_{name}.py" for name in ALWAYS]
    files = sorted({*always, *chosen})
    return subprocess.call([sys.executable, "-m", "pytest", "-m", "not slow", *arguments, *files], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
