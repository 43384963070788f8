"""The rules of the house about who may import whom, read from the code itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
STAGES = ("pooling", "labeling", "evaluation")
PACKAGES = ("soundings", *STAGES)

# A stage may import itself and the stages before it in the way of the data; the site may import everything.
MAY_IMPORT = {
    "pooling": {"pooling"},
    "labeling": {"pooling", "labeling"},
    "evaluation": {"pooling", "labeling", "evaluation"},
    "soundings": set(PACKAGES),
}
# Usable from a notebook: files or whole folders that must not know Django, however indirectly.
PURE = (
    "pooling/formats",
    "pooling/ranking/ranking.py",
    "pooling/interface/charting.py",
    "pooling/audit/bounds.py",
    "pooling/audit/budget_rules.py",
    "pooling/merging/choice.py",
    "pooling/ranking/chunk_options.py",
    "pooling/ranking/chunks.py",
    "pooling/command_line.py",
    "pooling/merging/merging.py",
    "pooling/formats/query_facts.py",
    "pooling/ranking/score_sums.py",
    "pooling/audit/selection.py",
    "pooling/strategies",
    "pooling/merging/extension.py",
    "pooling/diagnosis/diagnostics.py",
    "pooling/diagnosis/summary.py",
    "pooling/diagnosis/outlook.py",
    "pooling/merging/streaming.py",
    "pooling/diagnosis/families.py",
    "labeling/consensus/agreement.py",
    "labeling/exposure/anchoring.py",
    "labeling/consensus/clustered.py",
    "labeling/verification/figures.py",
    "labeling/verification/relevance_model.py",
    "labeling/score_audits/strata.py",
    "labeling/consensus/shares.py",
    "labeling/verification/plans.py",
    "labeling/consensus/rules.py",
    "labeling/consensus/dawid_skene.py",
    "labeling/language_models/answers.py",
    "labeling/quality/monitors.py",
    "labeling/consensus/rule_names.py",
    "labeling/gold/rule.py",
    "labeling/gold/places.py",
    "labeling/gold/posterior.py",
    "labeling/items/ordering.py",
    "labeling/adaptive/next_documents.py",
    "labeling/verification/charts.py",
    "labeling/prelabels/costs.py",
    "labeling/queues/workload.py",
    "evaluation/__init__.py",
    "evaluation/failures/breakdown.py",
    "evaluation/failures/chart.py",
    "evaluation/failures/table.py",
    "evaluation/failures/query_groups.py",
    "evaluation/indexes/recall.py",
    "evaluation/indexes/command.py",
    "evaluation/indexes/tables.py",
    "evaluation/canaries/drops.py",
    "evaluation/canaries/chart.py",
    "evaluation/indexes/latency.py",
    "evaluation/indexes/chart.py",
    "evaluation/measures",
    "evaluation/scoring/config.py",
    "evaluation/scoring/conventions.py",
    "evaluation/scoring/coverage.py",
    "evaluation/comparisons/deciding.py",
    "evaluation/scoring/evaluating.py",
    "evaluation/scoring/expectations.py",
    "evaluation/scoring/inputs.py",
    "evaluation/rendering/formats.py",
    "evaluation/scoring/results.py",
    "evaluation/scoring/strata.py",
    "evaluation/canaries/webhooks.py",
    "evaluation/scoring/wording.py",
    "evaluation/estimates/totals.py",
    "evaluation/estimates/sample.py",
    "evaluation/estimates/from_audit.py",
    "evaluation/estimates/intervals.py",
    "evaluation/estimates/score_audit.py",
    "evaluation/pool_estimates/score_audit_page.py",
    "evaluation/estimates/prediction_powered.py",
    "evaluation/estimates/powered.py",
    "evaluation/plans/expected_width.py",
    "evaluation/plans/words.py",
    "evaluation/replays/replaying.py",
    "evaluation/report_store/software.py",
    "evaluation/replays/simulation.py",
    "evaluation/replays/simulation_table.py",
    "evaluation/significance",
    "evaluation/charts/drawing.py",
    "evaluation/charts/kinds.py",
    "evaluation/charts/tables.py",
    "evaluation/charts/words.py",
    "evaluation/charts/html_file.py",
    "evaluation/charts/html_report.py",
    "evaluation/report_store/provenance.py",
    "evaluation/charts/of_queries.py",
    "evaluation/comparisons/comparing.py",
    "evaluation/scoring/unsettled.py",
    "evaluation/comparisons/verdict.py",
    "evaluation/estimates/missing.py",
    "evaluation/rendering/tradeoffs.py",
    "evaluation/scoring/scoring.py",
)
DJANGO = {"django", "rest_framework", "django_tasks", "drf_spectacular"}
HEAVY = {"polars", "pandas", "numpy", "scipy", "altair", "vl_convert", "pyarrow", "openai"}
LONGEST_MODULE = 450


@dataclass(frozen=True)
class Import:
    """One import: where it stands, what it names, and whether loading the module carries it out."""

    path: str
    line: int
    name: str
    on_load: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.line} imports {self.name}"


def modules() -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "migrations" not in path.parts
    )


@cache
def imports_of(path: str) -> tuple[Import, ...]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return tuple(_imports(tree.body, path, on_load=True))


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
            continue
        else:
            inner = on_load and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for field in ("body", "orelse", "finalbody"):
                yield from _imports(getattr(node, field, None) or [], path, inner)
            for handler in getattr(node, "handlers", []):
                yield from _imports(handler.body, path, inner)


def _only_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def every_import() -> list[Import]:
    return [found for path in modules() for found in imports_of(path)]


def root_of(name: str) -> str:
    return name.partition(".")[0]


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


@cache
def reached_from(path: str, on_load: bool) -> frozenset[str]:
    """The packages of others that a module imports, itself or through modules of ours."""
    foreign: set[str] = set()
    seen, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for found in imports_of(current):
            if on_load and not found.on_load:
                continue
            ours = module_of(found.name)
            if ours:
                waiting.append(ours)
            else:
                foreign.add(root_of(found.name))
    return frozenset(foreign)


def pure_modules() -> list[str]:
    return [path for path in modules() if any(path == pure or path.startswith(f"{pure}/") for pure in PURE)]


def test_imports_run_from_evaluation_to_labeling_to_pooling_and_nobody_imports_the_site() -> None:
    wrong = [
        str(found)
        for found in every_import()
        if root_of(found.name) in PACKAGES
        and root_of(found.name) not in MAY_IMPORT[found.path.partition("/")[0]]
    ]
    assert wrong == []


def test_pure_modules_know_nothing_of_django() -> None:
    known = {path: reached_from(path, on_load=False) & DJANGO for path in pure_modules()}
    assert {path: names for path, names in known.items() if names} == {}


def test_every_pure_module_that_is_named_here_exists() -> None:
    assert [pure for pure in PURE if not (ROOT / pure).exists()] == []


def test_only_the_pre_labels_speak_to_a_language_model() -> None:
    paths = {found.path for found in every_import() if root_of(found.name) == "openai"}
    assert paths == {"labeling/language_models/client.py"}


def test_modules_with_django_load_heavy_libraries_only_where_they_use_them() -> None:
    loaded = {path: reached_from(path, on_load=True) for path in modules()}
    wrong = {
        path: sorted(names & HEAVY) for path, names in loaded.items() if names & DJANGO and names & HEAVY
    }
    assert wrong == {}


def test_starting_django_loads_no_heavy_library() -> None:
    code = (
        "import sys, django; django.setup(); from soundings.urls import urlpatterns; "
        f"print(sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_longer_than_can_be_read_at_a_sitting(package: str) -> None:
    lengths = {
        path: len((ROOT / path).read_text().splitlines()) for path in modules() if path.startswith(package)
    }
    assert {path: length for path, length in lengths.items() if length > LONGEST_MODULE} == {}
