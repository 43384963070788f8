"""The README's five steps work as they are written, on files that a team would have."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soundings.processes import ROOT, environment

EXAMPLES = ROOT / "examples"
# What the README calls the team's files, and which of ours stand in for them.
FILES = {
    "queries.jsonl": "queries.jsonl",
    "corpus.jsonl": "corpus.jsonl",
    "bm25.run": "runs/bm25.run",
    "dense.run": "runs/lsa.run",
}


def commands() -> list[str]:
    """The commands of the section, in its order."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Your own collection in five steps")[2].partition("\n## ")[0]
    return re.findall(r"^ +soundings (.+)$", section, flags=re.MULTILINE)


@pytest.mark.slow
def test_the_five_steps_lead_from_files_to_recall(tmp_path: Path, data_folder: Path) -> None:
    for name, source in FILES.items():
        shutil.copy(EXAMPLES / source, tmp_path / name)
    done = None
    for command in commands():
        # People judge while the site runs; here their labels come from a file.
        written = f"import_qrels mine {EXAMPLES / 'qrels.txt'}" if command == "serve" else command
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *shlex.split(written)],
            cwd=tmp_path,
            env=environment(data_folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), written
    assert done is not None
    assert "serve" in commands()
    assert re.search(r"dense.*\n.*", done.stdout)
    assert re.search(r"Recall@10|recall@10", done.stdout)
