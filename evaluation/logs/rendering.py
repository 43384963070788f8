"""A drift report as text."""

from __future__ import annotations

from evaluation.logs.report import LEAST_PSI, Drift, FeatureDrift

MOST_UNLIKE = 10


def drift_text(drift: Drift) -> str:
    """What people act on first, then the tests, then the queries least like the set."""
    log, chosen, covered = drift["log"], drift["set"], drift["covered"]
    how = (
        f"weighted by its draw, worth {chosen['effective']:,.0f}"
        if chosen["weighted"]
        else "each counts the same"
    )
    lines = [
        _answer(drift),
        "",
        f"Log: {log['queries']:,} queries, asked {log['traffic']:,.0f} times. "
        f"Set: {chosen['queries']:,} queries, {how}.",
        f"{covered['traffic_in_set']:.1%} of the traffic asks a query of the set, "
        f"{covered['traffic_near_set']:.1%} one that shares most words with one of the set. "
        f"The log has {covered['set_in_log']:.1%} of the set's queries.",
        "",
        f"{'feature':<14}{'PSI':>7}{'JS²':>8}{'p':>9}{'Holm':>9}  ",
        *(_feature_line(one) for one in drift["features"]),
    ]
    row = drift["classifier"]
    lines.append(
        f"{'classifier':<14}{'AUC':>7}{row['auc']:>8.3f}{row['p']:>9.4f}{row['p_holm']:>9.4f}  "
        f"{row['words']}{', a shift' if row['shift'] else ''}"
    )
    if (mmd := drift["mmd"]) is not None:
        lines.append(
            f"{'vectors':<14}{'MMD²':>7}{mmd['mmd2']:>8.4f}{mmd['p']:>9.4f}{mmd['p_holm']:>9.4f}  "
            f"{'a shift' if mmd['shift'] else ''}".rstrip()
        )
    looks = f", spent over {drift['looks']} looks" if drift["looks"] > 1 else ""
    lines.append(
        f"A feature has shifted where Holm's p is below {drift['level']:.3g}{looks}, "
        f"and the PSI {LEAST_PSI:g} or more."
    )
    if drift["least_alike"]:
        lines += ["", "Least like the set:"]
        lines += [f"  {one['query']}  ({one['count']:,.0f})" for one in drift["least_alike"][:MOST_UNLIKE]]
    return "\n".join(lines)


def _answer(drift: Drift) -> str:
    names = [one["feature"] for one in drift["features"] if one["shift"]]
    if drift["classifier"]["shift"]:
        names.append("the words themselves")
    if drift["mmd"] is not None and drift["mmd"]["shift"]:
        names.append("the vectors")
    if not names:
        return "No shift can be told between the log and the set."
    return f"The set no longer looks like the log: {', '.join(names)}."


def _feature_line(one: FeatureDrift) -> str:
    line = f"{one['feature']:<14}{one['psi']:>7.3f}{one['js2']:>8.3f}{one['p']:>9.4f}{one['p_holm']:>9.4f}  "
    if not one["shift"]:
        return line.rstrip()
    most = max(one["bins"], key=lambda each: abs(each["set"] - each["log"]))
    return f"{line}a shift: {most['bin']} has {most['log']:.0%} of the log, {most['set']:.0%} of the set"
