"""`evaluate --pool`: what a pool's file lets one say, by the guide's example and beside a stored report."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from django.core.management import CommandError, call_command

import soundings
from pooling.pools.building import pool_lines
from tests.evaluation.cast import make_report
from tests.evaluation.comparisons.test_report_comparisons import audited_pool
from tests.world import World, run_text

# Ten documents a query: a to d were reached, e and f drawn of the six left.
POOL = "query_id\tdocument_id\tin_audit\tinclusion_probability\n" + "".join(
    f"{query}\t{name}\t{int(name in 'ef')}\t{probability}\n"
    for query in ("q1", "q2")
    for names, probability in (("abcd", 1.0), ("ef", 1 / 3), ("ghij", ""))
    for name in names
)


def qrels(query: str, relevant: str, not_relevant: str) -> str:
    rows = [(name, 1) for name in relevant] + [(name, 0) for name in not_relevant]
    return "".join(f"{query} 0 {name} {label}\n" for name, label in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pool.tsv").write_text(POOL)
    (tmp_path / "qrels.txt").write_text(qrels("q1", "ab", "cdef") + qrels("q2", "abe", "cdf"))
    for name, order in (("greedy", "abcdefghij"), ("other", "abecghfdij")):
        rankings = {query: list(order) for query in ("q1", "q2")}
        (tmp_path / f"{name}.run").write_text(run_text(rankings))
    return tmp_path


def printed(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    paths = [str(folder / name) for name in ("qrels.txt", "greedy.run", "other.run")]
    call_command("evaluate", *paths, "--pool", str(folder / "pool.tsv"), "--k", "3", *arguments)
    return capsys.readouterr().out


def estimates(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed(folder, capsys, "--format", "json", *arguments))["estimates"]
    return found


@pytest.mark.parametrize("zero_relevant", ["exclude", "zero"])
@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_a_pool_that_is_judged_whole_estimates_the_means_of_its_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], missing: str, zero_relevant: str
) -> None:
    queries = [f"q{number:02}" for number in range(24)]
    pairs = [(query, name) for query in queries for name in "abc"]
    rows = [f"{query}\t{name}\t{int(name == 'a')}\t1.0\n" for query, name in pairs]
    (tmp_path / "pool.tsv").write_text(POOL.partition("\n")[0] + "\n" + "".join(rows))
    relevant = {query: ("", "a", "ab")[number % 3] for number, query in enumerate(queries)}
    labels = [f"{query} 0 {name} {int(name in relevant[query])}\n" for query, name in pairs]
    (tmp_path / "qrels.txt").write_text("".join(labels))
    for name, answered in (("whole", queries), ("part", queries[6:])):
        (tmp_path / f"{name}.run").write_text(run_text({query: ["a", "c"] for query in answered}))
    paths = [str(tmp_path / name) for name in ("qrels.txt", "whole.run", "part.run")]
    asked = ["--missing", missing, "--zero-relevant", zero_relevant, "--k", "2", "--compare"]
    call_command("evaluate", *paths, "--pool", str(tmp_path / "pool.tsv"), *asked, "--format", "json")
    found = json.loads(capsys.readouterr().out)

    for run, figures in found["runs"].items():
        figure = figures["recall@2"]
        assert figure["estimate"]["value"] == pytest.approx(figure["mean"])
        micro = found["estimates"]["runs"][run]["recall@2"]["micro"]["value"]
        assert micro == pytest.approx(figure["micro"])
    # On the queries that both answer they find the same; unanswered, four of the six have relevant documents.
    (compared,) = found["comparisons"]
    assert compared["estimate"] == pytest.approx(0.0 if missing == "skip" else 4 / 24)


def test_the_audit_of_a_file_tells_what_recall_is_worth(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = estimates(folder, capsys)

    assert found["status"] == "estimated"
    # 4 certain and e, which stands for three; at most 8 more by P(Binomial(M, 1/3) ≤ 1) > 5 %.
    assert (found["relevant"]["value"], found["relevant"]["at_most_unseen"]) == (pytest.approx(7), 8)
    micro = found["runs"]["greedy"]["recall@3"]["micro"]
    assert [micro[name] for name in ("value", "low", "high")] == pytest.approx([4 / 7, 0.222, 0.8], abs=5e-4)
    text = printed(folder, capsys)
    assert "About 7 relevant documents in pool “pool.tsv”, of 2 queries (5 to 13)" in text
    assert "at most 8 were not (95 %, exact, one-sided)" in text
    assert "0.571 [0.222, 0.800]" in text


READERS: list[Callable[..., Any] | None] = [
    pl.read_csv,
    pd.read_csv,
    partial(pd.read_csv, dtype=str),
    lambda path, sep: pd.read_csv(path, sep=sep).convert_dtypes(),
    lambda path, sep: pd.read_csv(path, sep=sep).rename(columns={"query_id": "qid", "document_id": "docno"}),
    None,
]


def test_a_frame_or_file_of_the_pool_tells_in_python_what_its_file_tells_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.loads(printed(folder, capsys, "--format", "json"))
    paths = [folder / name for name in ("greedy.run", "other.run")]
    for reader in READERS:
        pool: Any = folder / "pool.tsv"
        if reader is not None:
            pool = reader(pool, **{"separator" if reader is pl.read_csv else "sep": "\t"})
        result = soundings.evaluate(folder / "qrels.txt", paths, k=3, pool=pool)

        found, answer = result.estimates(), result.answer()
        assert found is not None
        assert answer is not None
        for name in ("status", "queries", "sample", "relevant", "missing", "runs", "frame"):
            assert found[name] == told["estimates"][name], name  # type: ignore[literal-required]
        for name in ("basis", "recall", "low", "high", "run"):
            assert getattr(answer, name) == told["answer"][name], name
        if reader in (pl.read_csv, pd.read_csv):
            pairs = pool[["query_id", "document_id"]]
            bare = soundings.evaluate(folder / "qrels.txt", paths, k=3, pool=pairs)
            assert bare.estimates() is None
            assert bare.notes[-1].startswith(
                "The pool has no columns in_audit and inclusion_probability: bounds"
            )
        assert not any("The pool has no columns" in note for note in result.notes)
    assert "Estimated from the audit</h2>" in result.to_html(folder / "report.html").read_text()


@pytest.mark.parametrize("pool", ["with an audit", "without an audit", ""])
@pytest.mark.parametrize("k", [(), (1, 2, 3)])
def test_plain_values_in_python_are_what_the_command_prints(
    folder: Path, capsys: pytest.CaptureFixture[str], pool: str, k: tuple[int, ...]
) -> None:
    runs = [folder / name for name in ("greedy.run", "other.run")]
    if pool == "without an audit":
        header, *rows = (folder / "pool.tsv").read_text().splitlines()
        cells = [row.split("\t") for row in rows]
        chosen = ["\t".join((query, one, "0", "1.0")) for query, one, in_audit, _ in cells if in_audit == "0"]
        (folder / "pool.tsv").write_text("\n".join((header, *chosen)) + "\n")
    options = ["--pool", str(folder / "pool.tsv")] if pool else []
    options += ["--k", *map(str, k)] if k else []
    call_command("evaluate", str(folder / "qrels.txt"), *map(str, runs), *options, "--format", "json")
    told = json.loads(capsys.readouterr().out)
    named: dict[str, Any] = {"k": k} if k else {}
    result = soundings.evaluate(
        folder / "qrels.txt", runs, pool=folder / "pool.tsv" if pool else None, **named
    )
    assert json.loads(json.dumps(result.to_dict())) == told
    assert ("estimate" in told["runs"]["greedy"]["recall@3" if k else "recall@10"]) is bool(pool)


def test_the_first_picture_in_python_is_that_of_the_report(folder: Path) -> None:
    paths = [folder / name for name in ("greedy.run", "other.run")]
    result = soundings.evaluate(folder / "qrels.txt", paths, k=(2, 3), pool=folder / "pool.tsv")
    first, means = result.chart().to_dict(), result.chart("curve").to_dict()
    assert first == result.chart("estimated-curve").to_dict() != means
    drawn = [row["mean"] for rows in first["datasets"].values() for row in rows if "mean" in row]
    answer = result.answer()
    assert answer is not None
    assert answer.basis == "estimate"
    assert answer.recall in drawn
    bare = soundings.evaluate(folder / "qrels.txt", paths, k=(2, 3))
    assert bare.chart().to_dict() == bare.chart("curve").to_dict()


def test_a_frame_that_is_no_pool_is_refused_as_its_file_is(folder: Path) -> None:
    paths, pool = [folder / "greedy.run", folder / "other.run"], pd.read_csv(folder / "pool.tsv", sep="\t")
    for changes, problem in (
        ({"inclusion_probability": 2.0}, "the inclusion probability is '2'"),
        ({"in_audit": 2}, "1 or 0"),
    ):
        with pytest.raises(ValueError, match=problem):
            soundings.evaluate(folder / "qrels.txt", paths, k=3, pool=pool.assign(**changes)).estimates()


def test_the_confidence_of_the_command_and_of_its_file_reach_the_estimates(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "settings.toml").write_text("confidence = 0.6\n")
    by_file = estimates(folder, capsys, "--config", str(folder / "settings.toml"))

    assert by_file["relevant"]["confidence"] == 0.6
    assert by_file["relevant"]["at_most_unseen"] < 8
    assert by_file == estimates(folder, capsys, "--confidence", "0.6")


def test_the_pool_that_carries_does_not_depend_on_the_order_of_the_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # As much of it is answered, of as large a pool; but g was drawn, and e came some other way.
    (folder / "second.tsv").write_text(POOL.replace("e\t1", "E\t1").replace("g\t0\t", "g\t1\t0.333"))
    both = [str(folder / name) for name in ("pool.tsv", "second.tsv")]
    arguments = [str(folder / name) for name in ("qrels.txt", "greedy.run", "other.run")]
    (folder / "qrels.txt").write_text(qrels("q1", "ab", "cdefgE") + qrels("q2", "abe", "cdfgE"))
    told = []
    for one, other in (both, both[::-1]):
        call_command("evaluate", *arguments, "--pool", one, "--pool", other, "--k", "3", "--format", "json")
        told.append(json.loads(capsys.readouterr().out)["estimates"])
    assert told[0] == told[1]
    # g, in either query, is in the first pool and was not drawn there.
    words = "Not used, because they were not drawn: 2 labels. A pool's file does not tell"
    assert words in printed(folder, capsys)


def test_pairs_are_ranked_by_the_estimate_of_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pair,) = json.loads(printed(folder, capsys, "--format", "json", "--compare"))["comparisons"]

    assert pair["estimate"] == pytest.approx(-3 / 7)
    assert pair["leader"] == "other"


def test_a_query_whose_audit_lacks_a_label_is_not_estimated(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "qrels.txt").write_text(qrels("q1", "ab", "cde") + qrels("q2", "abe", "cdf"))

    assert estimates(folder, capsys)["queries"]["not_estimated_ids"] == ["q1"]
    assert "Not estimated, as their audit lacks labels: 1 query." in printed(folder, capsys)


def test_a_pool_without_an_audit_proposes_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = POOL.replace(f"1\t{1 / 3}", "0\t")
    (folder / "pool.tsv").write_text(bare)

    assert estimates(folder, capsys)["status"] == "no audit"
    assert "An audit share of 10 % would spend" in printed(folder, capsys)


def test_what_an_audit_could_have_drawn_is_not_outside_its_pool(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "query_id document_id in_audit inclusion_probability best_rank run_count frame_size\n"
    rows = ("a 0 1 1 1 10\n", "b 0 1 2 1 10\n", "f 1 0.125 6 1 10\n")
    text = header + "".join(f"{query} {row}" for query in ("q1", "q2") for row in rows)
    (folder / "pool.tsv").write_text(text.replace(" ", "\t"))
    (folder / "qrels.txt").write_text(qrels("q1", "ab", "f") + qrels("q2", "ab", "f"))
    (folder / "other.run").write_text(run_text({query: list("axybc") for query in ("q1", "q2")}))

    # The third place of the first run is c: not drawn, and spoken for by f.
    told = printed(folder, capsys)
    assert "in no pool" not in told
    # How deep that frame is, a file without the column `frame_reach` does not say.
    assert "of what the 20 documents hold that the audit was drawn from" in told

    (folder / "greedy.run").write_text(run_text({query: list("x") for query in ("q1", "q2")}))
    (folder / "other.run").write_text(run_text({query: list("baz") for query in ("q1", "q2")}))
    assert (
        "Up to 2 documents in the first 3 of other (33.3 %) may be in no pool and in nothing that its audit "
        "was drawn from." in printed(folder, capsys)
    )


def test_where_there_is_an_audit_no_rate_of_judged_documents_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "greedy.run").write_text(run_text({query: list("abx") for query in ("q1", "q2")}))
    (folder / "other.run").write_text(run_text({query: list("xyz") for query in ("q1", "q2")}))

    told = printed(folder, capsys)
    assert (
        "2 documents in the first 3 of greedy (33.3 %) are in no pool, so nobody could judge them.\n" in told
    )


def test_the_html_file_holds_the_estimates(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(folder, capsys, "--html", str(folder / "report.html")).splitlines()
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "Estimated from the audit" in told
    assert "Estimated from the audit</h2><div" in text
    assert next(line for line in told if "relevant documents in pool" in line) in text


def test_files_say_what_the_report_of_the_stored_pool_says(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = audited_pool(world)
    pool.name = "pool.tsv"  # estimates name what they rest on
    pool.save()
    stored = make_report(world).result
    (world.folder / "pool.tsv").write_text("".join(pool_lines(pool)))
    files = [str(world.folder / name) for name in ("labels.qrels", "alpha.run", "beta.run", "pool.tsv")]
    call_command("evaluate", *files[:3], "--pool", files[3], "--k", "1", "2", "3", "--format", "json")
    found = json.loads(capsys.readouterr().out)

    for name in ("prediction_powered", "audit_by_scores"):  # a file knows of no pre-labels
        assert stored["estimates"].pop(name) is None
    assert list(found["estimates"]) == list(stored["estimates"])
    for name in ("queries", "sample", "relevant", "missing", "runs", "sentence", "floor", "leave_one_out"):
        assert found["estimates"][name] == stored["estimates"][name], name
    assert found["runs"]["alpha"]["recall@3"]["bounds"] == stored["runs"]["alpha"]["recall@3"]["bounds"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "csv"], "CSV does not support estimates"),
        (["--format", "mlflow"], "MLflow does not support estimates"),
        (["--measure", "map"], "--pool estimates recall; name recall among the measures."),
    ],
)
def test_estimates_without_a_place_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    with pytest.raises(CommandError, match=words):
        printed(folder, capsys, *arguments)
