"""How an adaptive queue spends and when it stops: what pages, calls and commands ask for alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from labeling.adaptive.prior_scores import check_prior
from labeling.models import Selection
from pooling.interface.problems import InputError
from pooling.models import Pool
from pooling.options.option import MOST

USUAL_LOOKS = 4
MOST_LOOKS = 20


@dataclass(frozen=True)
class LiveOptions:
    """budget: pairs in all (None: the pool's, else every pair), spread by `budget_rule` with `budget_floor`
    pairs for each query. With `stop_missing`, a share of the relevant documents, a query (or the queue, as
    `stop_over` says) stops when the audit says that at most so much is missing, at one of `stop_looks` looks.
    `prior` is the number of the model whose scores the strategy starts from; None: the runs alone.
    """

    budget: int | None = None
    budget_rule: str = Selection.Rule.EQUAL
    budget_floor: int | None = None
    stop_missing: float | None = None
    stop_looks: int = USUAL_LOOKS
    stop_over: str = Selection.Over.QUERY
    prior: int | None = None


def taken_from(values: dict[str, Any]) -> LiveOptions | None:
    """Take the options out of `values`, as a form or a call brought them; None unless `adaptive` is true."""
    given = {one.name: values.pop(one.name, None) for one in fields(LiveOptions)}
    if not values.pop("adaptive", False):
        _refuse_without_order(given)
        return None
    return LiveOptions(**{name: value for name, value in given.items() if value not in (None, "")})


def _refuse_without_order(given: Mapping[str, Any]) -> None:
    defaults = LiveOptions()
    for name, value in given.items():
        if value not in (None, "", getattr(defaults, name)):
            problem = f"{name} is for a queue whose order is adaptive. Ask for that too, or leave it empty."
            raise InputError(problem, fields={name: problem})


def checked_live(pool: Pool, options: LiveOptions) -> LiveOptions:
    """Return `options`; `InputError` for a pool or a value that will not do."""
    from pooling.strategies import STRATEGIES

    kind = STRATEGIES.get(pool.strategy)
    if kind is None or not kind.make.learns:
        learning = ", ".join(sorted(name for name, one in STRATEGIES.items() if one.make.learns))
        problem = (
            f"The order “{pool.strategy}” of pool “{pool.name}” does not learn from labels. Build a pool "
            f"with a strategy that does: {learning}."
        )
        raise InputError(problem, fields={"adaptive": problem})
    if found := _problems(pool, options):
        raise InputError(" ".join(found.values()), fields=found)
    if options.prior is not None:
        check_prior(pool, options.prior)
    return options


def _problems(pool: Pool, options: LiveOptions) -> dict[str, str]:
    budget = pool.budget if options.budget is None else options.budget
    floor = options.budget_floor or 0
    is_greedy = options.budget_rule == Selection.Rule.GREEDY
    problems = {
        "budget": None
        if options.budget is None or 1 <= options.budget <= MOST
        else f"A budget is a number of pairs from 1 to {MOST:,}.",
        "budget_rule": _of(Selection.Rule.values, options.budget_rule, "A budget is spread by"),
        "budget_floor": None if floor >= 0 else "A floor is 0 or more pairs.",
        "stop_over": _of(Selection.Over.values, options.stop_over, "A bound is over each"),
    }
    if is_greedy and not budget:
        problems["budget_rule"] = "To spend a budget where relevant documents turn up, set a budget."
    if budget and floor * pool.query_count > budget:
        problems["budget_floor"] = (
            f"A floor of {floor:,} pairs for each of {pool.query_count:,} queries is more than the budget."
        )
    if options.stop_missing is not None:
        problems |= {
            "stop_missing": _missing_problem(pool, options.stop_missing),
            "stop_looks": None
            if 1 <= options.stop_looks <= MOST_LOOKS
            else f"The audit is looked at 1 to {MOST_LOOKS} times.",
        }
        if is_greedy and options.stop_over == Selection.Over.QUERY:
            problems["stop_over"] = (
                "Where the budget goes to what turns up, no look at a single query can be fixed beforehand. "
                "Let the bound be over the queue."
            )
    return {name: problem for name, problem in problems.items() if problem}


def _missing_problem(pool: Pool, share: float) -> str | None:
    if not 0 < share < 1:
        return "What may be missing is a share above 0 and below 1 of the relevant documents."
    if not pool.audit_share:
        return (
            f"Only an audit can say what is missing, and pool “{pool.name}” has none. Build one with an "
            "audit share, or stop by budget."
        )
    return None


def _of(values: list[str], given: str, words: str) -> str | None:
    return None if given in values else f"{words} {' or '.join(values)}, not “{given}”."
