"""A run read in parts gives what the run read whole gives, and irregular files are left to the reader."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evaluation.scoring import inputs
from evaluation.scoring.evaluating import evaluate
from pooling.formats import FormatError, parts, read_run
from pooling.formats.parts import PlainRows, map_run_parts

REGULAR = "".join(
    f"q{query} Q0 d{(query * 7 + rank * 3) % 50} {rank} {100 - rank // 2} t\n"
    for query in range(40)
    for rank in range(1 + query % 9, 12)
)


def in_parts(path: Path, part_bytes: int = 300) -> list[pl.DataFrame] | None:
    return map_run_parts(path, frame_of, smallest=0, part_bytes=part_bytes)


def frame_of(run: PlainRows) -> pl.DataFrame:
    """The frame of the ids and scores as they were cut out, and as the column reader has them."""
    query = np.repeat(run.queries.to_list(), run.depth)
    frame = pl.DataFrame({"query_id": query, "document_id": run.documents.series(), "score": run.values})
    assert frame.equals(run.frame())
    return frame


@pytest.mark.parametrize("part_bytes", [1, 7, 300, 5000, 10**6])
def test_the_parts_are_the_file_and_no_query_is_in_two(tmp_path: Path, part_bytes: int) -> None:
    path = tmp_path / "a.run"
    path.write_text(REGULAR)

    found = in_parts(path, part_bytes)

    assert found is not None
    assert pl.concat(found).equals(read_run(path).frame)
    assert sum(frame["query_id"].n_unique() for frame in found) == 40


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(REGULAR.replace("q3 Q0", "q3  Q0"), id="a doubled blank"),
        pytest.param(REGULAR + "q0 Q0 late 9 1 t\n", id="a query that comes again later"),
        pytest.param(REGULAR + "z Q0 a 1 1 t\nz Q0 a 2 0 t\n", id="a document twice"),
        pytest.param(REGULAR + "z Q0 a 1 nan t\n", id="a score that is not a number"),
        pytest.param(REGULAR + "z Q0 a 1 high t\n", id="a score that is a word"),
        pytest.param(REGULAR + "z Q0 a 1 1\n", id="a line without a tag"),
        pytest.param(REGULAR + "z Q0 ä 1 1 t\n", id="an id beyond ASCII"),
        pytest.param(REGULAR + "# end\n", id="a comment"),
    ],
)
def test_an_irregular_file_is_left_to_the_reader(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.run"
    path.write_text(content)

    assert in_parts(path) is None


def test_an_evaluation_in_parts_equals_the_one_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other, qrels = tmp_path / "a.run", tmp_path / "b.run", tmp_path / "qrels.txt"
    path.write_text(REGULAR)
    other.write_text(REGULAR.replace(" d1", " e1"))
    qrels.write_text(
        "".join(
            f"q{query} 0 d{document} {document % 3 - 1}\n"
            for query in range(45)
            for document in range(0, 50, 4)
        )
    )
    at_once = evaluate(qrels, [path, other], bootstrap_samples=50)

    monkeypatch.setattr(
        inputs,
        "map_run_parts",
        lambda source, function: map_run_parts(source, function, smallest=0, part_bytes=500),
    )
    calls: list[str] = []
    monkeypatch.setattr(inputs, "run_frame", lambda name, *_, **__: calls.append(name))

    assert evaluate(qrels, [path, other], bootstrap_samples=50).to_dict() == at_once.to_dict()
    assert calls == []


def test_an_error_in_a_large_file_names_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.run"
    path.write_text(REGULAR + "z Q0 a 1 nan t\n")
    monkeypatch.setattr(inputs, "map_run_parts", lambda *given: map_run_parts(*given, smallest=0))

    with pytest.raises(FormatError, match=f"a.run, line {REGULAR.count(chr(10)) + 1}"):
        evaluate({"q1": {"d1": 1}}, [path])


WITHOUT_POLARS = """
import sys
sys.modules["polars"] = None
from evaluation.scoring.evaluating import evaluate
result = evaluate(sys.argv[1], [sys.argv[2]], k=1)
print(result.figure("plain", "recall", 1)["mean"])
"""


def test_large_plain_files_are_measured_without_loading_polars(tmp_path: Path) -> None:
    """Its import alone would cost a tenth of the time that a run of ten million lines takes."""
    document = "d" * 600
    qrels, run = tmp_path / "qrels.txt", tmp_path / "plain.run"
    qrels.write_text("".join(f"q{number} 0 {document} 1\n" for number in range(28_000)))
    run.write_text("".join(f"q{number} Q0 {document} 1 1.0 t\n" for number in range(28_000)))
    assert min(qrels.stat().st_size, run.stat().st_size) > parts.SMALLEST
    command = [sys.executable, "-c", WITHOUT_POLARS, str(qrels), str(run)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "1.0", found.stderr
