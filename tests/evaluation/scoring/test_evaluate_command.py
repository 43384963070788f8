"""`evaluate` as people and scripts run it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from django.core.management import CommandError, call_command

import soundings

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\nq1 0 n 0\nq2 0 c 1\nq3 0 d 0\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 x 2 2 t\nq2 Q0 y 1 1 t\n")
    (tmp_path / "dense.run").write_text("q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n")
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "one", "metadata": {"tags": ["short"]}}\n'
        '{"_id": "q2", "text": "two", "metadata": {"tags": ["long"]}}\n'
        '{"_id": "q3", "text": "three"}\n'
    )
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> Any:
    """The object of `--format json` for both runs."""
    paths = [str(folder / name) for name in ("qrels.txt", "bm25.run", "dense.run")]
    call_command("evaluate", *paths, "--format", "json", *arguments)
    return json.loads(capsys.readouterr().out)


def refusal(folder: Path, *arguments: str) -> tuple[str, int]:
    with pytest.raises(CommandError) as error:
        call_command("evaluate", str(folder / "qrels.txt"), str(folder / "bm25.run"), *arguments)
    return str(error.value), error.value.returncode


def run_process(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "evaluate", "qrels.txt", "bm25.run", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_runs_are_called_by_their_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(capsys, folder)

    assert list(content["runs"]) == ["bm25", "dense"]
    assert content["runs"]["bm25"]["recall@10"]["mean"] == 0.25
    assert content["runs"]["dense"]["recall@10"]["mean"] == 1.0
    assert content["queries"]["scored"] == 2
    assert content["queries"]["without_relevant"] == 1


STRANGERS = {
    "upper case": ("q1 Q0 A 1 3 t\nq2 Q0 C 1 2 t\n", "Ignoring upper and lower case, 100 % would match."),
    "chunks": ("q1 Q0 a#1 1 3 t\nq2 Q0 c#2 1 2 t\n", "With `--collapse-chunks #`, 100 % would match."),
    "other queries": ("q1 Q0 c 1 3 t\nq2 Q0 a 1 2 t\n", "its documents have labels, but of other queries."),
    "nothing relevant": (
        "q1 Q0 n 1 3 t\n",
        "found none of the 3 relevant documents, and 1 document with a label.",
    ),
}


@pytest.mark.parametrize("case", STRANGERS)
def test_a_recall_of_0_never_stands_alone(
    folder: Path, capsys: pytest.CaptureFixture[str], case: str
) -> None:
    rows, sentence = STRANGERS[case]
    (folder / "new.run").write_text(rows)
    call_command("evaluate", str(folder / "qrels.txt"), str(folder / "new.run"))
    shown = capsys.readouterr()
    assert sentence in shown.out + shown.err


def test_a_shallow_run_that_finds_few_of_many_labels_is_read_once() -> None:
    reads = []

    def run() -> dict[str, list[str]]:
        reads.append(1)
        return {"q": ["d0", "d1"]}

    result = soundings.evaluate({"q": {f"d{number}": 1 for number in range(100)}}, {"a": run}, k=2)
    assert result.figure("a", "recall", 2)["mean"] == 0.02
    assert len(reads) == 1


def test_a_run_of_other_queries_is_refused_with_examples(folder: Path) -> None:
    (folder / "bm25.run").write_text("Q1 Q0 a 1 3 t\n")
    assert refusal(folder)[0] == (
        "Run bm25 has no query in common with the qrels. The only one of the queries of run bm25 is "
        "not among the queries of the qrels: “Q1” here, “q1”, “q2”, “q3” there. "
        "Ignoring upper and lower case, 100 % would match."
    )


def test_a_run_is_called_as_the_command_line_says(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(folder / "qrels.txt"), f"old={folder / 'bm25.run'}", f"new={folder / 'dense.run'}"]
    call_command("evaluate", *paths, "--format", "json")
    assert list(json.loads(capsys.readouterr().out)["runs"]) == ["old", "new"]


def test_the_output_begins_with_the_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = printed(capsys, folder)["answer"]
    assert (answer["k"], answer["run"], answer["rival"]["run"]) == (10, "dense", "bm25")

    paths = [str(folder / name) for name in ("qrels.txt", "bm25.run", "dense.run")]
    for form, begins in (("table", answer["sentence"]), ("markdown", f"**{answer['sentence']}**")):
        call_command("evaluate", *paths, "--format", form)
        assert capsys.readouterr().out.startswith(f"{begins}\n")
    call_command("evaluate", *paths, "--format", "latex", "--html", str(folder / "report.html"))
    assert answer["sentence"] not in capsys.readouterr().out
    assert answer["sentence"] in (folder / "report.html").read_text()


def test_one_place_and_one_query_are_told_in_the_singular(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "bm25.run").open("a") as run:
        run.write("q99 Q0 a 1 1 t\n")
    paths = [str(folder / name) for name in ("qrels.txt", "bm25.run", "dense.run")]
    call_command("evaluate", *paths, "--k", "1")
    told = capsys.readouterr().out
    assert "of its first places judged" in told
    assert "bm25: ignored 1 query without a label." in told


def test_complete_labels_leave_nothing_open_and_the_output_says_who_declared_them(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = printed(capsys, folder, "--k", "2")["runs"]["bm25"]
    declared = printed(capsys, folder, "--k", "2", "--complete")
    found = declared["runs"]["bm25"]

    assert usual["judged@2"]["mean_of_retrieved"] < found["judged@2"]["mean_of_retrieved"] == 1
    assert usual["recall@2"]["bounds"][1] > usual["recall@2"]["mean"]
    assert found["recall@2"]["bounds"] == [found["recall@2"]["mean"]] * 2
    assert found["recall@2"]["mean"] == usual["recall@2"]["mean"]
    words = "unlisted documents count as not relevant, as declared by the person who ran this evaluation"
    assert words in found["recall@2"]["line"]
    assert words not in usual["recall@2"]["line"]
    assert declared["conventions"]["complete"] == words


def test_a_figure_by_complete_labels_does_not_depend_on_the_other_runs() -> None:
    qrels = {"q1": dict.fromkeys("abc", 1)}
    run = {"q1": {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0}}
    other = {"q1": {"y": 2.0, "z": 1.0}}
    for complete in (True, {"q1"}):
        measured = {"measures": ["bpref", "infap", "judged"], "complete": complete}
        alone = soundings.evaluate(qrels, {"run": run}, 3, **measured)
        both = soundings.evaluate(qrels, {"run": run, "other": other}, 3, **measured)
        # One of the many that are not relevant stands above all three: 1 - 1/3 each.
        assert alone.figure("run", "bpref")["mean"] == pytest.approx(2 / 3)
        assert alone.figures_of("run") == both.figures_of("run")


def test_chunks_and_pools_can_have_complete_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bm25.run").write_text("q1 Q0 a#1 1 3 t\nq1 Q0 x#2 2 2 t\nq2 Q0 y#1 1 1 t\n")
    header = "query_id,document_id,in_audit,inclusion_probability"
    (folder / "pool.csv").write_text(f"{header}\nq1,z,0,1\nq1,a,0,1\n")
    pool = ["--pool", str(folder / "pool.csv")]
    found = printed(capsys, folder, "--k", "2", "--complete", "--collapse-chunks", "#", *pool)
    assert found["runs"]["bm25"]["judged@2"]["mean_of_retrieved"] == 1


def test_without_labels_none_can_be_complete(folder: Path) -> None:
    assert (
        "--complete needs labels" in refusal(folder, "--complete", "--against", str(folder / "dense.run"))[0]
    )


def test_the_margin_is_refused_out_of_bounds(folder: Path) -> None:
    assert refusal(folder, "--margin", "2")[0].startswith("margin is 2.0. Write a number from 0 to 0.5")


def test_the_defaults_are_seven_cutoffs_and_five_measures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(printed(capsys, folder)["runs"]["bm25"]) == [
        f"{measure}@{k}"
        for measure in ("recall", "precision", "f1", "success", "judged")
        for k in (1, 3, 5, 10, 20, 50, 100)
    ]


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["--k", "1", "2", "--measure", "recall"], ["recall@1", "recall@2", "judged@1", "judged@2"]),
        (["--k", "1,2", "--measure", "recall"], ["recall@1", "recall@2", "judged@1", "judged@2"]),
        (["--k", "1", "--k", "2", "--measure", "judged"], ["judged@1", "judged@2"]),
        (["--measure", "recall@7", "success@1"], ["recall@7", "success@1", "judged@1", "judged@7"]),
        (["--measure", "map", "map@5", "rprec"], ["map", "map@5", "rprecision", "judged@5"]),
        # Over the whole run only: the coverage of the deepest K goes along.
        (["--measure", "mrr", "bpref", "infap", "--k", "3", "9"], ["mrr", "bpref", "infap", "judged@9"]),
    ],
)
def test_cutoffs_and_measures(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], keys: list[str]
) -> None:
    assert list(printed(capsys, folder, *arguments)["runs"]["bm25"]) == keys


def test_a_flag_wins_over_the_preset(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conventions = printed(capsys, folder, "--preset", "trec_eval-9", "--missing", "zero")["conventions"]

    assert (conventions["scores"], conventions["missing"], conventions["zero_relevant"]) == (
        "float32",
        "zero",
        "zero",
    )


def test_a_tag_restricts_the_queries(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(
        capsys, folder, "--queries", str(folder / "queries.jsonl"), "--tag", "short", "--k", "10"
    )

    assert content["queries"]["scored"] == 1
    assert content["runs"]["bm25"]["recall@10"]["mean"] == 0.5


def test_a_canary_of_one_tag_fails_the_build_by_option_and_by_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tagged = ["--queries", str(folder / "queries.jsonl"), "--tag", "short"]
    (folder / "canary.toml").write_text('[thresholds]\n"recall@10" = 0.7\n')
    for asked in (["--fail-under", "recall@10=0.7"], ["--config", str(folder / "canary.toml")]):
        with pytest.raises(SystemExit) as ended:
            printed(capsys, folder, *tagged, *asked)
        assert ended.value.code == 1
        assert (
            capsys.readouterr().err
            == "bm25: recall@10 is 0.5000 over 1 query by the labels at hand, below 0.7.\n"
        )


@pytest.mark.parametrize(("threshold", "passes"), [("recall@10=0.25", True), ("recall@10=0.26", False)])
def test_fail_under_holds_for_every_run(
    folder: Path, capsys: pytest.CaptureFixture[str], threshold: str, passes: bool
) -> None:
    if passes:
        printed(capsys, folder, "--fail-under", "recall@10=0.1", "--fail-under", threshold)
        return
    with pytest.raises(SystemExit) as ended:
        printed(capsys, folder, "--fail-under", "recall@10=0.1", "--fail-under", threshold)

    assert ended.value.code == 1
    assert (
        capsys.readouterr().err
        == "bm25: recall@10 is 0.2500 over 2 queries by the labels at hand, below 0.26.\n"
    )


def test_fail_under_measures_what_it_needs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(capsys, folder, "--k", "1", "--fail-under", "precision@4=0")

    assert "precision@4" in content["runs"]["bm25"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_per_query_values_are_written_in_the_format_of_the_suffix(
    folder: Path, capsys: pytest.CaptureFixture[str], suffix: str
) -> None:
    path = folder / f"values.{suffix}"
    printed(capsys, folder, "--k", "2", "--measure", "recall", "--per-query", str(path))
    readers = {
        "csv": pl.read_csv,
        "tsv": lambda source: pl.read_csv(source, separator="\t"),
        "json": pl.read_json,
        "jsonl": pl.read_ndjson,
        "parquet": pl.read_parquet,
    }

    rows = readers[suffix](path).filter(measure="recall").rows()  # type: ignore[operator]

    assert rows == [
        ("bm25", "q1", "recall", 2, 0.5),
        ("bm25", "q2", "recall", 2, 0.0),
        ("bm25", "q3", "recall", 2, None),
        ("dense", "q1", "recall", 2, 1.0),
        ("dense", "q2", "recall", 2, 1.0),
        ("dense", "q3", "recall", 2, None),
    ]
    assert {found.name for found in folder.iterdir() if found.name.startswith(".")} == set()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--measure", "ndgc"], "There is no measure 'ndgc'"),
        (["--per-query", "values.xlsx"], "values.xlsx ends in none of"),
        (["--per-query", "no/such/folder/values.csv"], "There is no folder"),
        (["--tag", "short"], "belong together"),
        (["--min-relevance", "0"], "min_relevance is 0"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(folder: Path, arguments: list[str], sentence: str) -> None:
    message, code = refusal(folder, *arguments)

    assert sentence in message
    assert "\n" not in message
    assert code == 2


def test_a_tag_that_no_query_has_is_refused(folder: Path) -> None:
    message, code = refusal(folder, "--queries", str(folder / "queries.jsonl"), "--tag", "rare")

    assert message.startswith("No query has the tag rare; the tags are ")
    assert code == 2


@pytest.mark.parametrize(
    ("arguments", "code", "on_stderr"),
    [
        (["--k", "1"], 0, ""),
        (["--k", "0"], 2, "'0' is no cutoff"),
        (["--fail-under", "recall=0.5"], 2, "no threshold"),
        (
            ["--fail-under", "recall@1=1"],
            1,
            "bm25: recall@1 is 0.2500 over 2 queries by the labels at hand, below 1.",
        ),
    ],
)
def test_the_process_ends_with_the_code_scripts_rely_on(
    folder: Path, arguments: list[str], code: int, on_stderr: str
) -> None:
    ended = run_process(folder, *arguments)

    assert ended.returncode == code
    assert on_stderr in ended.stderr
    assert bool(ended.stdout) == (code != 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--k", "0"], "argument --k: '0' is no cutoff; write whole numbers of at least 1."),
        (["--format", "xml"], "argument --format: invalid choice: 'xml'"),
        (["--tie", "none"], "argument --ties: invalid choice: 'none'"),
        (["--unheard-of"], "unrecognized arguments: --unheard-of"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(folder: Path, arguments: list[str], said: str) -> None:
    ended = run_process(folder, *arguments)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"manage.py evaluate: {said}")
    assert ended.stderr.count("\n") == 1


def test_options_may_stand_between_labels_and_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / name) for name in ("qrels.txt", "bm25.run", "dense.run")]
    call_command("evaluate", *files, "--min-relevance", "1")
    told = capsys.readouterr().out
    call_command("evaluate", files[0], "--min-relevance", "1", *files[1:])
    between = capsys.readouterr().out
    ended = run_process(folder, "--min-relevance", "1", "dense.run")

    assert between == told
    assert (ended.returncode, ended.stdout) == (0, told)


def test_a_broken_file_is_one_line_and_exit_code_2(folder: Path) -> None:
    (folder / "bm25.run").write_text("q1 Q0 a 1 3\n")

    ended = run_process(folder)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("bm25.run, line 1: 5 fields instead of 6.")
    assert ended.stderr.count("\n") == 1


def test_options_of_every_command_are_understood(folder: Path) -> None:
    assert run_process(folder, "--traceback").stdout == run_process(folder).stdout != ""


def test_what_the_readers_notice_goes_to_stderr(folder: Path) -> None:
    (folder / "bm25.run").write_text("# made today\nq1 Q0 a 1 2 t\nq1 Q0 x 2 3 t\n")

    ended = run_process(folder)

    assert ended.returncode == 0
    assert ended.stderr == (
        "bm25.run: 1 line that starts with # skipped as a comment.\n"
        "bm25.run: 1 row has a higher score than the row before by rank: the scores are followed, "
        "not the ranks.\n"
    )


def test_help_loads_none_of_the_heavy_libraries() -> None:
    script = (
        "import sys; from soundings.cli import main; sys.argv = ['manage.py', 'evaluate', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'polars', 'pandas', 'numpy', 'scipy', 'altair', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )

    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True)


def test_a_threshold_can_be_on_a_measure_over_the_whole_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, folder, "--fail-under", "map=0.25")
    with pytest.raises(SystemExit) as ended:
        call_command(
            "evaluate",
            *(str(folder / name) for name in ("qrels.txt", "bm25.run")),
            "--fail-under",
            "map=0.26",
        )

    assert ended.value.code == 1
    assert "bm25: map is 0.2500 over 2 queries by the labels at hand, below 0.26." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("suffix", "read"), [(".csv", pl.read_csv), (".jsonl", pl.read_ndjson), (".parquet", pl.read_parquet)]
)
def test_values_over_the_whole_run_have_no_k_in_the_file_of_queries(
    folder: Path, capsys: pytest.CaptureFixture[str], suffix: str, read: Any
) -> None:
    path = folder / f"values{suffix}"
    printed(capsys, folder, "--measure", "map", "ndcg@2", "--per-query", str(path))

    rows = (
        read(path).filter(pl.col("run") == "bm25", pl.col("query_id") == "q1").select("measure", "k", "value")
    )
    assert rows.rows()[0] == ("map", None, 0.5)
    assert rows.rows()[1][:2] == ("ndcg", 2)


def test_runs_are_compared_at_each_k_when_asked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "comparisons" not in printed(capsys, folder)
    made = printed(capsys, folder, "--k", "1", "2", "--compare", "--test", "t", "--correction", "none")

    assert [one["k"] for one in made["comparisons"]] == [1, 2]
    found = made["comparisons"][1]
    # q1: 1/2 against 2/2; q2: 0 against 1; both of bm25's unjudged documents can make it even.
    assert (found["first"], found["second"], found["difference"]) == ("bm25", "dense", -0.75)
    assert (found["bounds"], found["leader"], found["open_pairs"]) == ([-0.75, 0.0], None, 2)
    assert (found["test"], found["correction"]) == ("t", "none")


def test_the_table_of_comparisons_has_a_verdict_for_each_pair(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(folder / name) for name in ("qrels.txt", "bm25.run", "dense.run")]
    call_command("evaluate", *paths, "--k", "2", "--compare")
    text = capsys.readouterr().out
    for words in (
        "bm25 - dense",
        "not ranked",
        "judging the 2 that only one",
        "do not compare their raw values",
        "80 % power",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--compare"], "needs two runs"),
        (["dense.run", "--compare", "--measure", "map"], "name recall"),
        (["dense.run", "--compare", "--format", "csv"], "no place in CSV"),
        (["dense.run", "--compare", "--format", "mlflow"], "Comparisons have no place in MLflow"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(folder)
    assert words in refusal(folder, *arguments)[0]


def test_tags_are_told_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    queries = ("--queries", str(folder / "queries.jsonl"))
    strata = printed(capsys, folder, *queries, "--by-tag", "short", "long", "--k", "10")["strata"]

    assert strata["short"]["queries"]["scored"] == 1
    assert [strata[tag]["runs"]["bm25"]["recall@10"]["mean"] for tag in ("short", "long")] == [0.5, 0]
    kept = printed(capsys, folder, *queries, "--by-tag", "long", "--tag", "short", "--k", "10")
    assert (kept["queries"]["scored"], kept["strata"]["long"]["queries"]["scored"]) == (1, 0)


def test_few_queries_and_trade_offs_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(folder / name) for name in ("qrels.txt", "bm25.run", "dense.run")]
    call_command("evaluate", *paths, "--minimum-queries", "9", "--trade-offs")
    out, err = capsys.readouterr()

    assert "fewer than the minimum of 9" in out
    assert "fewer than the minimum of 9" in err
    assert "dense: the least K whose mean recall reaches 0.5: 1, 0.8: 2" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--confidence", "95"], "Write a share from 0.5 to 0.999, such as 0.95."),
        (["--by-tag", "short"], "name it with --queries FILE"),
        (["--samples", "0"], "Write a whole number from 1 to 100,000."),
        (["--minimum-queries", "0"], "Write a whole number"),
        (["--config", "nowhere.toml"], "nowhere.toml: No such file"),
        (["--trade-offs", "--format", "csv"], "CSV does not support trade-offs"),
        (["--trade-offs", "--format", "mlflow"], "MLflow does not support trade-offs"),
        (
            ["--by-tag", "short", "--queries", "queries.jsonl", "--format", "mlflow"],
            "MLflow does not support tags",
        ),
        (
            ["--by", "relevant", "--format", "mlflow"],
            "have no place in MLflow; choose table, json, markdown or latex.",
        ),
    ],
)
def test_wrong_settings_are_one_line_and_exit_code_2(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.chdir(folder)
    message, code = refusal(folder, *arguments)

    assert sentence in message
    assert ("\n" in message, code) == (False, 2)


def test_a_tag_to_tell_apart_that_no_query_has_is_refused(folder: Path) -> None:
    message, code = refusal(folder, "--queries", str(folder / "queries.jsonl"), "--by-tag", "rare")

    assert (message, code) == ("No query has the tag rare; the tags are short, long (metadata.tags).", 2)
