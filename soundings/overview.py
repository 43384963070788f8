"""Output of `help`: our commands in the order of the work, read from their files without loading one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("pooling", "labeling", "evaluation", "soundings")
WORK = {
    "Files, without a site": "read_log draw_queries drift pool simulate evaluate check_vectors "
    "interleave judge_interleaving score_clicks",
    "The site": "demo serve migrate create_user reset_password add_member delete_account "
    "purge_deleted trail backup restore",
    "Runs and pools": "import_collection import_run search_run index_texts plan build_pool export_pool",
    "Judging": "import_gold open_queue order_queue queue_status quality "
    "import_judgments export_judgments draft_facts import_facts",
    "Pre-labels by a model": "prelabel_key prelabel prelabel_pass import_prelabels export_prelabels "
    "draw_sample draw_audit prelabel_quality prelabel_use",
    "Labels and reports": "import_qrels withdraw_labels release_qrels export_qrels measure decide canary",
}


def overview(program: str) -> str:
    """A line for each command; Django's own, which `help --commands` lists, are left out."""
    lines = [f"usage: {program} COMMAND …", f"       {program} COMMAND --help"]
    for heading, names in WORK.items():
        lines += ["", heading, *(f"  {name:<20}{_purpose(name)}" for name in names.split())]
    return "\n".join(lines)


def _purpose(name: str) -> str:
    """The docstring of its module, behind the usage."""
    paths = (ROOT / package / "management" / "commands" / f"{name}.py" for package in PACKAGES)
    path = next(path for path in paths if path.exists())
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.sub(r"^`[^`]+`: |(, without a database)?\.$", "", docstring.splitlines()[0])
