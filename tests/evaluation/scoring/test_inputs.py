"""What `evaluate` takes and what it refuses."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from evaluation import evaluate

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"c": 3.0}}
QRELS_ROWS = {
    "query_id": ["q1", "q1", "q2"],
    "document_id": ["a", "b", "c"],
    "relevance": [1, 1, 1],
}
RUN_ROWS = {"query_id": ["q1", "q1", "q2"], "document_id": ["a", "x", "c"], "score": [2.0, 1.0, 3.0]}


def write_files(folder: Path) -> tuple[Path, Path]:
    (folder / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq2 0 c 1\n")
    (folder / "run.txt").write_text("q1 Q0 a 1 2 t\nq1 Q0 x 2 1 t\nq2 Q0 c 1 3 t\n")
    return folder / "qrels.txt", folder / "run.txt"


@pytest.mark.parametrize(
    "kind",
    [
        *("dict", "pandas", "polars", "path", "function"),
        *("pandas in a list", "polars in a list", "iterator of paths", "set of paths", "view of paths"),
    ],
)
def test_every_kind_of_input_gives_the_same(kind: str, tmp_path: Path) -> None:
    qrels_path, run_path = write_files(tmp_path)
    inputs: dict[str, tuple[Any, Any]] = {
        "dict": (QRELS, {"run": RUN}),
        "pandas": (pd.DataFrame(QRELS_ROWS), {"run": pd.DataFrame(RUN_ROWS)}),
        "polars": (pl.DataFrame(QRELS_ROWS), {"run": pl.DataFrame(RUN_ROWS)}),
        "path": (qrels_path, [run_path]),
        "pandas in a list": (QRELS, [pd.DataFrame(RUN_ROWS)]),
        "polars in a list": (QRELS, [pl.DataFrame(RUN_ROWS)]),
        "iterator of paths": (qrels_path, tmp_path.glob("run.*")),
        "set of paths": (qrels_path, {run_path}),
        "view of paths": (qrels_path, {"mine": run_path}.values()),
        "function": (str(qrels_path), {"run": lambda: pl.DataFrame(RUN_ROWS)}),
    }

    assert evaluate(*inputs[kind], k=(1, 2)).to_dict() == evaluate(QRELS, {"run": RUN}, k=(1, 2)).to_dict()


def test_paths_in_a_set_come_in_their_order(tmp_path: Path) -> None:
    _, run_path = write_files(tmp_path)
    paths = [tmp_path / f"{name}.run" for name in "dbca"]
    for path in paths:
        path.write_text(run_path.read_text())
    assert list(evaluate(QRELS, {*map(str, paths)}, k=(1,)).runs) == [*"abcd"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"document_id": ["a", "a", "c"]}, "document a of query q1 more than once"),
        ({"score": [2.0, float("nan"), 3.0]}, "NaN or infinite"),
        ({"score": [2.0, float("inf"), 3.0]}, "NaN or infinite"),
        ({"score": [2.0, None, 3.0]}, "empty values"),
        ({"query_id": [1.5, 1.5, 2.5]}, "query ids of the type Float64"),
    ],
)
def test_a_frame_with_a_fault_is_refused(change: dict[str, list[Any]], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        evaluate(QRELS, {"run": pl.DataFrame({**RUN_ROWS, **change})})


def test_a_missing_column_is_named() -> None:
    with pytest.raises(ValueError, match="Run run has no column score"):
        evaluate(QRELS, {"run": pd.DataFrame(RUN_ROWS).drop(columns="score")})


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="Two runs are called bm25"):
        evaluate(QRELS, ["a/bm25.run", "b/bm25.run.gz"])


@pytest.mark.parametrize(
    ("k", "start"),
    [
        *((0, "K is 0;"), (-1, "K is -1;"), (1.5, "K is 1.5;"), ((5, 0), "K is 0;")),
        ((), "Name at least one K"),
        *(("10", "K is '10', a text;"), (["10"], "K is '10', a text;"), (None, "K is None;")),
    ],
)
def test_a_cutoff_is_a_whole_number_of_at_least_one(k: Any, start: str) -> None:
    with pytest.raises(ValueError, match=f"^{start}"):
        evaluate(QRELS, {"run": RUN}, k=k)


def test_a_selection_of_queries() -> None:
    result = evaluate(QRELS, {"run": RUN}, k=2, queries={"q2"})

    assert result.figure("run", "recall", 2)["mean"] == 1.0
    assert result.to_dict()["queries"]["unknown"] == {"run": 0}


def test_no_query_left_is_refused() -> None:
    with pytest.raises(ValueError, match="No query of the qrels is left"):
        evaluate(QRELS, {"run": RUN}, queries={"q7"})
