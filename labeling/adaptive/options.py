"""Options of an adaptive queue's budget and end, alike for pages, calls and commands."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.adaptive.prior_scores import check_prior
from labeling.models import Selection
from pooling.interface.problems import InputError, refuse_all
from pooling.models import Pool
from pooling.options import MOST, add_option_arguments, chosen, options_of, problems_of, setting
from pooling.strategies import STRATEGIES

USUAL_LOOKS = 4
MOST_LOOKS = 20


@dataclass(frozen=True)
class AdaptiveOptions:
    """budget: pairs in all (None: the pool's, else every pair), spread by `budget_rule` with `budget_floor`
    pairs for each query. With `stop_missing`, a share of the relevant documents, a query (or the queue, as
    `stop_over` says) stops when the audit says that at most so much is missing, at one of `stop_looks` looks.
    `prior` is the number of the model whose scores the strategy starts from; None: the runs alone."""

    budget: int | None = setting(
        None,
        "Budget: pairs in all",
        kind=int,
        about="Pairs in all.",
        empty="the pool's budget, or every pair",
        metavar="B",
        minimum=1,
        refusal=f"A budget is a number of pairs from 1 to {MOST:,}.",
    )
    budget_rule: str = setting(
        Selection.Rule.EQUAL,
        "The budget is spent on",
        about=f"How the budget is spent: {', '.join(Selection.Rule.values)}.",
        choices=dict(Selection.Rule.choices),
        metavar="HOW",
        refusal=f"A budget is spread by {' or '.join(Selection.Rule.values)}, not “{{value}}”.",
    )
    budget_floor: int | None = setting(
        None,
        "Pairs that each query gets at least",
        kind=int,
        about="Pairs that each query gets at least.",
        empty="none, or ten if the budget goes where relevant documents turn up",
        minimum=0,
        refusal="The floor must be 0 or more pairs.",
    )
    stop_missing: float | None = setting(
        None,
        "Stop when at most this share of what is relevant is missing",
        "0.1 is a tenth, at 95 % confidence, by the audit of the pool.",
        float,
        about="Stop when the audit says that at most this share of what is relevant is missing.",
        empty="only budget and admins end a query",
    )
    stop_looks: int = setting(
        USUAL_LOOKS,
        "How often the audit is looked at",
        "Fixed in advance, because each look can be wrong.",
        int,
        about="Number of looks at the audit.",
        metavar="M",
        minimum=1,
        maximum=MOST_LOOKS,
        refusal=f"The audit is looked at 1 to {MOST_LOOKS} times.",
    )
    stop_over: str = setting(
        Selection.Over.QUERY,
        "What is missing is counted for",
        about="Whether what is missing is counted for each query, or for the queue.",
        choices=dict(Selection.Over.choices),
        metavar="WHAT",
        refusal=f"A bound is over each {' or '.join(Selection.Over.values)}, not “{{value}}”.",
    )
    prior: int | None = setting(
        None,
        "Adaptive: the order starts from the scores of",
        "At first they weigh half as much as the runs; labels then set their weight.",
        int,
        about="The number of the model and prompt whose scores the strategy starts from.",
        empty="the runs alone",
        minimum=1,
        maximum=2**62,
    )


def options_from(values: Mapping[str, Any]) -> AdaptiveOptions | None:
    """From what a form, a call or a command brought; None unless `adaptive` is true."""
    given = chosen(AdaptiveOptions, values)
    if values.get("adaptive"):
        return AdaptiveOptions(**given)
    for name, value in given.items():
        if value != getattr(AdaptiveOptions(), name):
            problem = (
                f"{name} applies only to an adaptive queue. Choose an adaptive order, or leave it empty."
            )
            raise InputError(problem, field=name)
    return None


def checked_adaptive(pool: Pool, options: AdaptiveOptions) -> AdaptiveOptions:
    """Return `options`; `InputError` for a pool or a value that will not do."""
    kind = STRATEGIES.get(pool.strategy)
    if kind is None or not kind.make.learns:
        learning = ", ".join(sorted(name for name, one in STRATEGIES.items() if one.make.learns))
        problem = (
            f"The order “{pool.strategy}” of pool “{pool.name}” does not learn from labels. Build a pool "
            f"with a strategy that does: {learning}."
        )
        raise InputError(problem, field="adaptive")
    refuse_all(_problems(pool, options))
    if options.prior is not None:
        check_prior(pool, options.prior)
    return options


def _problems(pool: Pool, options: AdaptiveOptions) -> dict[str, str]:
    budget = pool.budget if options.budget is None else options.budget
    floor = options.budget_floor or 0
    is_greedy = options.budget_rule == Selection.Rule.GREEDY
    problems: dict[str, str | None] = {**problems_of(options)}
    if is_greedy and not budget:
        problems["budget_rule"] = "Set a budget to spend where relevant documents turn up."
    if budget and floor * pool.query_count > budget:
        problems["budget_floor"] = (
            f"A floor of {floor:,} pairs for each of {pool.query_count:,} queries is more than the budget."
        )
    if options.stop_missing is not None:
        problems["stop_missing"] = _missing_problem(pool, options.stop_missing)
        if is_greedy and options.stop_over == Selection.Over.QUERY:
            problems["stop_over"] = (
                "If the budget goes where relevant documents turn up, looks at single queries cannot be "
                "fixed in advance. Count what is missing for the queue."
            )
    return {name: problem for name, problem in problems.items() if problem}


def _missing_problem(pool: Pool, share: float) -> str | None:
    if not 0 < share < 1:
        return "The share of relevant documents that may be missing must be above 0 and below 1."
    if not pool.audit_share:
        return (
            f"Only an audit can say what is missing, and pool “{pool.name}” has none. Build one with an "
            "audit share, or stop by budget."
        )
    return None


def add_adaptive_arguments(parser: ArgumentParser, *, but: Collection[str] = ()) -> None:
    """The options of `AdaptiveOptions`, save those in `but`."""
    group = parser.add_argument_group("an order that is adaptive")
    group.add_argument(
        "--adaptive", action="store_true", help="labels move the order, by the pool's strategy, which learns"
    )
    options = [one for one in options_of(AdaptiveOptions).values() if one.name not in but]
    add_option_arguments(group, options, filled=False, bounded=False)
