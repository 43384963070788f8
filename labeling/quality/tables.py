from __future__ import annotations

from labeling.progress.tables import columns, rounded
from labeling.quality.facts import AnnotatorQuality, QueueQuality
from pooling.formats.wording import counted, signed


def quality_table(quality: QueueQuality) -> str:
    agreement = quality["agreement"]
    lines = [
        f"{quality['name']}: {counted(quality['verdicts'], 'verdict')}, {quality['set_aside']:,} set aside; "
        f"{counted(agreement['pairs'], 'pair')} judged by two or more people.",
        *(finding["text"] for finding in quality["verdict"]),
        "",
    ]
    lines += [
        f"{figure['title']:<28}  {_with_interval(figure['value'], figure['low'], figure['high'])}"
        + (f"  {figure['why']}" if figure["why"] else "")
        for figure in agreement["figures"]
    ]
    first = ("annotator", "verdicts", "relevant", "leniency", "balanced", "gold", "rule")
    head = (*first, "again", "streak", "median s")
    rows = [_annotator_cells(row) for row in quality["annotators"]]
    lines += ["", *columns([head, *rows])]
    bad = [row for row in quality["hard_queries"] if row["is_bad"]]
    lines += [
        f"Check query {row['query_id']}: {row['cannot_judge']} of {row['verdicts']} verdicts are “can't "
        "judge”."
        for row in bad
    ]
    return "\n".join(line.rstrip() for line in lines)


def _annotator_cells(row: AnnotatorQuality) -> tuple[str, ...]:
    gold, lenient, median = row["gold"], row["leniency"], row["speed"].median_ms
    again = row["again"]
    return (
        row["username"],
        f"{row['verdicts']:,}",
        rounded(row["share"]),
        signed(lenient["difference"], 2) if lenient else "–",
        rounded(gold["balanced_accuracy"]) if gold else "–",
        str(gold["answers"]) if gold else "0",
        "paused" if row["is_paused"] else gold["advice"] if gold else "–",
        f"{again['same']}/{again['answers']}" if again else "–",
        f"{row['streak'].length}" + ("!" if row["streak"].is_odd else ""),
        "–" if median is None else f"{median / 1000:.1f}",
    )


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    interval = f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""
    return f"{rounded(value)}{interval}"
