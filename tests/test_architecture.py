"""The rules of the house about who may import whom, read from the code itself.

The order of rooms stands in the docstring of each package.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from typing import NamedTuple

import pytest

from docs.rooms import (
    PACKAGES,
    ROOT,
    Import,
    every_import,
    imports_of,
    module_of,
    modules,
    place_of,
    rooms_of,
    root_of,
    tree_of,
)

# A stage may import itself and the stages before it in the way of the data; the site may import everything.
MAY_IMPORT = {
    "pooling": {"pooling"},
    "labeling": {"pooling", "labeling"},
    "evaluation": {"pooling", "labeling", "evaluation"},
    "soundings": set(PACKAGES),
}
# What a room may take from the front door of its package or of an earlier one.
SHARED = (
    "models",
    "account_models",
    "search_models",
    "engine_models",
    "access",
    "signals",
    "heavy",
    "options",
)
# Folders that are no rooms; Django finds `postgresql` by the name in the settings.
NO_ROOMS = {"management", "migrations", "models", "postgresql"}
MOST_MODULES, MOST_FILES = 22, 23
# What breaks a circle, or must wait until Django is set up, says so where it stands.
CUT = "# Cut: "
DJANGO = {"django", "rest_framework", "django_tasks", "drf_spectacular"}
HEAVY = {"polars", "pandas", "numpy", "scipy", "altair", "vl_convert", "pyarrow", "openai"}
# What answers requests, and what that loads.
OF_PAGES = {"rest_framework.serializers", "drf_spectacular.openapi", "requests", "soundings.urls"}
WORKER = "soundings.serving.work"
JOBS = "from pooling.jobs.kinds import WORK; list(WORK)"
LONGEST_MODULE = 450
# A function takes so many arguments at most, and so many of them by place.
MOST_ARGUMENTS, MOST_BY_PLACE = 6, 4
# What people call by itself, with options by name; beside them what the packages name at their front door.
ENTRY_POINTS = {"replay", "read_labelled_pool", "build_pool", "import_run"}
# The variables of a template are a literal in the module of its page; what a form there gives is none.
PAGES = re.compile(r"(pages?|views)\.py: (?!clean$)")
# What else returns a dict without names for its keys: what a framework asks for, JSON that people or models
# wrote, keyword arguments that are passed on, and the settings that two pages show. It may only become less.
WITHOUT_NAMES = {
    "evaluation/indexes/views.py: clean",
    "evaluation/plans/settings.py: _between",
    "evaluation/report_store/settings.py: _thresholds",
    "evaluation/report_store/settings.py: settings_context",
    "evaluation/reports/forms.py: _or_as_preset",
    "evaluation/scoring/config.py: _plain",
    "evaluation/scoring/config.py: arguments",
    "labeling/adjudication/views.py: clean",
    "labeling/judging/views.py: clean",
    "labeling/prelabels/model_answers.py: object_in",
    "labeling/prelabels/client.py: body",
    "labeling/prelabels/api.py: validate",
    "labeling/prelabels/forms.py: clean",
    "pooling/formats/kinds/json_lines.py: json_object",
    "pooling/formats/kinds/ranx.py: json_object_of",
    "pooling/formats/kinds/ranx.py: unique",
    "pooling/formats/records.py: rest",
    "pooling/interface/api.py: parsed",
    "pooling/interface/api.py: validated",
    "pooling/interface/forms.py: clean",
    "pooling/interface/option_fields.py: _absent",
    "pooling/interface/option_fields.py: _bounds",
    "pooling/options.py: _absent",
    "pooling/options.py: _reading",
    "pooling/options.py: chosen",
    "pooling/runs/depths.py: clean",
    "pooling/runs/views.py: clean",
    "soundings/installation/environment.py: database",
    "soundings/installation/environment.py: mail",
}


class Function(NamedTuple):
    """A function or a method with its arguments, but for `self` and `cls`."""

    path: str
    node: ast.FunctionDef | ast.AsyncFunctionDef

    def __str__(self) -> str:
        return f"{self.path}: {self.node.name}"

    @property
    def by_place(self) -> list[str]:
        names = [one.arg for one in (*self.node.args.posonlyargs, *self.node.args.args)]
        return names[1:] if names[:1] in (["self"], ["cls"]) else names

    @property
    def arguments(self) -> list[str]:
        return [*self.by_place, *(one.arg for one in self.node.args.kwonlyargs)]

    @property
    def is_entry_point(self) -> bool:
        return self.node.name in ENTRY_POINTS or self.node.name in _named_at_front_doors()


@cache
def _named_at_front_doors() -> frozenset[str]:
    import evaluation
    import soundings

    return frozenset({*evaluation.__all__, *soundings.__all__})


@cache
def functions_of(packages: tuple[str, ...]) -> tuple[Function, ...]:
    return tuple(
        Function(path, node)
        for path in modules()
        if path.partition("/")[0] in packages
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@cache
def reached_from(path: str) -> frozenset[str]:
    """The packages of others that a module imports, itself or through modules of ours."""
    foreign: set[str] = set()
    seen, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for found in imports_of(current):
            if found.for_types:
                continue
            ours = module_of(found.name)
            if ours:
                waiting.append(ours)
            else:
                foreign.add(root_of(found.name))
    return frozenset(foreign)


def pure_modules() -> list[str]:
    """Those of pure rooms, and everywhere else in rooms what names neither Django nor a front door."""
    rooms = [room for package in PACKAGES for room in rooms_of(package)]
    pure = tuple(f"{room.package}/{room.name}/" for room in rooms if room.is_pure)
    return [path for path in modules() if path.startswith(pure)]


@cache
def lines_of(path: str) -> list[str]:
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def is_cut(found: Import) -> bool:
    lines = lines_of(found.path)
    return CUT in lines[found.line - 1] or CUT in lines[found.line - 2]


def is_front_door(path: str) -> bool:
    return path.partition("/")[0] in PACKAGES and place_of(path) is None


def test_imports_run_from_evaluation_to_labeling_to_pooling_and_nobody_imports_the_site() -> None:
    wrong = [
        str(found)
        for found in every_import()
        if root_of(found.name) in PACKAGES
        and root_of(found.name) not in MAY_IMPORT[found.path.partition("/")[0]]
    ]
    assert wrong == []


def test_pure_modules_know_nothing_of_django() -> None:
    known = {path: reached_from(path) & DJANGO for path in pure_modules()}
    assert {path: names for path, names in known.items() if names} == {}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_folder_of_a_package_is_a_room_that_it_lists(package: str) -> None:
    folders = {path.parent.name for path in (ROOT / package).glob("*/*.py")} - NO_ROOMS

    assert sorted(room.name for room in rooms_of(package)) == sorted(folders)


def test_a_room_imports_only_rooms_that_stand_before_it() -> None:
    wrong = []
    for found in every_import():
        ours = module_of(found.name)
        here, there = place_of(found.path), place_of(ours or "")
        if here and there and there > here:
            wrong.append(str(found))
    assert wrong == []


def test_no_modules_of_a_room_need_each_other() -> None:
    """Types count as well, and what is imported inside functions, unless it says that it cuts a circle."""
    needs: dict[str, set[str]] = {path: set() for path in modules()}
    for found in every_import():
        ours = module_of(found.name)
        if ours and place_of(found.path) and not is_cut(found) and not ours.endswith("__init__.py"):
            needs[found.path].add(ours)
    TopologicalSorter(needs).prepare()  # a circle is a CycleError that names its modules


def test_a_room_takes_from_a_front_door_only_what_is_shared() -> None:
    wrong = []
    for found in every_import():
        ours = module_of(found.name)
        if ours and place_of(found.path) and is_front_door(ours):
            door = ours.split("/")[1].removesuffix(".py")
            wrong += [] if door in (*SHARED, "__init__") else [str(found)]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_room_can_be_seen_at_a_glance(package: str) -> None:
    sizes = {
        room.name: len([path for path in room.folder.glob("*.py") if path.name != "__init__.py"])
        for room in rooms_of(package)
    }
    assert {name: size for name, size in sizes.items() if size > MOST_MODULES} == {}
    paths = (ROOT / package, *(ROOT / package).rglob("*"))
    # Migrations are a history, which only grows.
    folders = [path for path in paths if path.is_dir() and path.name not in ("__pycache__", "migrations")]
    crowded = {str(path): count for path in folders if (count := len(list(path.glob("*.py")))) > MOST_FILES}
    assert crowded == {}


def test_modules_import_each_other_where_they_begin() -> None:
    wrong = []
    for found in every_import():
        ours = module_of(found.name)
        if found.on_load or found.for_types or not ours or found.path.endswith("/apps.py"):
            continue
        # A package that gives out names on first use loads what they are of.
        is_lazy = ours.endswith("__init__.py") and "def __getattr__" in (ROOT / ours).read_text(
            encoding="utf-8"
        )
        if not is_lazy and not is_cut(found):
            wrong.append(str(found))
    assert wrong == []


def test_only_the_pre_labels_speak_to_a_language_model() -> None:
    paths = {found.path for found in every_import() if root_of(found.name) == "openai"}
    assert paths == {"labeling/prelabels/client.py"}


@pytest.mark.parametrize(
    ("starts", "spared"),
    [
        ("import soundings.urls", HEAVY),
        # Commands, and the worker before its first job.
        (
            f"import labeling.management.commands.open_queue, {WORKER}",
            HEAVY | OF_PAGES | {"pooling.pools.kinds"},
        ),
        ("from labeling.management.commands import prelabel_pass, quality", HEAVY | OF_PAGES),
        (f"import {WORKER}; {JOBS}", HEAVY | OF_PAGES),
    ],
)
def test_starting_django_loads_no_heavy_library(starts: str, spared: set[str]) -> None:
    code = f"import sys, django; django.setup(); {starts}; print(sorted({spared!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_longer_than_can_be_read_at_a_sitting(package: str) -> None:
    lengths = {
        path: len((ROOT / path).read_text().splitlines()) for path in modules() if path.startswith(package)
    }
    assert {path: length for path, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_a_function_takes_few_arguments_and_fewer_by_place() -> None:
    many = {
        str(one): one.arguments
        for one in functions_of(PACKAGES)
        if not one.is_entry_point
        and (len(one.arguments) > MOST_ARGUMENTS or len(one.by_place) > MOST_BY_PLACE)
    }
    assert many == {}


def test_what_is_stored_or_sent_has_names_for_its_keys() -> None:
    without = {
        str(one)
        for one in functions_of(PACKAGES)
        if one.node.returns
        and "dict[str, Any]" in ast.unparse(one.node.returns)
        and not PAGES.search(str(one))
    }
    assert without == WITHOUT_NAMES
