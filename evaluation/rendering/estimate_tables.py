"""Estimates as tables of text, for files and the terminal; with a model's pre-labels next to the labels in a
separate table, where a report has these. No Django here."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.rendering.cells import Cells
from evaluation.scoring.estimate_figures import Estimates, PoweredEstimates, PoweredFigure
from evaluation.scoring.figures import RunFigures
from evaluation.scoring.wording import decimal, estimated_title, interval, share_in_words
from pooling.formats.wording import counted

TITLE = "Estimated from the audit"
POWERED_TITLE = "Estimated with labels and a model's pre-labels"


def estimate_tables(figures: Mapping[str, RunFigures], estimates: Estimates) -> list[Cells]:
    """figures: run -> `recall@k` -> the figure that was measured; estimates: of
    `evaluation.estimates.of_pool`,
    and `prediction_powered` of `evaluation.estimates.report_basis`. Where nothing is estimated, a
    table without rows and columns says why."""
    relevant = estimates["relevant"]
    if not estimates["runs"] or relevant is None:
        return [Cells((), (), (estimates["sentence"],), TITLE)]
    powered = estimates.get("prediction_powered")
    level = share_in_words(relevant["confidence"])
    return [
        _human_cells(figures, estimates, level),
        *([_powered_cells(powered, level)] if powered is not None else []),
    ]


def _human_cells(figures: Mapping[str, RunFigures], estimates: Estimates, level: str) -> Cells:
    """One row per run and K: recall over all relevant documents at once as the labels have it and as the
    audit has it, and the same for the mean over queries."""
    estimated = estimated_title(estimates["queries"])
    header = ("run", "K", "micro", estimated, "by", "mean", estimated)
    rows, whys = [], set()
    for run, by_key in estimates["runs"].items():
        for key, figure in by_key.items():
            raw, micro, macro = figures[run][key], figure["micro"], figure["macro"]
            whys |= {macro["why"]} - {""}
            rows.append(
                (
                    run,
                    key.partition("@")[2],
                    decimal(raw["micro"]),
                    decimal(micro["value"]) + interval(micro),
                    micro["method"],
                    decimal(raw["mean"]),
                    decimal(macro["value"]) + interval(macro),
                )
            )
    notes = [
        estimates["sentence"],
        f"[low, high]: {level} interval; of micro it covers which labels were drawn, of the mean queries and "
        "labels together.",
    ]
    if whys:
        notes.append(f"Where the mean is not estimated: {'; '.join(sorted(whys))}.")
    queries, sample = estimates["queries"], estimates["sample"]
    if queries and queries["not_estimated"]:
        notes.append(
            f"Not estimated, as their audit lacks labels: {counted(queries['not_estimated'], 'query')}. The "
            "estimates cover only the other queries; the raw numbers cover all scored queries. Do not "
            "compare the two."
        )
    if sample and sample["unused"]:
        unused = counted(sample["unused"], "label")
        notes.append(f"Not used, because they were not drawn: {unused}.{_of_file(estimates)}")
    return Cells(header, tuple(rows), tuple(notes), TITLE)


def _of_file(estimates: Estimates) -> str:
    if estimates["pool"] is None or estimates["pool"]["version"] is not None:
        return ""
    return (
        " A pool's file does not tell which labels were known before its draw, or came from an order that "
        "learns; a report on the site takes these as certain, so its estimate can differ."
    )


def _powered_cells(powered: PoweredEstimates, level: str) -> Cells:
    """One row per run and K: recall and precision by people alone, and with the model."""
    header = ("run", "K", "micro", "with the model", "precision", "with the model")
    rows, whys = [], set()
    for run, by_key in powered["runs"].items():
        for k in (key.partition("@")[2] for key in by_key if key.startswith("recall@")):
            recall, precision = by_key[f"recall@{k}"], by_key[f"precision@{k}"]
            pairs = (recall["micro"], precision["micro"])
            rows.append((run, k, *(cell for figure in pairs for cell in _pair(figure))))
            whys |= {figure["why"] for figure in pairs} - {""}
    notes = [
        f"Prediction-powered, from {powered['prelabeler']['name']}, which has scores for "
        f"{100 * powered['predicted']:.0f} % of the uncertain pairs. All labels come from people; the audit "
        "corrects the scores. It never replaces the human estimate.",
        _relevant(powered["relevant"]),
        f"[low, high]: {level} interval, which covers which labels were drawn.",
    ]
    if whys:
        notes.append(f"Where both are the same: {'; '.join(sorted(whys))}.")
    return Cells(header, tuple(rows), tuple(notes), POWERED_TITLE)


def _pair(figure: PoweredFigure) -> tuple[str, str]:
    by_people, helped = (
        decimal(one["value"]) + interval(one) for one in (figure["human"], figure["powered"])
    )
    if not figure["weight"]:
        return by_people, "the same"
    return by_people, helped + (f", {100 * figure['narrower']:.0f} % narrower" if figure["narrower"] else "")


def _relevant(figure: PoweredFigure) -> str:
    by_people, helped = (
        ("" if one["value"] is None else f"{one['value']:,.0f} ") + f"[{one['low']:,.0f}, {one['high']:,.0f}]"
        for one in (figure["human"], figure["powered"])
    )
    with_model = f"the same, because {figure['why']}" if figure["why"] else helped
    return f"Relevant documents in the pool: by people {by_people}; with the model {with_model}."
