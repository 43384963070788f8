from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.rendering.cells import Cells
from evaluation.scoring.estimate_figures import EstimateFigure, NoEstimate, ScoreAuditEstimates, ScoreStratum
from evaluation.scoring.wording import decimal, interval, share_in_words

TITLE = "Estimated from an audit by scores"
# Of more pairs of runs the page shows the first; the HTTP interface has all.
MOST_DIFFERENCES = 15


def by_scores_context(
    estimates: ScoreAuditEstimates | None, runs: Sequence[str], k: int
) -> dict[str, Any] | None:
    """`audit_by_scores` of a report at one K, as the page shows it; None where there is none."""
    if estimates is None:
        return None
    rows: list[dict[str, Any]] = [
        {
            "run": run,
            "recall": _in_words(figures[f"recall@{k}"]["micro"]),
            "precision": _in_words(figures[f"precision@{k}"]["micro"]),
        }
        for run in runs
        if f"recall@{k}" in (figures := estimates["runs"].get(run, {}))
    ]
    differences: list[dict[str, Any]] = [
        {"first": one["first"], "second": one["second"], **_in_words(one)}
        for one in estimates["differences"]
        if one["k"] == k
    ]
    return {
        "status": estimates["status"],
        "sentence": estimates["sentence"],
        "pool": estimates["pool"],
        "audit": estimates["audit"],
        "counts": estimates["counts"],
        "notes": estimates["notes"],
        "strata": [{**one, "share": _share(one)} for one in estimates["strata"]],
        "level": share_in_words(estimates["relevant"]["confidence"]) if estimates["relevant"] else "",
        "rows": rows,
        "differences": differences[:MOST_DIFFERENCES],
        "more_differences": max(len(differences) - MOST_DIFFERENCES, 0),
    }


def by_scores_cells(estimates: ScoreAuditEstimates) -> Cells:
    """A table of text for files: one row per run and K."""
    header = ("run", "K", "micro recall", "by", "precision")
    rows = []
    for run, by_key in estimates["runs"].items():
        for k in (key.partition("@")[2] for key in by_key if key.startswith("recall@")):
            recall, precision = (by_key[f"{name}@{k}"]["micro"] for name in ("recall", "precision"))
            both = [decimal(one["value"]) + interval(one) for one in (recall, precision)]
            rows.append((run, k, both[0], recall.get("method", ""), both[1]))
    origin = f"Drawn from pool “{estimates['pool']['name']}” by the scores of {estimates['audit']['model']}."
    notes = [origin, estimates["sentence"], *estimates["notes"]]
    if estimates["relevant"]:
        level = share_in_words(estimates["relevant"]["confidence"])
        notes.insert(2, f"[low, high]: {level} interval; it covers which labels were drawn.")
    return Cells(header, tuple(rows), tuple(notes), TITLE)


def _in_words(one: EstimateFigure | NoEstimate) -> dict[str, Any]:
    if_relevant = one.get("value_if_relevant")
    return {
        "value": decimal(one["value"]),
        "interval": interval(one).strip(),
        "method": one.get("method", ""),
        "if_relevant": "" if if_relevant in (None, one["value"]) else decimal(if_relevant),
        "why": one.get("why", ""),
    }


def _share(stratum: ScoreStratum) -> str:
    answered = stratum["sampled"] - stratum["cannot_judge"]
    return f"{100 * stratum['relevant'] / answered:.0f} %" if answered else "–"
