"""What an interleaving experiment leaves to a pool, and whether its lists came as they were drawn."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from pooling.interleaving.outcomes import first_picks
from pooling.interleaving.served import Impression, ServedList

GUIDE = Path(__file__).parents[3] / "templates" / "docs" / "interleaving.md"


def draft(name: str, team: str, query: str = "q1") -> ServedList:
    """Two documents, the first of them picked by `team`."""
    credits = ((1.0, 0.0), (0.0, 1.0)) if team == "a" else ((0.0, 1.0), (1.0, 0.0))
    return ServedList(name, query, ("a", "b"), "team-draft", ("x", "y"), credits, 0, 2)


def picked(a: int, b: int, users: int = 1) -> Any:
    """The test where so many lists have a's pick first and b's; so many users see each."""
    served = {
        f"{team}{n}": draft(f"{team}{n}", team) for team, many in (("a", a), ("b", b)) for n in range(many)
    }
    seen = [Impression(name, f"u{at}", (), 0) for name in served for at in range(users)]
    return first_picks(served, seen)


def test_first_picks_are_even_or_are_told() -> None:
    """χ² = (60 - 50)²/50 · 2 = 4, and 16 for 70 to 30."""
    assert picked(60, 40) == {
        "counts": {"a": 60, "b": 40},
        "lists": 100,
        "p": pytest.approx(0.0455, abs=1e-4),
        "balanced": True,
    }
    assert picked(70, 30)["p"] == pytest.approx(6.33e-5, rel=0.01)
    assert not picked(70, 30)["balanced"]


def test_a_list_that_many_users_saw_was_drawn_once() -> None:
    again = picked(7, 3, users=1000)
    assert again["counts"] == {"a": 7000, "b": 3000}
    assert again["p"] == pytest.approx(picked(7, 3)["p"])
    assert again["balanced"]


def test_only_drafts_that_tell_rankers_apart_are_tested() -> None:
    same = ServedList("s", "q1", ("a", "b"), "team-draft", ("x", "y"), ((1.0, 0.0), (0.0, 1.0)), 2, 2)
    other = ServedList("o", "q1", ("a", "b"), "optimized", ("x", "y"), ((1.0, 0.5), (0.5, 1.0)), 0, 2)
    assert first_picks({"s": same, "o": other}, [Impression(name, "u", (), 0) for name in "so"]) is None


def judged(folder: Path, served: list[dict[str, Any]], clicks: list[dict[str, Any]], *options: str) -> Any:
    for name, rows in (("served", served), ("clicks", clicks)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = io.StringIO()
    files = [str(folder / name) if "." in name else name for name in options]
    call_command(
        "judge_interleaving",
        str(folder / "served.jsonl"),
        str(folder / "clicks.jsonl"),
        *files,
        stdout=output,
    )
    return json.loads(output.getvalue()) if "json" in options else output.getvalue()


def line(name: str, query: str, ranking: str, credited: int = 2) -> dict[str, Any]:
    """A list of which a picked the first and the last place, b the others."""
    credits = [[1, *[0] * (len(ranking) - 1)], [0, *[1] * (len(ranking) - 1)]]
    return {
        "id": name,
        "query_id": query,
        "method": "team-draft",
        "runs": ["a", "b"],
        "ranking": list(ranking),
        "credits": credits,
        "credited": [0, credited],
    }


def test_queries_that_one_side_wins_clearly_are_written(tmp_path: Path) -> None:
    """16 to 4 users is four fifths of twenty; 15 to 4 are too few users, 16 to 5 too small a share."""
    users = {"q1": (16, 4), "q2": (15, 4), "q3": (16, 5), "q4": (3, 30)}
    served = [line(query, query, "xy") for query in users]
    clicks = [
        {"served": query, "user": f"{query}{document}{at}", "clicks": [document]}
        for query, (first, second) in users.items()
        for document, many in (("x", first), ("y", second))
        for at in range(many)
    ]
    clicks.append({"served": "q1", "user": "nobody", "clicks": []})
    found = judged(tmp_path, served, clicks, "--clear-queries", "clear.tsv", "--format", "json")
    assert [tuple(one.values()) for one in found["clear_queries"]] == [
        ("q1", "a", "b", 16, 4, 1),
        ("q4", "b", "a", 30, 3, 0),
    ]
    assert (tmp_path / "clear.tsv").read_text().splitlines() == [
        "query_id\twinner\tloser\twins\tlosses\tties",
        "q1\ta\tb\t16\t4\t1",
        "q4\tb\ta\t30\t3\t0",
    ]
    assert "On 2 queries one run wins four of five users, such as a on “q1” (16 to 4)" in judged(
        tmp_path, served, clicks
    )


def test_all_that_users_were_shown_is_a_run(tmp_path: Path) -> None:
    """z is first once; x is second twice, w once; y was never shown, since nobody saw its list."""
    served = [line("1", "q1", "zx"), line("2", "q1", "vx"), line("3", "q1", "vw"), line("4", "q2", "y")]
    clicks = [{"served": name, "user": "u", "clicks": []} for name in "123"]
    judged(tmp_path, served, clicks, "--run", "shown.run")
    rows = [row.split() for row in (tmp_path / "shown.run").read_text().splitlines()]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("q1", "v", "1"),
        ("q1", "z", "2"),
        ("q1", "x", "3"),
        ("q1", "w", "4"),
    ]


def test_nothing_is_decided_where_first_picks_are_uneven(tmp_path: Path) -> None:
    served = [line(f"{n}", "q1", "xy") for n in range(40)]
    clicks = [{"served": one["id"], "user": one["id"], "clicks": ["x"]} for one in served]
    found = judged(tmp_path, served, clicks, "--format", "json")
    assert found["first_picks"]["counts"] == {"a": 40, "b": 0}
    assert (
        found["pairs"][0]["verdict"] == "Nothing can be said of a and b: first picks were not drawn evenly."
    )
    assert "First picks of 40 lists: 40 by a, 0 by b." in judged(tmp_path, served, clicks)


def test_the_lines_of_the_guide_write_what_is_judged(tmp_path: Path) -> None:
    block = re.search(r"\n\n((?:    .*\n|\n)+)", GUIDE.read_text().partition("is\none call:")[2])
    assert block is not None
    names: dict[str, Any] = {}
    exec(re.sub(r"^    ", "", block[1], flags=re.MULTILINE), names)  # the guide's own lines
    with (tmp_path / "log.jsonl").open("w") as log:
        shown = [names["mixed"]("q1", f"u{n}", "1", list("abcd"), list("badc"), log) for n in (*range(60), 0)]
    served = [json.loads(row) for row in (tmp_path / "log.jsonl").read_text().splitlines()]
    clicks = [{"served": one, "user": f"u{n}", "clicks": ["a"]} for n, (one, _) in enumerate(shown[:60])]
    found = judged(tmp_path, served, clicks, "--format", "json")
    assert found["pairs"][0]["wins"] > found["pairs"][0]["losses"]
    assert found["first_picks"]["balanced"]


def test_two_lists_of_one_id_are_refused(tmp_path: Path) -> None:
    from django.core.management import CommandError

    with pytest.raises(CommandError, match="the list '1' is another than above"):
        judged(tmp_path, [line("1", "q1", "xy"), line("1", "q1", "yx")], [])
