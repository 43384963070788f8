from __future__ import annotations

from typing import Any

from evaluation.estimates.score_audit_page import by_scores_context
from evaluation.models import Report
from evaluation.report_store.files import figure_of, run_names
from evaluation.scoring.estimate_figures import EstimateFigure, Estimates, PoolOfEstimates, PoweredFigure
from evaluation.scoring.figures import Span
from evaluation.scoring.results import decimal, interval, percent, share_in_words

MOST_MISSING = 10
METHODS = {
    "complete": "all judged",
    "gamma limits": "gamma limits",
    "exact bound": "exact bound",
    "span of what waits": "span",
    "undefined": "undefined",
}


def estimates_context(report: Report, k: int) -> dict[str, Any]:
    estimates: Estimates = report.result["estimates"]
    left_out = estimates["leave_one_out"].get("at", {}).get(str(k))
    rows = _rows(report, estimates, k)
    return {
        "status": estimates["status"],
        "sentence": estimates["sentence"],
        "pool": estimates["pool"],
        "chosen_why": _chosen_why(estimates["pool"]),
        "queries": estimates["queries"],
        "sample": estimates["sample"],
        "relevant": estimates["relevant"],
        "level": share_in_words(estimates["relevant"]["confidence"]) if estimates["relevant"] else "",
        "rows": rows,
        "macro_whys": sorted({row["macro_why"] for row in rows} - {""}),
        "judged_before": _judged_before(report, estimates, k),
        "missing": estimates["missing"][:MOST_MISSING],
        "powered": _powered(report, estimates, k),
        "by_scores": by_scores_context(estimates.get("audit_by_scores"), run_names(report), k),
        "left_out": left_out,
        "left_out_rows": (left_out["families"] or left_out["runs"]) if left_out else [],
        "families": estimates["leave_one_out"].get("families", []),
        "k": k,
    }


def _chosen_why(pool: PoolOfEstimates | None) -> str:
    """Why the estimates rest on this pool, and how far the audits of the others are."""
    if pool is None:
        return ""
    answered_shares = [f"{other['name']} ({percent(other['answered'])})" for other in pool["others"]]
    others = f" Other pools with an audit: {', '.join(answered_shares)}." if answered_shares else ""
    answered = f"Its audit is answered for {percent(pool['answered'])} of the runs and queries measured"
    if pool["answered"] is None:
        return f"The pool was named when the report was made.{others}" if pool["asked"] else ""
    if pool["asked"]:
        return f"{answered}; the pool was named when the report was made.{others}"
    if any(other["answered"] > pool["answered"] for other in pool["others"]):
        return f"{answered}; what is further is shallower, or a version of it that is still judged.{others}"
    return f"{answered}{', the furthest of all pools' if answered_shares else ''}.{others}"


def _judged_before(report: Report, estimates: Estimates, k: int) -> list[dict[str, Any]]:
    """One row per run that the pool's version brought: judged@K without its labels, and with them."""
    pool = estimates["pool"]
    shares = pool.get("judged_before", {}) if pool else {}
    return [
        {
            "run": run,
            "before": percent(by_k[str(k)]),
            "after": percent(figure_of(report, run, "judged", k)["mean"]),
        }
        for run, by_k in shares.items()
        if str(k) in by_k
    ]


def _powered(report: Report, estimates: Estimates, k: int) -> dict[str, Any] | None:
    """The estimates with a model's pre-labels next to the human ones; None where there are none."""
    powered = estimates.get("prediction_powered")
    if powered is None:
        return None
    rows: list[dict[str, Any]] = [
        {
            "run": run,
            "recall": _pair(figures["micro"]),
            "precision": _pair(powered["runs"][run][f"precision@{k}"]["micro"]),
        }
        for run in run_names(report)
        if (figures := powered["runs"][run].get(f"recall@{k}")) is not None
    ]
    return {
        "prelabeler": powered["prelabeler"],
        "predicted": powered["predicted"],
        "relevant": _pair(powered["relevant"], counts=True),
        "rows": rows,
        "whys": sorted({pair["why"] for row in rows for pair in (row["recall"], row["precision"])} - {""}),
    }


def _pair(figure: PoweredFigure, *, counts: bool = False) -> dict[str, Any]:
    human, powered = (
        _counted(one) if counts else (_decimal(one["value"]), _span(one))
        for one in (figure["human"], figure["powered"])
    )
    return {
        "why": figure["why"],
        "weight": figure["weight"],
        "narrower": figure["narrower"],
        "human": human[0],
        "human_interval": human[1],
        "powered": powered[0],
        "powered_interval": powered[1],
    }


def _counted(estimate: EstimateFigure) -> tuple[str, str]:
    value, low, high = (
        "" if end is None else f"{end:,.0f}" for end in (estimate["value"], estimate["low"], estimate["high"])
    )
    return value, f"[{low}, {high}]"


def _rows(report: Report, estimates: Estimates, k: int) -> list[dict[str, Any]]:
    """One row per run: the raw micro recall next to its estimate, and the same for macro recall."""
    if not estimates["runs"]:
        return []
    rows: list[dict[str, Any]] = []
    for run in run_names(report):
        figure = estimates["runs"][run].get(f"recall@{k}")
        if figure is None:
            return []
        raw = report.result["runs"][run][f"recall@{k}"]
        micro, macro = figure["micro"], figure["macro"]
        rows.append(
            {
                "run": run,
                "raw": _decimal(raw["micro"]),
                "micro": _decimal(micro["value"]),
                "micro_interval": _span(micro),
                "method": METHODS.get(micro["method"], micro["method"]),
                "if_relevant": _decimal(micro["value_if_relevant"]) if _differs(micro) else "",
                "raw_macro": _decimal(raw["mean"]),
                "macro": _decimal(macro["value"]),
                "macro_interval": _span(macro),
                "macro_why": macro["why"],
                "bar": _bar(micro, raw["micro"]),
            }
        )
    return rows


def _differs(micro: EstimateFigure) -> bool:
    return bool(micro["value"] != micro["value_if_relevant"])


def _decimal(value: float | None) -> str:
    return decimal(value)


def _span(figure: Span) -> str:
    return interval(figure).strip()


def _bar(micro: EstimateFigure, raw: float | None) -> dict[str, str]:
    """Estimate, interval and raw number on a scale of 100 units, as attributes of an SVG."""
    places = {"mean": micro["value"], "low": micro["low"], "high": micro["high"], "raw": raw}
    return {name: f"{100 * place:.1f}" for name, place in places.items() if place is not None}
