"""Pictures of facts: how many of them the first K hold, over K and over characters of context. No Django."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts.drawing import Look
from evaluation.charts.of_queries import lines_through_k
from evaluation.charts.tables import Figures
from evaluation.facts.shapes import ReportFacts
from pooling.heavy import alt, pd
from pooling.interface.charting import DARK, LIGHT

MEASURE = "fact_recall"
NUMBERS = ("mean", "low", "high", "lower_bound", "upper_bound")


def fact_curve_table(figures: Figures) -> pd.DataFrame:
    """run, k, mean, low, high, lower_bound, upper_bound of fact recall."""
    facts = _facts(figures)
    rows = []
    for run in figures.runs:
        for k in _cutoffs(facts, run):
            figure = facts["runs"][run][f"{MEASURE}@{k}"]
            bounds = figure.get("bound_low"), figure.get("bound_high")
            numbers = (figure["mean"], figure["low"], figure["high"], *bounds)
            rows.append({"run": run, "k": k, **dict(zip(NUMBERS, numbers, strict=True))})
    return pd.DataFrame(rows).astype(dict.fromkeys(NUMBERS, float))


def context_table(figures: Figures) -> pd.DataFrame:
    """run, k, characters (of the first K's texts), mean, facts per 1,000 characters; only of known texts."""
    facts = _facts(figures)
    columns = ["run", "k", "characters", "mean", "facts"]
    rows = []
    for run in figures.runs:
        for k in _cutoffs(facts, run):
            context = facts["context"].get(run, {}).get(str(k))
            mean = facts["runs"][run][f"{MEASURE}@{k}"]["mean"]
            if context and context["characters"] is not None and mean is not None:
                rows.append((run, k, context["characters"], mean, context["facts"]))
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[2:], float))


def has_facts(figures: Figures) -> bool:
    return figures.facts is not None


def has_context(figures: Figures) -> bool:
    """True where the lengths of the texts that hold the facts are known."""
    return has_facts(figures) and not context_table(figures).empty


def context_chart(
    table: pd.DataFrame, chosen: Sequence[str], *, dark: bool = False, narrow: bool = False
) -> alt.LayerChart:
    """Fact recall over the characters that a reader gets, one line per run through its K; the runs that were
    not chosen are thin and grey. table: as `context_table` gives it."""
    names = [run for run in dict.fromkeys(table["run"]) if run in set(chosen)]
    look = Look(names, DARK if dark else LIGHT, narrow)
    most = float(table["mean"].max())
    scale = alt.Scale(domain=[0, min(1.0, most * 1.08) if most > 0 else 1.0], nice=False)
    across = alt.X("characters:Q", title="Characters of the first K", axis=alt.Axis(format="~s", tickCount=6))
    height = alt.Y("mean:Q", title="Fact recall", scale=scale)
    return lines_through_k(table, look, (across, height), named=names[:1])


def facts_summary(table: pd.DataFrame) -> str:
    last = table[table["k"] == table["k"].max()].dropna(subset="mean").sort_values("mean", ascending=False)
    if last.empty:
        return "No run has a mean."
    best = last.iloc[0]
    return (
        f"Fact recall over K of {table['run'].nunique()} runs; at K = {best['k']} {best['run']} holds "
        f"{100 * best['mean']:.0f} % of a query's facts."
    )


def context_summary(table: pd.DataFrame) -> str:
    rows = table.dropna(subset="facts").sort_values("facts", ascending=False, kind="stable")
    if rows.empty:
        return "No run has a mean."
    best = rows.iloc[0]
    return (
        f"Characters bring most with {best['run']} at K = {best['k']}: {best['facts']:.2f} facts for each "
        f"1,000 of its {best['characters']:,.0f} characters."
    )


def _facts(figures: Figures) -> ReportFacts:
    if figures.facts is None:
        raise ValueError("there are no facts in this report")
    return figures.facts


def _cutoffs(facts: ReportFacts, run: str) -> list[int]:
    pairs = (key.partition("@") for key in facts["runs"][run])
    return sorted(int(k) for name, _, k in pairs if name == MEASURE and k)
