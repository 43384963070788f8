from __future__ import annotations

from evaluation.logs.report import LEAST_PSI, Drift, FeatureDrift
from evaluation.logs.two_logs import LogDrift
from evaluation.logs.vectors import MOST_VECTORS
from pooling.formats.wording import counted

MOST_UNLIKE = 10


def drift_text(drift: Drift) -> str:
    log, chosen, covered = drift["log"], drift["set"], drift["covered"]
    how = (
        f"weighted by its draw, worth {chosen['effective']:,.0f}"
        if chosen["weighted"]
        else "each counts the same"
    )
    lines = [
        _answer(drift),
        "",
        f"Log: {counted(log['queries'], 'query')}, asked {log['traffic']:,.0f} times. "
        f"Set: {counted(chosen['queries'], 'query')}, {how}.",
        f"{100 * covered['traffic_in_set']:.1f} % of the traffic asks a query of the set, "
        f"{100 * covered['traffic_near_set']:.1f} % one that shares most words with one of the set. "
        f"The log has {100 * covered['set_in_log']:.1f} % of the set's queries.",
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
        sizes, every = mmd["sizes"], (log["queries"], chosen["queries"])
        if any(size < min(count, MOST_VECTORS) for size, count in zip(sizes, every, strict=True)):
            lines.append(
                f"The vectors are {sizes[0]:,} for the log's {every[0]:,} queries and {sizes[1]:,} for the "
                f"set's {every[1]:,}."
            )
    looks = f", spent over {drift['looks']} looks" if drift["looks"] > 1 else ""
    lines.append(
        f"A feature has shifted where Holm's p is below {drift['level']:.3g}{looks}, "
        f"and the PSI {LEAST_PSI:g} or more."
    )
    if not row["shift"]:
        visible = row["visible_auc"]
        lines.append(
            f"The classifier tells four of five shifts whose AUC is {visible:.2f} or more: strangers of "
            f"less than {100 * (2 * visible - 1):.0f} % of the set stay unseen, and more where they resemble "
            "the log."
        )
    if chosen["weighted"]:
        lines.append("The set was drawn from a log; drift of that log and this one sees far more.")
    if drift["least_alike"]:
        lines += ["", "Least like the set:"]
        lines += [f"  {one['query']}  ({one['count']:,.0f})" for one in drift["least_alike"][:MOST_UNLIKE]]
    return "\n".join(lines)


def log_drift_text(drift: LogDrift) -> str:
    old, new, halves = drift["old"], drift["new"], drift["halves"]
    if drift["shift"]:
        answer = (
            "The new log differs: chance does not explain why the old one lacks queries of about "
            f"{100 * drift['another_kind']:.1f} % of the new traffic."
        )
    else:
        answer = (
            "No shift can be told: the old log lacks no more of the new one than chance leaves out. "
            f"Of shifts of {100 * drift['visible']:.1f} % of the traffic, it finds four of five at these "
            "sizes."
        )
    lines = [answer, ""]
    for name, side in (("Old", old), ("New", new)):
        hidden = f", {100 * side['shown']:.1f} % of its log" if side["shown"] < 1 else ""
        lines.append(
            f"{name}: {counted(side['queries'], 'query')}, asked {side['traffic']:,.0f} times{hidden}."
        )
    if (least := drift["least_count"]) > 1:
        lines.append(
            f"A table leaves out what is rare, so queries asked less than {least:,} times count in neither."
        )
    lines += [
        f"{100 * drift['unseen']:.1f} % of the new traffic asks queries that the old log lacks; "
        f"{100 * drift['unseen_by_half']:.1f} % queries that a half of it lacks.",
        f"Halves of the old log lack {100 * halves['low']:.1f} % to {100 * halves['high']:.1f} % of each "
        f"other ({100 * halves['mean']:.1f} % in the mean of {halves['splits']} splits).",
    ]
    if drift["largest"]:
        lines += ["", "New queries with the most traffic:"]
        lines += [
            f"  {one['query']}  ({one['count']:,.0f}, {100 * one['share']:.1f} %)" for one in drift["largest"]
        ]
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
    of_log, of_set = (f"{100 * most[name]:.0f} % of the {name}" for name in ("log", "set"))
    return f"{line}a shift: {most['bin']} has {of_log}, {of_set}"
