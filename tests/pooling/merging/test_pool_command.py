"""The command `pool`: what it prints, and how it refuses."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

import soundings
from pooling import command_line
from pooling.options import count, share
from tests.testdata import DATA, needs_data

ROOT = Path(__file__).resolve().parents[3]
HEADER = "query_id\tdocument_id\tposition\trun_count\tbest_rank\trrf\tin_audit\tinclusion_probability\n"
ALPHA = "q2 Q0 a 1 9 alpha\nq10 Q0 a 1 3 alpha\nq10 Q0 b 2 2 alpha\nq10 Q0 c 3 1 alpha\n"
BETA = "q10 Q0 b 1 3 beta\nq10 Q0 d 2 2 beta\n"


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    for name, text in {"alpha": ALPHA, "beta": BETA}.items():
        (tmp_path / f"{name}.run").write_text(text)
    return [str(tmp_path / "alpha.run"), str(tmp_path / "beta.run")]


def printed(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    call_command("pool", *arguments)
    return capsys.readouterr().out


def manage(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "pool", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize("run", ["alpha.run", "named=alpha.run"])
def test_a_run_is_not_written_over(tmp_path: Path, runs: list[str], run: str) -> None:
    given = str(tmp_path / run) if "=" not in run else f"named={tmp_path}/alpha.run"
    with pytest.raises(CommandError, match=r"alpha\.run is read, so it is not written over"):
        call_command("pool", given, "--depth", "2", "--output", str(tmp_path / "alpha.run"))
    assert (tmp_path / "alpha.run").read_text() == ALPHA


def test_every_pair_is_a_row_sorted_by_query_then_position(
    runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(*runs, "--depth", "2", capsys=capsys) == (
        HEADER
        + f"q10\tb\t1\t2\t1\t{1 / 61 + 1 / 62!r}\t0\t1.0\n"
        + f"q10\ta\t2\t1\t1\t{1 / 61!r}\t0\t1.0\n"
        + f"q10\td\t3\t1\t2\t{1 / 62!r}\t0\t1.0\n"
        + f"q2\ta\t1\t1\t1\t{1 / 61!r}\t0\t1.0\n"
    )


def test_one_run_goes_deeper_than_the_others(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--depth", "1", "--run-depth", "beta=2", "--run-depth", "alpha=1")
    rows = [row.split("\t")[:2] for row in printed(*runs, *options, capsys=capsys).splitlines()[1:]]
    assert rows == [["q10", "b"], ["q10", "a"], ["q10", "d"], ["q2", "a"]]


def test_pairs_outside_the_budget_and_the_audit_have_no_probability(
    runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = printed(*runs, "--depth", "3", "--budget", "3", "--strategy", "depth", capsys=capsys).splitlines()
    assert [row.split("\t")[-1] for row in rows[1:]] == ["1.0", "1.0", "", "", "1.0"]


def test_the_audit_is_the_same_for_a_seed_and_within_the_budget(
    runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--depth", "3", "--budget", "4", "--audit-share", "0.5", "--seed", "3")
    first = printed(*runs, *options, capsys=capsys)
    assert first == printed(*reversed(runs), *options, capsys=capsys)
    rows = [row.split("\t") for row in first.splitlines()[1:]]
    assert sum(row[7] != "" for row in rows) == 4
    assert sum(row[6] == "1" for row in rows) >= 2


def test_the_output_file_holds_what_is_printed(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(*runs, "--depth", "2", capsys=capsys)
    target = tmp_path / "out" / "pool.tsv"
    target.parent.mkdir()
    assert printed(*runs, "--depth", "2", "--output", str(target), capsys=capsys) == ""
    assert target.read_text() == text
    assert [file.name for file in target.parent.iterdir()] == ["pool.tsv"]


def test_ties_by_rank_read_the_rank_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.run"
    path.write_text("q Q0 a 2 9 t\nq Q0 b 1 3 t\n")
    rows = printed(str(path), "--depth", "1", "--ties", "rank", capsys=capsys).splitlines()
    assert rows[1].startswith("q\tb\t1\t")


def test_notes_on_a_run_go_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.run"
    path.write_text("# made by hand\nq Q0 a 2 9 t\nq Q0 b 1 3 t\n")
    call_command("pool", str(path), "--depth", "1")
    captured = capsys.readouterr()
    assert "odd.run: 1 line that starts with #" in captured.err
    assert captured.out.startswith(HEADER)


def test_queries_that_a_small_budget_leaves_without_a_pair_are_counted(
    runs: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = (
        "The budget has fewer pairs than there are queries: 1 of 2 queries gets none, and no estimate is "
        "about it.\n"
    )
    with pytest.warns(UserWarning, match="1 of 2 queries gets none"):
        soundings.pool(runs, depth=2, budget=1)
    for most_rows in (command_line.MOST_ROWS, 1):  # then in parts
        monkeypatch.setattr(command_line, "MOST_ROWS", most_rows)
        call_command("pool", *runs, "--depth", "2", "--budget", "1")
        assert capsys.readouterr().err == sentence
        call_command("pool", *runs, "--depth", "2", "--budget", "2")
        assert not capsys.readouterr().err


def test_a_run_without_a_query_of_the_others_is_named(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "upper.run").write_text("Q1 Q0 a 1 9 t\n")
    (tmp_path / "lower.run").write_text("q1 Q0 a 1 9 t\n")
    of = [str(tmp_path / name) for name in ("upper.run", "lower.run")]
    sentence = (
        "The only one of the queries of run lower is not among the queries of the other runs: “q1” "
        "here, “Q1” there. Ignoring upper and lower case, 100 % would match.\n"
    )

    call_command("pool", *of, "--depth", "1")
    assert capsys.readouterr().err == sentence
    with pytest.warns(UserWarning, match="The only one of the queries of run lower"):
        soundings.pool(of, depth=1)
    call_command("pool", *runs, "--depth", "1")
    call_command("pool", of[0], "--depth", "1")
    assert not capsys.readouterr().err
    monkeypatch.setattr(command_line, "MOST_ROWS", 1)  # so that it is made in parts
    call_command("pool", *of, "--depth", "1")
    assert capsys.readouterr().err == sentence


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("q Q0 a 1 nan t\n", "bad.run, line 1: the score 'nan' is not a finite number"),
        ("", "bad.run: the file is empty"),
    ],
)
def test_a_broken_run_ends_the_command_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "bad.run"
    path.write_text(text)
    with pytest.raises(CommandError, match=problem) as caught:
        call_command("pool", str(path), "--depth", "1", "--output", str(tmp_path / "pool.tsv"))
    assert caught.value.returncode == 2
    assert not (tmp_path / "pool.tsv").exists()


def test_two_runs_of_one_name_are_refused(runs: list[str], tmp_path: Path) -> None:
    (tmp_path / "alpha.txt").write_text(ALPHA)
    with pytest.raises(CommandError, match="there is a run called 'alpha' already"):
        call_command("pool", *runs, str(tmp_path / "alpha.txt"), "--depth", "1")


def test_an_id_with_a_tab_does_not_break_the_table(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"query_id": "q", "document_id": "a\\tb", "score": 1}\n')
    with pytest.raises(CommandError, match="contains a tab"):
        call_command("pool", str(path), "--depth", "1")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--depth", "0"), "'0' is not a whole number of 1 or more"),
        (("--depth", "1", "--strategy", "best"), "Unknown strategy 'best'; known are"),
        (("--depth", "1", "--audit-share", "2"), "'2' is not a share between 0 and 1"),
        (("--depth", "1", "--run-depth", "beta"), "'beta' is not RUN=N with a whole number of 1 or more"),
        (("--depth", "1", "--run-depth", "b=2"), "There is a depth for “b”, which is not among the runs"),
        ((), "--depth"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(
    runs: list[str], arguments: tuple[str, ...], problem: str
) -> None:
    result = manage(*runs, *arguments)
    assert result.returncode == 2
    assert problem in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_one_line_and_exit_code_2(runs: list[str]) -> None:
    result = manage(*runs, "--depth", "1", "--output", "/dev/full")
    assert (result.returncode, result.stderr) == (2, "/dev/full: No space left on device.\n")


def test_a_write_that_fails_leaves_nothing_behind(
    runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "out" / "pool.tsv"
    target.parent.mkdir()
    target.write_text("the pool of yesterday")
    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(CommandError, match=r"pool\.tsv: No space left on device"):
        call_command("pool", *runs, "--depth", "1", "--output", str(target))
    assert [file.name for file in target.parent.iterdir()] == ["pool.tsv"]
    assert target.read_text() == "the pool of yesterday"


def test_numbers_of_arguments_are_read_strictly() -> None:
    assert (count("12"), share("0.25")) == (12, 0.25)


@needs_data
def test_the_pool_of_real_runs_has_the_reference_size(capsys: pytest.CaptureFixture[str]) -> None:
    runs = sorted(str(path) for path in (DATA / "dl19" / "runs").iterdir())
    assert printed(*runs, "--depth", "10", capsys=capsys).count("\n") == 1 + 1178
    assert printed(*runs, "--depth", "10", "--ties", "file", capsys=capsys).count("\n") == 1 + 1176
