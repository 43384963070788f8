"""`import soundings`: the public functions in memory, at no cost, and never somebody else's module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import soundings
from tests.soundings.processes import ROOT

LABELS = {"q1": {"a": 1, "b": 0, "c": 2}}
RUNS = {"bm25": {"q1": {"a": 3.0, "b": 2.0}}, "dense": {"q1": {"c": 0.9, "a": 0.8, "d": 0.7}}}


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `code` as somebody does in `folder`, which comes first on Python's path."""
    begins = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT)!r}]; "
    return subprocess.run(
        [sys.executable, "-c", begins + code], capture_output=True, text=True, cwd=folder, check=False
    )


def test_the_front_door_has_what_it_lists() -> None:
    names = ["Client", "compare", "evaluate", "pool", "read_qrels", "read_run"]
    names += ["recall_at_k", "run_of", "simulate"]

    assert sorted(soundings.__all__) == sorted(["__version__", *names])
    assert all(callable(getattr(soundings, name)) for name in names)
    assert set(soundings.__all__) <= set(dir(soundings))
    with pytest.raises(AttributeError, match="'soundings' has no attribute 'recall'"):
        soundings.recall  # type: ignore[attr-defined]  # noqa: B018


def test_importing_it_loads_neither_django_nor_a_heavy_library(tmp_path: Path) -> None:
    done = python(
        "import soundings; print({'django', 'polars', 'numpy', 'pandas'} & set(sys.modules))", tmp_path
    )

    assert (done.stdout.strip(), done.stderr) == ("set()", "")


def test_a_first_result_loads_polars_and_numpy_alone(tmp_path: Path) -> None:
    done = python(
        f"import soundings; r = soundings.evaluate({LABELS!r}, {RUNS!r}, k=1); "
        f"few = {{f'q{{n}}': {{'a': 1}} for n in range(20)}}; soundings.evaluate(few, {{'a': few}}, k=1); "
        "print({'django', 'pandas', 'scipy', 'rich', 'altair', 'pyarrow'} & set(sys.modules))",
        tmp_path,
    )

    assert (done.stdout.strip(), done.stderr) == ("set()", "")


@pytest.mark.parametrize("name", ["evaluation.py", "labeling/__init__.py", "pooling.py"])
def test_a_file_that_hides_a_package_is_named(tmp_path: Path, name: str) -> None:
    hiding = tmp_path / name
    hiding.parent.mkdir(exist_ok=True)
    hiding.write_text("raise SystemExit('It was run.')")

    done = python("import soundings", tmp_path)

    last = done.stderr.splitlines()[-1]
    package = name.partition("/")[0].removesuffix(".py")
    assert last.startswith(f"ImportError: {hiding} hides the package {package} of Soundings: rename it")


def test_runs_in_memory_become_a_pool() -> None:
    pool = soundings.pool(RUNS, depth=2, strategy="depth", budget=2, depths={"dense": 3})

    assert pool["document_id"].to_list() == ["a", "c", "b", "d"]
    assert pool["inclusion_probability"].to_list() == [1.0, 1.0, None, None]
    with pytest.raises(ValueError, match="depth is a number from 1"):
        soundings.pool(RUNS, depth=0)
    with pytest.raises(ValueError, match="A pool has no option corpus; its options are depths, strategy, "):
        soundings.pool(RUNS, depth=2, corpus="corpus.jsonl")


def test_an_audit_of_runs_in_memory_reaches_below_the_depth() -> None:
    pool = soundings.pool(RUNS, depth=1, reach=3, audit_share=1.0, budget=4)

    assert set(pool["document_id"]) == {"a", "b", "c", "d"}


def test_what_a_reader_notices_in_a_file_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "bm25.run"
    path.write_text("q1 Q0 a 2 9.0 t\nq1 Q0 b 1 8.0 t\n")

    with pytest.warns(UserWarning, match=r"bm25\.run: 1 row has a higher score than the row before by rank"):
        soundings.pool([path], depth=1)


def test_labels_in_memory_are_replayed_as_the_command_replays_files(tmp_path: Path) -> None:
    result = soundings.simulate(LABELS, RUNS, depth=3, strategies=["depth"], budgets=[0.3, 1])

    # By depth: a, c, b.
    assert result.outcomes["depth"].found == {0.3: 0.5, 1: 1.0}
    assert set(soundings.simulate(LABELS, RUNS, depth=1, min_relevance=2).outcomes) > {"depth", "rrf"}
    with pytest.raises(ValueError, match="min_relevance is -1"):
        soundings.simulate(LABELS, RUNS, depth=1, min_relevance=-1)


def test_a_simulation_shows_its_table_and_warns_of_what_it_leaves_out() -> None:
    stranger = {**RUNS["bm25"], "q9": {"a": 1.0}}
    with pytest.warns(UserWarning, match="1 of the 2 queries of run bm25 are among .* “q9” here, “q1” there"):
        result = soundings.simulate(LABELS, {"bm25": stranger}, depth=3, strategies=["depth"])

    assert repr(result).startswith("strategy  found@0.1  found@0.25")
    assert "1 run to depth 3" in repr(result)


def test_files_are_read_and_runs_compared(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 a 1 9.0 t\nq2 Q0 x 1 8.0 t\n")
    (tmp_path / "dense.run").write_text("q1 Q0 a 1 9.0 t\nq2 Q0 b 1 8.0 t\n")
    assert soundings.read_qrels(tmp_path / "qrels.txt").frame.height == 2
    assert soundings.read_run(tmp_path / "bm25.run").name == "bm25"

    result = soundings.evaluate(tmp_path / "qrels.txt", sorted(tmp_path.glob("*.run")), k=1)

    assert [result.figure(run, "recall", 1)["mean"] for run in ("bm25", "dense")] == [0.5, 1.0]
    assert soundings.compare(result, "dense", "bm25", "recall@1").difference == 0.5


FILES = f"{str(ROOT / 'examples/qrels.txt')!r}, {str(ROOT / 'examples/runs/bm25.run')!r}"


NEEDS_DJANGO = "This needs django, which is not installed: pip install 'soundings-ir[site]'."
LSA = repr(str(ROOT / "examples/runs/lsa.run"))
NEEDS_SCIPY = "This needs scipy, which is not installed: pip install soundings-ir."


@pytest.mark.parametrize(
    ("missing", "arguments", "told"),
    [
        ("django", "'serve'", NEEDS_DJANGO),
        ("scipy", f"'evaluate', {FILES}, {LSA}, '--compare', '--test', 't'", NEEDS_SCIPY),
        ("django", f"'evaluate', {FILES}, '--pythonpath', '.'", NEEDS_DJANGO),
        ("django", f"'evaluate', {FILES}, '--k', 'ten'", "soundings evaluate: argument --k: "),
        ("django", "'evaluate', 'none.txt', 'none.run'", "none.txt: the file cannot be opened (no such file"),
    ],
)
def test_a_command_without_its_library_says_what_to_install(
    tmp_path: Path, missing: str, arguments: str, told: str
) -> None:
    done = python(
        f"sys.modules[{missing!r}] = None; sys.argv = ['soundings', {arguments}]; "
        "from soundings.cli import main; main()",
        tmp_path,
    )

    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert done.stderr.startswith(told)


@pytest.mark.parametrize(
    ("missing", "call", "remedy"),
    [
        ("httpx2", "soundings.Client('http://127.0.0.1:9', 'token')", "soundings-ir"),
        ("altair", f"soundings.evaluate({LABELS!r}, {RUNS!r}, k=1).chart()", "'soundings-ir[charts]'"),
    ],
)
def test_a_function_without_its_library_says_what_to_install(
    tmp_path: Path, missing: str, call: str, remedy: str
) -> None:
    done = python(f"import soundings; sys.modules[{missing!r}] = None; {call}", tmp_path)

    last = done.stderr.splitlines()[-1]
    assert last == f"ImportError: This needs {missing}, which is not installed: pip install {remedy}."
