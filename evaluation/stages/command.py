"""`evaluate --stage1 RUN`: what a ranker loses, and what it never got. Heavy libraries wait until it runs."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.rendering.cells import Part
from evaluation.scoring.results import Evaluation
from evaluation.stages.ceiling import DEFAULT_K1, ceilings
from evaluation.stages.tables import ceiling_part


def add_stage_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("ranker and first stage")
    group.add_argument(
        "--stage1",
        metavar="RUN",
        type=Path,
        help="the run whose first documents RUN… order again: what they lose, and what they never got",
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
