"""`evaluate --by THING`, which groups of queries fail, and `evaluate --stage1 RUN`, what a ranker loses, and
what it never got. Heavy libraries wait until they run."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from evaluation.failures.stage_ceiling import DEFAULT_K1, Ceilings, ceilings
from evaluation.failures.table import breakdown_of_result, breakdown_part
from evaluation.rendering.cells import Cells, Part
from evaluation.scoring.results import Evaluation
from evaluation.scoring.wording import decimal
from pooling.formats.wording import counted
from pooling.options import add_file

# The ceilings of rankers as a table.


HEADER = ("run", "K1", "K", "found", "lost", "missed", "ceiling", "bounds", "best", "nDCG", "its ceiling")


def ceiling_part(result: Ceilings) -> Part:
    """For `evaluation.rendering.formats.render`."""
    return Part("ceilings", ceiling_cells(result), result.to_dict())


def ceiling_cells(result: Ceilings) -> Cells:
    """One row per ranker, K1 and K."""
    rows = tuple(
        (
            ranker,
            str(k1),
            str(k),
            *(decimal(at.recall[part]) for part in ("found", "lost", "missed", "ceiling")),
            f"{decimal(at.recall['low'])}–{decimal(at.recall['high'])}",
            decimal(at.recall["best"]),
            decimal(at.ndcg["found"]),
            decimal(at.ndcg["ceiling"]),
        )
        for ranker, by_k1 in result.runs.items()
        for k1, one in by_k1.items()
        for k, at in one.by_k.items()
    )
    return Cells(HEADER, rows, tuple(_notes(result)), f"Ceilings of rankers over {result.stage1}")


def _notes(result: Ceilings) -> list[str]:
    queries = counted(result.queries, "query") + (
        ", weighted as the other means" if result.is_weighted else ""
    )
    notes = [
        f"Recall over {queries}: found by the run among the first K1 documents of "
        f"{result.stage1}, lost by it there, and missed by {result.stage1}; the three add up to 1.",
        "ceiling: what the best order of the same K1 documents finds; bounds: whatever the labels of the "
        "unjudged documents; best: what K places can hold.",
    ]
    for ranker, by_k1 in result.runs.items():
        elsewhere = [f"{one.elsewhere:,} at K1 = {k1}" for k1, one in by_k1.items() if one.elsewhere]
        if elsewhere:
            deepest = max(k for one in by_k1.values() for k in one.by_k)
            notes.append(
                f"{ranker}: documents in its first {deepest} that {result.stage1} does not hand on, left out "
                f"of its order: {', '.join(elsewhere)}."
            )
    return notes


def add_stage_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("ranker and first stage")
    add_file(
        group,
        "--stage1",
        "the run whose first documents RUN… order again: what they lose, and what they never got",
        metavar="RUN",
    )
    group.add_argument(
        "--k1",
        metavar="N",
        nargs="+",
        action="extend",
        type=int,
        help="how many documents of --stage1 are handed on (10 20 50 100)",
    )


def stage_parts(result: Evaluation, options: Mapping[str, Any]) -> list[Part]:
    """The ceilings that the options ask for; nothing without --stage1."""
    if options["stage1"] is None:
        if options["k1"] is not None:
            raise ValueError("--k1 belongs to --stage1 RUN; name the run of the first stage.")
        return []

    return [ceiling_part(ceilings(result, [options["stage1"]], options["k1"] or DEFAULT_K1))]


def add_breakdown_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("where it fails")
    group.add_argument(
        "--by",
        metavar="THING",
        help="break down by tag, relevant (how many documents are), weight (how often a query is asked), or "
        "a key of the metadata in --queries FILE",
    )
    group.add_argument("--by-measure", metavar="M", help="of which measure, for instance recall@10")
    group.add_argument(
        "--by-threshold", metavar="SHARE", type=float, help="the share of queries with at least this (0.5)"
    )


def breakdown_parts(result: Evaluation, options: Mapping[str, Any]) -> list[Part]:
    """The breakdown that the options ask for; nothing without `--by`."""
    if options["by"] is None:
        if options["by_measure"] is not None or options["by_threshold"] is not None:
            raise ValueError("--by-measure and --by-threshold belong to --by; name it too.")
        return []

    names = {"by": "by", "queries": "queries", "measure": "by_measure", "threshold": "by_threshold"}
    choice = {name: options[option] for name, option in names.items()}
    return [breakdown_part(breakdown_of_result(result, **choice))]
