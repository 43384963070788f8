"""Arguments and output of `simulate QRELS RUN… --depth N`, without Django."""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from evaluation.plans.replaying import BUDGETS, noise_problem, read_labelled_pool
from evaluation.plans.simulation import as_table, simulate
from pooling.interface.terminal import Writer, progress_bar
from pooling.options import add_file, count
from pooling.ranking.ranking import SCORES, TIES
from pooling.strategies import STRATEGIES, strategy_named

HELP = "Replay strategies on labels you already have: how soon would each have found what is relevant?"


def add_arguments(parser: ArgumentParser) -> None:
    add_file(parser, "qrels", "the labels", metavar="QRELS")
    add_file(parser, "runs", "runs; NAME=FILE names one", metavar="RUN", nargs="+")
    parser.add_argument("--depth", metavar="N", type=count, required=True, help="ranks taken of each run")
    parser.add_argument(
        "--strategy", metavar="S", nargs="+", action="extend", help="which ones (default: all)"
    )
    parser.add_argument(
        "--budget",
        metavar="F",
        nargs="+",
        action="extend",
        type=budget,
        help="shares of each query's pool, rounded up (default: 0.1 0.25 0.5)",
    )
    parser.add_argument("--seeds", metavar="N", type=count, default=1, help="repetitions where chance plays")
    parser.add_argument("--noise", metavar="F", type=noise, default=0.0, help="share of wrong labels")
    parser.add_argument("--batch", metavar="N", type=count, default=1, help="labels told at a time (1)")
    parser.add_argument("--min-relevance", metavar="N", type=int, default=1, help="relevant from here (1)")
    add_file(parser, "--prior", "scores of a model, as a run, to start from")
    parser.add_argument("--k", metavar="N", type=count, help="cutoff of the recalls (default: the depth)")
    parser.add_argument("--ties", choices=TIES, default="docid", help="what settles equal scores")
    parser.add_argument("--scores", choices=SCORES, default="float64", help="precision of comparisons")
    parser.add_argument("--format", choices=("table", "json"), default="table")


def run(options: Mapping[str, Any], output: Writer, errors: Writer) -> int:
    strategies = list(dict.fromkeys(options["strategy"] or STRATEGIES))
    for name in strategies:
        strategy_named(name)
    given = {name: options[name] for name in ("seeds", "noise", "batch", "k")}
    budgets = sorted(set(options["budget"] or BUDGETS))
    of_files = {name: options[name] for name in ("depth", "min_relevance", "ties", "scores", "prior")}
    pool = read_labelled_pool(options["qrels"], options["runs"], **of_files)
    for note in pool.notes:
        errors.write(f"{note}\n")
    with progress_bar("Replaying") as progress:
        result = simulate(pool, strategies, budgets=budgets, progress=progress, **given)
    if options["format"] == "json":
        output.write(f"{json.dumps(result.to_dict(), indent=2)}\n")
    else:
        output.write(as_table(result))
    return 0


def budget(text: str) -> float:
    value = number(text)
    if not 0 < value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share above 0 and up to 1")
    return value


def noise(text: str) -> float:
    value = number(text)
    if problem := noise_problem(value):
        raise ArgumentTypeError(problem)
    return value


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
