"""A pool made in parts of the queries is the pool made at once, to the last byte."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from pooling import command_line
from pooling.formats import name_of
from pooling.merging.choice import Choice
from pooling.merging.merging import build_pool
from pooling.merging.streaming import named_paths, pool_as_tsv, pool_in_parts, read_top
from tests.pooling.parted import write_runs

STRATEGIES = ("depth", "rrf", "combmnz", "borda", "hedge", "disagreement", "thompson", "learned", "sampling")


def in_turn(function: Callable, tasks: Sequence) -> Iterable:
    return map(function, tasks)


def at_once(paths: list[Path], choice: Choice) -> bytes:
    tops = {name_of(path): read_top(name_of(path), path, choice)[0].drop("position") for path in paths}
    return pool_as_tsv(build_pool(tops, finders=False, **asdict(choice))).encode()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("budget", [None, 40])
def test_parts_give_the_bytes_of_the_whole(tmp_path: Path, strategy: str, budget: int | None) -> None:
    paths = write_runs(tmp_path)
    audit_share = 0.0 if strategy == "sampling" else 0.2
    choice = Choice(
        5,
        depths={"run0": 9, "run1": 2},
        strategy=strategy,
        budget=budget,
        audit_share=audit_share,
        seed=3,
    )
    pieces, notes = pool_in_parts(named_paths(paths), choice, folder=tmp_path, engine=in_turn)
    assert b"".join(pieces) == at_once(paths, choice)
    assert notes == ["run0.run: 1 line that starts with # skipped as a comment."]


def test_the_command_pools_in_parts_when_the_tops_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(path) for path in write_runs(tmp_path)]
    call_command("pool", *paths, "--depth", "5")
    whole = capsys.readouterr()
    monkeypatch.setattr(command_line, "MOST_ROWS", 20)
    call_command("pool", *paths, "--depth", "5")
    assert capsys.readouterr() == whole
    call_command("pool", *paths, "--depth", "5", "--output", str(tmp_path / "pool.tsv"))
    assert (tmp_path / "pool.tsv").read_text() == whole.out


def test_an_error_in_a_part_leaves_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(path) for path in write_runs(tmp_path)]
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"query_id": "q", "document_id": "a\\tb", "score": 1}\n')
    monkeypatch.setattr(command_line, "MOST_ROWS", 0)
    with pytest.raises(CommandError, match="contains a tab"):
        call_command(
            "pool",
            *paths,
            str(tmp_path / "odd.jsonl"),
            "--depth",
            "5",
            "--output",
            str(tmp_path / "pool.tsv"),
        )
    assert not (tmp_path / "pool.tsv").exists()
