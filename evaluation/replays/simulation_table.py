"""A simulation as a table for a terminal or a mail."""

from collections.abc import Sequence

from evaluation.replays.simulation import Outcome, Simulation


def as_table(simulation: Simulation) -> str:
    """One line per strategy, best first by what it found at the middle budget, and what was replayed."""
    budgets = list(next(iter(simulation.outcomes.values())).found)
    middle = budgets[len(budgets) // 2]
    ranked = sorted(simulation.outcomes.items(), key=lambda item: -(item[1].found[middle] or 0.0))
    rows = [headings(simulation, budgets), *(outcome_cells(name, outcome) for name, outcome in ranked)]
    return "\n".join([*aligned(rows), "", *notes(simulation)]) + "\n"


def headings(simulation: Simulation, budgets: Sequence[float]) -> list[str]:
    shares = [f"{budget:.4g}" for budget in budgets]
    efforts = [f"{wanted:g}" for wanted in next(iter(simulation.outcomes.values())).effort]
    return [
        "strategy",
        *(f"found@{share}" for share in shares),
        *(f"effort@{wanted}" for wanted in efforts),
        *(f"tau@{share}" for share in shares),
        *(f"error@{share}" for share in shares),
        *(f"estimated@{share}" for share in shares),
    ]


def outcome_cells(name: str, outcome: Outcome) -> list[str]:
    figures = (outcome.found, outcome.effort, outcome.tau, outcome.micro_recall_error)
    columns = [value for values in (*figures, outcome.estimated_recall_error) for value in values.values()]
    return [name, *("–" if value is None else f"{value:.3f}" for value in columns)]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]


def notes(simulation: Simulation) -> list[str]:
    pool, settings = simulation.pool, simulation.settings
    relevant = sum(int(truth.sum()) for truth in pool.truth.values())
    return [
        f"{len(pool.runs)} runs to depth {pool.depth}: {pool.labelled:,} of {pool.pairs:,} pairs "
        f"have a label; the others ({pool.unlabelled_share:.1%}) are left out.",
        f"{len(pool.candidates)} queries with {relevant:,} relevant pairs; "
        f"{pool.queries_left_out} without any are left out.",
        "found, effort: means over queries. tau: the order of the runs against that by all labels.",
        f"error, estimated: of micro Recall@{settings['k']} from the labels so far, and weighted by 1/π.",
        f"seeds {settings['seeds']} · noise {settings['noise']:g} · batch {settings['batch']}",
    ]
