"""`simulate`: files in, a table or the JSON of the contract out."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq1 0 d 0\nq2 0 x 0\n"
ALPHA = "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq1 Q0 e 3 7 t\nq2 Q0 x 1 9 t\n"
BETA = "q1 Q0 c 1 9 t\nq1 Q0 d 2 8 t\n"
Simulate = Callable[..., str]


@pytest.fixture
def simulate(tmp_path: Path) -> Simulate:
    """Call the command on the files above; what it wrote."""
    files = {"qrels.txt": QRELS, "alpha.run": ALPHA, "beta.run": BETA}
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def call(*options: str) -> str:
        out = StringIO()
        call_command(
            "simulate", *(str(tmp_path / name) for name in files), "--depth", "3", *options, stdout=out
        )
        return out.getvalue()

    return call


def as_json(text: str) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(text)
    return result


def test_json_has_found_and_effort_by_strategy(simulate: Simulate) -> None:
    result = as_json(simulate("--strategy", "depth", "rrf", "--format", "json"))
    assert list(result["strategies"]) == ["depth", "rrf"]
    # By depth: c, a, d, b. One of four is 10 % and 25 % rounded up, two are a half.
    assert result["strategies"]["depth"]["found"] == {"0.1": 0.5, "0.25": 0.5, "0.5": 1.0}
    assert result["strategies"]["depth"]["effort"] == {"0.8": 0.5, "0.9": 0.5}
    assert result["pool"] | {"relevant": 2, "queries": 1, "queries_left_out": 1} == result["pool"]
    assert (result["pool"]["pairs"], result["pool"]["labelled"]) == (6, 5)


def test_what_reading_leaves_out_is_written_to_stderr(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 a 1\nq1 0 b 0\nq1 0 c -1\n")
    (tmp_path / "alpha.run").write_text("q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq7 Q0 a 1 9 t\n")
    (tmp_path / "prior.run").write_text("q1 Q0 a 1 9 t\n")
    files = [str(tmp_path / name) for name in ("qrels.txt", "alpha.run")]
    prior = ("--prior", str(tmp_path / "prior.run"))
    errors = StringIO()
    call_command("simulate", *files, "--depth", "3", *prior, stdout=StringIO(), stderr=errors)

    assert errors.getvalue().splitlines() == [
        "qrels.txt: 1 row repeats a pair with the same relevance and was skipped.",
        "Labels below 0 (1) count as pooled, not judged.",
        "1 of the 2 queries of run alpha are among the queries with a label: “q7” here, “q1” there.",
        "1 of 2 pairs with a label has no prior score, such as query “q1”, document “b”.",
    ]


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        ("1 Q0 a 1 9 t\n", "“1” here, “q1”, “q2” there. Without “q” before the ids there, 100 % would match"),
        (
            "q1 Q0 A 1 9 t\n",
            "“A” here, “a”, “b”, “c” there. Ignoring upper and lower case, 100 % would match",
        ),
    ],
)
def test_ids_that_do_not_meet_have_examples(tmp_path: Path, run: str, sentence: str) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "alpha.run").write_text(run)
    files = [str(tmp_path / name) for name in ("qrels.txt", "alpha.run")]

    with pytest.raises(CommandError, match=sentence):
        call_command("simulate", *files, "--depth", "3")


def test_all_strategies_are_replayed_when_none_is_named(simulate: Simulate) -> None:
    from pooling.strategies import STRATEGIES

    assert set(as_json(simulate("--format", "json"))["strategies"]) == set(STRATEGIES)


def test_options_reach_the_replay(simulate: Simulate) -> None:
    options = ("--seeds", "2", "--noise", "0.1", "--batch", "3", "--min-relevance", "2", "--k", "1")
    result = as_json(simulate("--strategy", "maxmean", "--budget", "0.3", "1", "--format", "json", *options))
    assert result["settings"] == {"seeds": 2, "noise": 0.1, "batch": 3, "k": 1}
    assert list(result["strategies"]["maxmean"]["found"]) == ["0.3", "1"]
    assert result["pool"]["relevant"] == 1


def test_the_table_says_what_was_left_out(simulate: Simulate) -> None:
    lines = simulate("--strategy", "rrf", "sampling").splitlines()
    assert lines[0].split()[:4] == ["strategy", "found@0.1", "found@0.25", "found@0.5"]
    assert {line.split()[0] for line in lines[1:3]} == {"rrf", "sampling"}
    assert "2 runs to depth 3: 5 of 6 pairs have a label; the others (16.7 %) are left out." in lines


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--strategy", "dept"], "Unknown strategy 'dept'"),
        (["--budget", "2"], "'2' is not a share above 0"),
        (["--noise", "0.5"], "The noise is 0.5; it must be a share of wrong labels from 0 to below 0.5"),
        (["--noise", "-0.1"], "from 0 to below 0.5"),
        (["--noise", "some"], "from 0 to below 0.5"),
        (["--seeds", "0"], "'0' is not a whole number of 1 or more"),
        (["--min-relevance", "9"], "nothing to find"),
        (["--min-relevance", "0"], "min_relevance is 0; it must be a whole number of 1 or more"),
        (["--k", "4"], "K is 4; it must lie between 1 and the depth of the pool, 3"),
    ],
)
def test_wrong_options_end_in_one_sentence(simulate: Simulate, options: list[str], message: str) -> None:
    with pytest.raises(CommandError) as refused:
        simulate(*options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_wrong_file_is_named_with_its_line_and_exit_code_2(simulate: Simulate, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.run"
    wrong.write_text("q1 Q0 a 1 9 t\nq1 Q0 b 2\n")
    with pytest.raises(CommandError, match=r"wrong\.run, line 2") as refused:
        call_command("simulate", str(tmp_path / "qrels.txt"), str(wrong), "--depth", "3")
    assert refused.value.returncode == 2


def test_a_prior_is_what_strategies_start_from(simulate: Simulate, tmp_path: Path) -> None:
    """b, d and a stand first by the runs; the scores put c before b and d."""
    (tmp_path / "model.run").write_text("q1 Q0 c 1 0.9 m\nq1 Q0 a 2 0.8 m\nq1 Q0 b 3 0.1 m\n")
    arguments = "--strategy", "depth", "rrf", "--budget", "0.5", "--k", "1", "--format", "json"
    without, told = (
        as_json(simulate(*arguments)),
        as_json(simulate(*arguments, "--prior", str(tmp_path / "model.run"))),
    )
    assert told["strategies"]["rrf"]["found"]["0.5"] == 1.0
    # Two runs, whatever the votes: the recalls that labels are measured by are the same.
    assert told["pool"]["runs"] == without["pool"]["runs"] == 2
    assert told["all_knowing"] == without["all_knowing"]
    (tmp_path / "bad.run").write_text("q1 Q0 c\n")
    with pytest.raises(CommandError, match=r"bad\.run"):
        simulate(*arguments, "--prior", str(tmp_path / "bad.run"))
