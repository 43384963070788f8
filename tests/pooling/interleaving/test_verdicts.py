"""What clicks on interleaved lists say: exact tests, looks at any time, and files of both sides."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from pooling.interleaving.outcomes import anytime_p, confidence_sequence, e_value, first_outcomes, sign_test
from tests.testdata import DATA, needs_data


@needs_data
def test_e_values_and_confidence_sequences_are_the_reference_ones() -> None:
    expected = json.loads((DATA / "living/sequential/expected.json").read_text())
    for row in expected["e_values"]:
        wins, losses = row["wins"], row["losses"]
        assert e_value(wins, losses, 1) == pytest.approx(row["e_value_beta_1_1"])
        assert e_value(wins, losses, 10) == pytest.approx(row["e_value_beta_10_10"])
        assert anytime_p(wins, losses, 1) == pytest.approx(row["anytime_p"])
        assert sign_test(wins, losses) == pytest.approx(row["sign_test_p"])
    for row in expected["confidence_sequences_95"]:
        found = confidence_sequence(row["wins"], row["losses"], prior=1)
        assert found == pytest.approx((row["low"], row["high"]), abs=1e-9)


def test_looking_again_and_again_errs_rarely() -> None:
    rng = np.random.default_rng(3)
    looks, games, fooled, seen = range(50, 2001, 50), 400, 0, 0
    for _ in range(games):
        wins = np.cumsum(rng.integers(0, 2, looks[-1]))
        fooled += any(e_value(int(wins[n - 1]), n - int(wins[n - 1])) >= 20 for n in looks)
        better = np.cumsum(rng.random(looks[-1]) < 0.57)
        seen += any(e_value(int(better[n - 1]), n - int(better[n - 1])) >= 20 for n in looks)
    assert fooled / games < 0.05
    assert seen / games > 0.95


def test_no_wins_and_no_losses_refute_nothing() -> None:
    assert confidence_sequence(0, 0) == (0.0, 1.0)
    assert e_value(0, 0) == pytest.approx(1.0)
    low, high = confidence_sequence(30, 0)
    assert (0.5 < low < 1, high) == (True, 1.0)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, order in (("one", "abcd"), ("two", "badc")):
        rows = [
            f"q{q} Q0 {document} {at} {9 - at} t" for q in range(3) for at, document in enumerate(order, 1)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    return tmp_path


def ran(folder: Path, command: str, *options: str) -> str:
    output = io.StringIO()
    named = [str(folder / one) if "." in one else one for one in options]
    call_command(command, *named, stdout=output)
    return output.getvalue()


def served(folder: Path, *options: str) -> list[dict[str, object]]:
    ran(folder, "interleave", "one.run", "two.run", "--k", "4", "--output", "served.jsonl", *options)
    return [json.loads(line) for line in (folder / "served.jsonl").read_text().splitlines()]


def test_the_first_list_that_decides_is_a_users_outcome() -> None:
    user = np.array([0, 1, 0, 2, 0, 1, 1])
    ahead = np.array([0.0, -1, 1, 0, -5, 3, 3])
    assert first_outcomes(user, ahead).tolist() == [1, -1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("people", [100, 300, 1000])
def test_people_who_come_back_and_prefer_nothing_rarely_decide(people: int) -> None:
    """A hundred coin flips each, in any order, and a look at every tenth of them."""
    chance, fooled, games = np.random.default_rng(people), 0, 60
    for _ in range(games):
        user = np.concatenate([np.arange(people), chance.integers(0, people, people * 99)])
        ahead = chance.integers(-1, 2, len(user)).astype(float)
        outcomes = [
            first_outcomes(user[:look], ahead[:look]) for look in range(people, len(user), people * 10)
        ]
        fooled += any(e_value(int((one > 0).sum()), int((one < 0).sum())) >= 20 for one in outcomes)
    assert fooled / games <= 0.05


def told_of(folder: Path, rows: list[dict[str, object]]) -> dict[str, Any]:
    (folder / "clicks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told: dict[str, Any] = json.loads(
        ran(folder, "judge_interleaving", "served.jsonl", "clicks.jsonl", "--format", "json")
    )
    return told


def test_a_users_outcome_does_not_turn_over(files: Path) -> None:
    """Run one has a, c before b, d; the draft gives each of two neighbours to the run that has it first."""
    lists = [one["id"] for one in served(files, "--per-query", "2")]
    rows: list[dict[str, object]] = [
        {"served": lists[0], "user": "u", "clicks": []},
        {"served": lists[1], "user": "u", "clicks": ["a"]},
        *({"served": one, "user": "u", "clicks": ["b", "d"]} for one in lists),
    ]
    (pair,) = told_of(files, rows)["pairs"]
    assert (pair["wins"], pair["losses"]) == (1, 0)
    assert pair["difference"] < 0


def test_without_users_a_list_is_one(files: Path) -> None:
    first, second, *_ = (one["id"] for one in served(files))
    told = told_of(files, [{"served": one, "document_id": "a"} for one in [first] * 40 + [second]])
    assert (told["users"], told["impressions"], told["clicks"]) == (2, 2, 2)
    assert told["pairs"][0]["wins"] == 2


@pytest.mark.parametrize("method", ["team-draft", "optimized", "pairwise-preference"])
def test_users_who_click_what_one_run_has_first_prefer_it(files: Path, method: str) -> None:
    lists = served(files, "--method", method, "--per-query", "50", "--seed", "1")
    assert len(lists) == 150
    clicks = [{"served": one["id"], "user": f"u{at}", "clicks": ["a", "c"]} for at, one in enumerate(lists)]
    (files / "clicks.jsonl").write_text("\n".join(map(json.dumps, clicks)))
    told = json.loads(ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl", "--format", "json"))
    (pair,) = told["pairs"]
    assert pair["wins"] > pair["losses"]
    assert pair["difference_low"] > 0
    assert told["users"] == told["impressions"] == 150
    assert pair["verdict"].startswith("Too early to tell ")
    assert "wins of a" in ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl")


def test_a_decision_needs_a_thousand_credited_clicks(files: Path) -> None:
    lists = served(files, "--per-query", "400")
    wins = [{"served": one["id"], "user": str(at), "document_id": "a"} for at, one in enumerate(lists)]
    (files / "clicks.jsonl").write_text("\n".join(map(json.dumps, wins)))
    told = json.loads(ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl", "--format", "json"))
    assert told["credited_clicks"] == 1200
    assert told["pairs"][0]["verdict"] == "one is preferred to two."


def test_what_cannot_be_used_is_counted(files: Path) -> None:
    lists = served(files)
    rows = [
        {"served": lists[0]["id"], "user": "u1", "clicks": ["a", "zz"]},
        {"served": lists[0]["id"], "user": "u1", "clicks": ["a"]},
        {"served": "elsewhere", "user": "u1", "clicks": ["a"]},
        {"served": lists[1]["id"], "user": "u2", "clicks": []},
    ]
    (files / "clicks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told = json.loads(ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl", "--format", "json"))
    counts = {
        name: told[name] for name in ("impressions", "users", "clicks", "unknown_clicks", "unknown_lists")
    }
    assert counts == {"impressions": 2, "users": 2, "clicks": 1, "unknown_clicks": 1, "unknown_lists": 1}
    assert told["pairs"][0]["ties"] >= 1


def test_where_many_clicks_are_on_other_documents_the_output_begins_with_it(files: Path) -> None:
    lists = served(files, "--per-query", "30")
    rows: list[dict[str, object]] = [
        {"served": one["id"], "user": str(at), "clicks": ["a", "zz"] if at % 8 == 0 else ["a"]}
        for at, one in enumerate(lists)
    ]
    told = told_of(files, rows)
    assert (told["unknown_clicks"], told["unknown_example"]) == (12, ["zz", lists[0]["id"]])
    assert told["unknown_share"] == pytest.approx(12 / 102)
    assert told["pairs"][0]["verdict"] == (
        "Nothing can be said of one and two: too many clicks are on documents that their lists do not have."
    )
    assert told["clear_queries"] == []
    said = ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl")
    assert said.startswith("11.8 % of the clicks (12) are on documents that their lists do not have, such")

    fewer = [row | {"clicks": ["a"]} for row in rows[:30]] + rows[30:]
    told = told_of(files, fewer)
    assert len(told["clear_queries"]) == 3
    said = ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl")
    assert said.startswith("Too early to tell one from two: ")
    assert "8.2 % of the clicks (8) are on documents" in said


@pytest.mark.parametrize(("people", "has_interval"), [(1, False), (9, False), (10, True)])
def test_few_users_have_no_interval(files: Path, people: int, has_interval: bool) -> None:
    lists = served(files, "--per-query", "10")
    # Those without a credited click say nothing of how far users differ.
    rows: list[dict[str, object]] = [
        {"served": one["id"], "user": str(at), "clicks": ["a"] if at < people else []}
        for at, one in enumerate(lists)
    ]
    (pair,) = told_of(files, rows)["pairs"]
    assert pair["difference"] == 1
    assert (pair["difference_low"] is not None) is has_interval
    said = ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl")
    assert ("+1.000 (too few users for an interval)" in said) is not has_interval


def test_every_pair_is_named_where_it_is_too_early(files: Path) -> None:
    (files / "three.run").write_text((files / "one.run").read_text())
    ran(files, "interleave", "one.run", "two.run", "three.run", "--k", "4", "--output", "served.jsonl")
    rows: list[dict[str, object]] = [
        {"served": "q0/0", "user": "u", "clicks": ["a"]},
        {"served": "elsewhere", "clicks": []},
    ]
    told_of(files, rows)
    said = ran(files, "judge_interleaving", "served.jsonl", "clicks.jsonl")
    early = [line for line in said.splitlines() if line.startswith("Too early to tell ")]
    assert len(set(early)) == len(early) == 2
    assert early[0].endswith(": 1 credited click of the 1,000 that a decision needs.")
    assert "1 row of lists that were not served, left out." in said


def test_runs_that_agree_are_told(files: Path) -> None:
    (files / "two.run").write_text((files / "one.run").read_text())
    said = ran(files, "interleave", "one.run", "two.run", "--output", "served.jsonl")
    assert "In 3 of them the runs agree" in said


def test_long_lists_are_drafted_and_say_so(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(
        files,
        "interleave",
        "one.run",
        "two.run",
        "--k",
        "20",
        "--method",
        "optimized",
        "--output",
        "long.jsonl",
    )
    assert "these are team drafts" in capsys.readouterr().err
    assert json.loads((files / "long.jsonl").read_text().splitlines()[0])["method"] == "team-draft"


WRONG = {
    "two runs or more": ("interleave", "one.run", "--output", "out.jsonl"),
    "--k is 0": ("interleave", "one.run", "two.run", "--k", "0", "--output", "out.jsonl"),
    "--per-query is 0": ("interleave", "one.run", "two.run", "--per-query", "0", "--output", "out.jsonl"),
    "no query in common": ("interleave", "one.run", "other.run", "--output", "out.jsonl"),
    "this is not a list of interleave": ("judge_interleaving", "other.jsonl", "other.jsonl"),
    "No row of the clicks": ("judge_interleaving", "served.jsonl", "strange.jsonl"),
    "clicks is 'a', not a list": ("judge_interleaving", "served.jsonl", "text.jsonl"),
    "places.jsonl, line 2: the click 2 is not text. Write the id": (
        *("judge_interleaving", "served.jsonl", "places.jsonl"),
    ),
    "one.jsonl, line 1: the click 184 is not text. Write the id": (
        *("judge_interleaving", "served.jsonl", "one.jsonl"),
    ),
    "no served among the fields": ("judge_interleaving", "served.jsonl", "nameless.jsonl"),
}


@pytest.mark.parametrize("told", WRONG)
def test_wrong_input_is_one_sentence(files: Path, told: str) -> None:
    first = served(files)[0]["id"]
    (files / "other.run").write_text("q9 Q0 a 1 1 t\n")
    (files / "other.jsonl").write_text('{"id": "x"}\n')
    (files / "strange.jsonl").write_text('{"served": "x", "clicks": []}\n')
    (files / "text.jsonl").write_text(json.dumps({"served": first, "clicks": "a"}))
    (files / "places.jsonl").write_text(
        "\n".join(json.dumps({"served": first, "clicks": clicks}) for clicks in (["a"], ["b", 2, 3]))
    )
    (files / "one.jsonl").write_text(json.dumps({"served": first, "document_id": 184}))
    (files / "nameless.jsonl").write_text('{"user": "u"}\n')
    command, *options = WRONG[told]
    with pytest.raises(CommandError, match=told):
        ran(files, command, *options)
