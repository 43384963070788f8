"""`evaluate` in a notebook: frames, dicts and paths in any mixture, without Django; labels per instance."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evaluation
from evaluation import evaluate
from evaluation.scoring.arrays import recall_of_arrays

ROOT = Path(__file__).resolve().parents[3]
QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"c": 1.0}}


def rows(source: Any, value: str) -> dict[str, list[Any]]:
    pairs = [(query, document, held) for query, of in source.items() for document, held in of.items()]
    return dict(zip(("query_id", "document_id", value), map(list, zip(*pairs, strict=True)), strict=True))


def as_file(source: Any, value: str, folder: Path) -> Path:
    path = folder / f"{value}.txt"
    lines = zip(*rows(source, value).values(), strict=True)
    if value == "relevance":
        path.write_text("".join(f"{query} 0 {document} {held}\n" for query, document, held in lines))
    else:
        path.write_text("".join(f"{query} Q0 {document} 1 {held} t\n" for query, document, held in lines))
    return path


FORMS: dict[str, Any] = {
    "dict": lambda source, value, folder: source,
    "pandas": lambda source, value, folder: pd.DataFrame(rows(source, value)),
    "polars": lambda source, value, folder: pl.DataFrame(rows(source, value)),
    "path": as_file,
    "text of a path": lambda source, value, folder: str(as_file(source, value, folder)),
}


@pytest.mark.parametrize("labels", FORMS)
@pytest.mark.parametrize("run", FORMS)
def test_every_mixture_gives_the_same_evaluation(labels: str, run: str, tmp_path: Path) -> None:
    qrels, scores = FORMS[labels](QRELS, "relevance", tmp_path), FORMS[run](RUN, "score", tmp_path)

    result = evaluate(qrels, {"run": scores}, k=(1, 2), bootstrap_samples=20)

    assert result.to_dict() == evaluate(QRELS, {"run": RUN}, k=(1, 2), bootstrap_samples=20).to_dict()
    assert result.figure("run", "recall", 2)["mean"] == 0.75


def test_no_django_is_needed(tmp_path: Path) -> None:
    (tmp_path / "evaluation.toml").write_text('k = [1]\ntags = ["x"]\n')
    code = (
        "import sys; sys.modules['django'] = None; sys.modules['rest_framework'] = None\n"
        "import evaluation\n"
        "for name in evaluation.__all__: getattr(evaluation, name)\n"
        f"held = evaluation.read_settings({str(tmp_path / 'evaluation.toml')!r}).arguments()\n"
        f"result = evaluation.evaluate({QRELS!r}, {{'run': {RUN!r}}}, strata={{'x': ['q1']}}, **held)\n"
        "print(result.figure('run', 'recall', 1)['mean'], len(result.summary()), len(result.per_query()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("0.75 5 10\n", "")


def test_every_public_function_says_what_it_takes_and_gives() -> None:
    for name in evaluation.__all__:
        documented = getattr(evaluation, name).__doc__ or ""
        assert len(documented) > 60, name


def guide(heading: str) -> str:
    """The code of one section of the guide."""
    text = (ROOT / "templates" / "docs" / "recall.md").read_text(encoding="utf-8")
    section = re.split(r"\n#+ ", text.partition(f"# {heading}\n")[2], maxsplit=1)[0]
    return "\n".join(line[4:] for line in section.splitlines() if line.startswith("    "))


def test_the_notebook_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bm25.run", "dense.run"):
        as_file(RUN, "score", tmp_path).rename(tmp_path / name)
    as_file(QRELS, "relevance", tmp_path).rename(tmp_path / "qrels.txt")
    (tmp_path / "evaluation.toml").write_text("k = [1, 2]\n")
    monkeypatch.chdir(tmp_path)

    exec(guide("In a notebook"), {})


def test_labels_per_instance_as_the_guide_tells() -> None:
    code = guide("Labels predicted per instance")
    *lines, last = code.splitlines()
    names: dict[str, Any] = {"evaluate": evaluate}
    exec("\n".join([*lines, f"result = {last}"]), names)
    figures = [names["result"].figure("model", "recall", k)["mean"] for k in (1, 2, 3)]

    # image1 finds cat first, sofa third; image2 dog first.
    assert figures == [0.75, 0.75, 1.0]


@given(st.data())
def test_labels_per_instance_are_what_arrays_give(data: Any) -> None:
    instances = data.draw(st.integers(1, 5))
    labels = st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True)
    true = [data.draw(labels) for _ in range(instances)]
    predicted = [data.draw(labels) for _ in range(instances)]

    def padded(lists: list[list[int]]) -> Any:
        return np.array([row + [-1] * (6 - len(row)) for row in lists])

    result = evaluate(
        {f"i{number:02}": {str(label): 1 for label in held} for number, held in enumerate(true)},
        {
            "model": {
                f"i{number:02}": {str(label): float(-place) for place, label in enumerate(held)}
                for number, held in enumerate(predicted)
            }
        },
        k=(1, 2, 5),
        measures=["recall"],
        bootstrap_samples=1,
    )

    assert np.allclose(
        result.runs["model"].values["recall"], recall_of_arrays(padded(predicted), padded(true), (1, 2, 5))
    )
