"""`--engine spark` against the local engine, on two workers.

One test, so that one cluster is started however the tests are spread over processes.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation import evaluate
from pooling.formats import parts
from tests.pooling.parted import write_runs
from tests.spark import needs_spark, submit_arguments

pytestmark = [needs_spark, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Spark of two workers, which the engine finds running."""
    from pooling.merging.spark import spark_session

    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", submit_arguments())
    session = spark_session()
    assert session.sparkContext.defaultParallelism == 2
    yield
    session.stop()


def test_two_workers_give_what_one_machine_gives(
    tmp_path: Path, cluster: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, qrels = write_runs(tmp_path), write_qrels(tmp_path)

    def printed(*arguments: str) -> tuple[str, str]:
        call_command(*arguments)
        captured = capsys.readouterr()
        return captured.out, captured.err

    files = [str(path) for path in runs]
    pool = ["pool", *files, "--depth", "5", "--budget", "40", "--audit-share", "0.2"]
    assert printed(*pool, "--engine", "spark") == printed(*pool)

    measures = ["--k", "1", "5", "--measure", "recall", "ndcg", "map"]
    measured = ["evaluate", str(qrels), *files, *measures, "--format", "json"]
    assert printed(*measured, "--engine", "spark") == printed(*measured)

    mixed = {"file": runs[1], "dict": {"q1": {"d1": 2.0, "d2": 1.0}}}
    assert evaluate(qrels, mixed, engine="spark").to_dict() == evaluate(qrels, mixed).to_dict()

    with monkeypatch.context() as small:
        small.setattr(parts, "RANGE_BYTES", 600)
        small.setattr(
            "evaluation.scoring.engines.query_ranges", lambda path: parts.query_ranges(path, smallest=0)
        )
        assert len(parts.query_ranges(runs[1], smallest=0) or ()) > 1
        by_spark = evaluate(qrels, runs[1:2], engine="spark")
    assert by_spark.to_dict() == evaluate(qrels, runs[1:2]).to_dict()

    (tmp_path / "bad.run").write_text("q Q0 a 1 nan t\n")
    with pytest.raises(CommandError, match=r"bad\.run, line 1: the score 'nan' is not a finite number"):
        call_command("pool", str(tmp_path / "bad.run"), "--depth", "1", "--engine", "spark")


def write_qrels(folder: Path) -> Path:
    path = folder / "qrels.txt"
    labels = [f"q{query} 0 d{document} {document % 3 - 1}" for query in range(12) for document in range(9)]
    path.write_text("\n".join(labels) + "\n")
    return path
