"""What `evaluate` returns shows itself in a notebook, draws itself, and is written and logged."""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command

import soundings
from evaluation import Evaluation

pytestmark = pytest.mark.anywhere

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
QRELS, RUNS = EXAMPLES / "qrels.txt", [EXAMPLES / "runs" / name for name in ("bm25.run", "lsa.run")]
# The rule of MLflow for names of metrics, on any system.
METRIC = re.compile(r"[\w\-. ]+", re.ASCII)


@pytest.fixture(scope="module")
def result() -> Any:
    return soundings.evaluate(QRELS, RUNS, k=(1, 3, 5, 10, 20, 50))


def test_a_cell_has_the_answer_intervals_coverage_and_conventions(result: Any) -> None:
    cell = result._repr_html_()

    assert cell.index("lsa") < cell.index("<table>")
    assert '<th scope="row">lsa</th>' in cell
    relevant = int(result.labels.relevant.sum())
    assert f"by the labels at hand; recall is of the {relevant:,} relevant documents found so far." in cell
    assert "0.481<small> [0." in cell
    assert '<th scope="col">judged@10</th>' in cell
    assert "rel ≥ 1" in cell
    assert cell.count('<th scope="col">Recall@') == 5
    assert cell.index('<th scope="row">lsa</th>') < cell.index('<th scope="row">bm25</th>')


def test_every_output_says_how_an_interval_is_made_where_all_queries_have_1(tmp_path: Path) -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(12)}
    result = soundings.evaluate(qrels, {"run": {query: ["a"] for query in qrels}}, k=1)

    assert result.figure("run", "recall", 1)["low"] == pytest.approx(0.025 ** (1 / 12))
    words = "(Clopper and Pearson’s where all queries but two at most have 0, or 1)"
    method = result.to_dict()["conventions"]["interval"]["method"]
    assert method.endswith(words)
    page = result.to_html(tmp_path / "report.html").read_text()
    for text in (repr(result), result._repr_html_(), page):
        assert f"95 % interval, {method}, 10,000 samples, seed 0" in text


def test_names_in_a_cell_and_in_the_file_are_escaped(tmp_path: Path) -> None:
    odd = "<script>alert(1)</script>"
    result = soundings.evaluate({"q": {"a": 1}}, {odd: {"q": {"a": 1.0}}}, k=1)

    assert "<script" not in result._repr_html_()
    assert "<script" not in result.to_html(tmp_path / "report.html").read_text()


def test_a_result_is_an_evaluation_and_its_text_is_the_table(result: Any) -> None:
    assert isinstance(result, Evaluation)
    assert repr(result).startswith("run   K")
    assert result.answer().run == "lsa"


def test_the_answer_is_about_the_same_k_as_that_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = tmp_path / "pool.tsv"
    paths = list(map(str, RUNS))
    chosen = ["--depth", "20", "--budget", "200", "--audit-share", "0.3", "--output", str(pool)]
    call_command("pool", *paths, *chosen)
    capsys.readouterr()
    asked = ["--pool", str(pool), "--k", "10", "20", "--format", "json"]
    call_command("evaluate", str(QRELS), *paths, *asked)
    told = json.loads(capsys.readouterr().out)
    plain = soundings.evaluate(QRELS, RUNS, (10, 20), pool=pool).to_dict()
    assert told["answer"]["k"] == 20
    assert json.loads(json.dumps(plain)) == told


def test_one_run_has_a_cell_too() -> None:
    result = soundings.evaluate({"q": {"a": 1}}, {"bm25": {"q": {"a": 1.0}}}, measures=["map"], k=1)

    assert "<table>" in result._repr_html_()


def test_a_chart_is_drawn_without_a_network(result: Any) -> None:
    chart = result.chart()

    (drawn,) = chart.properties(title="Mine")._repr_mimebundle_().values()
    assert drawn.startswith("<svg")
    assert "Mine" in drawn
    with pytest.raises(ValueError, match="There is no chart 'pie'"):
        result.chart("pie")
    with pytest.raises(ValueError, match="ndcg was not measured"):
        result.chart(measure="ndcg")


def test_a_report_is_written_of_files_and_of_what_is_in_memory(result: Any, tmp_path: Path) -> None:
    of_files = result.to_html(tmp_path / "files.html").read_text()
    assert "qrels.txt, 2 runs" in of_files
    assert "SHA-256" in of_files

    held = soundings.evaluate({"q": {"a": 1}}, {"mine": {"q": ["a"]}}, k=1)
    written = held.to_html(str(tmp_path / "held.html")).read_text()
    assert "given in memory" in written
    assert "soundings.evaluate(qrels, runs, k=[1]" in written
    with pytest.raises(ValueError, match=r"ends in none of \.html"):
        held.to_html(tmp_path / "report.txt")


class Tracker(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(metrics={}, tags={}, texts={})

    def log_metrics(self, metrics: dict[str, float]) -> None:
        self.metrics |= metrics

    def set_tags(self, tags: dict[str, str]) -> None:
        self.tags |= tags

    def log_text(self, text: str, name: str) -> None:
        self.texts[name] = text


def test_means_ends_of_intervals_and_coverage_go_to_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = Tracker()
    monkeypatch.setitem(sys.modules, "mlflow", tracker)

    one = soundings.evaluate(QRELS, RUNS[:1], k=10)
    one.to_mlflow()

    figure = one.figure("bm25", "recall", 10)
    assert tracker.metrics["recall_at_10"] == figure["mean"]
    assert tracker.metrics["recall_at_10_low"] == figure["low"]
    assert tracker.metrics["recall_at_10_high"] == figure["high"]
    assert tracker.metrics["judged_at_10"] == one.figure("bm25", "judged", 10)["mean"]
    assert "ties: score" in tracker.tags["soundings.bm25"]
    assert "<html" in tracker.texts["soundings.html"]


def test_names_of_runs_become_names_of_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    tracker = Tracker()
    monkeypatch.setitem(sys.modules, "mlflow", tracker)
    runs = {name: {"q": {"a": 1.0}} for name in ("a@b", "a#b", "../..", "ü")}

    soundings.evaluate({"q": {"a": 1}}, runs, k=1).to_mlflow()

    assert all(METRIC.fullmatch(name) for name in tracker.metrics)
    assert len([name for name in tracker.metrics if name.endswith("recall_at_1")]) == 4
    assert {"a_b.recall_at_1", "a_b_2.recall_at_1"} <= set(tracker.metrics)


def test_mlflow_is_named_where_it_is_missing(result: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)

    with pytest.raises(ImportError, match="to_mlflow needs MLflow: pip install mlflow"):
        result.to_mlflow()


@pytest.mark.skipif(find_spec("mlflow") is None, reason="needs mlflow: pip install -e '.[neighbours]'")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_itself_takes_it(result: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mlflow

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    with mlflow.start_run() as run:
        result.to_mlflow()

    stored = mlflow.get_run(run.info.run_id).data
    assert stored.metrics["bm25.recall_at_10"] == result.figure("bm25", "recall", 10)["mean"]
    assert list(tmp_path.rglob("soundings.html"))


NEEDED = {"labels": "", "campaign": "", "langchain": "langchain_core"}


@pytest.mark.parametrize("name", NEEDED)
def test_an_example_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if NEEDED[name] and find_spec(NEEDED[name]) is None:
        pytest.skip(f"needs {NEEDED[name]}: pip install -e '.[neighbours]'")
    folder = shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(folder)
    notebook = json.loads((folder / f"{name}.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}

    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert not cell["outputs"], "outputs are made by whoever runs it"
            exec("".join(cell["source"]), names)

    assert "<table>" in names["result"]._repr_html_()
