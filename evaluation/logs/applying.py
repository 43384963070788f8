"""The means of an evaluation, taken back to the log its queries were drawn from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from evaluation.logs.design import OLD_DAYS, Sample, Target, sample_of
from evaluation.measures import Floats, Integers, key_of
from evaluation.measures.hajek import Design, effective_size, ratio_means, weighted_means
from evaluation.measures.intervals import IntervalSettings, interval_method
from evaluation.measures.significance import plain
from evaluation.scoring.figures import Figure, MeasuredHow, RunFigures, WeightedHow
from evaluation.scoring.results import Evaluation, RunEvaluation
from pooling.formats.records import read_queries
from pooling.formats.wording import counted, plural
from pooling.heavy import Booleans, np


def weighted(
    evaluation: Evaluation,
    sample: Sample,
    target: Target,
    *,
    today: date,
    domain: Collection[str] | None = None,
) -> Evaluation:
    """The same evaluation with each mean, interval, micro mean and bound for the log, of all queries and of
    those with each tag; and with the design by which its comparisons and estimates are taken back too.

    target: `traffic` counts each query as often as it was asked, `queries` each distinct query once. Queries
    outside the draw are in no mean. domain: the queries measured, where these were chosen; the others were
    drawn as well, and are not missing. Raises ValueError where no labelled query was drawn.
    """
    ids = evaluation.labels.query_ids.to_list()
    rows = np.array([row for row, query in enumerate(ids) if query in sample.queries], dtype=np.int64)
    if not len(rows):
        raise ValueError("No query of the draw has a label; compare the query ids of both.")
    others = [] if domain is None else [query for query in sample.queries if query not in domain]
    measured = [ids[row] for row in rows.tolist()]
    answered = sample.answered([*measured, *others])
    answers = [answered.queries[query] for query in (*measured, *others)]
    strata = {name: number for number, name in enumerate(dict.fromkeys(one.stratum for one in answers))}
    sizes = np.array([one.size for one in answers])
    design = Design(
        sizes if target == "traffic" else np.ones(len(answers)),
        np.array([one.probability for one in answers]),
        np.array([strata[one.stratum] for one in answers], dtype=np.int64),
    )
    every = Design(np.zeros(len(ids)), np.ones(len(ids)), np.zeros(len(ids), dtype=np.int64))
    for whole, part in zip(vars(every).values(), vars(design).values(), strict=True):
        whole[rows] = part[: len(rows)]
    counts = evaluation.in_mean[rows]
    how = _how(evaluation, sample if domain is None else sample.only(domain), target, today=today)
    how["effective"] = effective_size(every.weights[rows][counts]) if counts.any() else 0.0
    how["speaks_for"] = sample.speaks_for([ids[row] for row in rows[counts].tolist()], target)
    level = evaluation.settings["interval"]["level"]
    # The others have no row, and their values are not looked at.
    padded = np.append(rows, np.zeros(len(others), dtype=np.int64))
    draw = _Draw(padded, np.arange(len(padded)) < len(rows), design, level)
    runs = {
        name: replace(run, figures=_figures(evaluation, run, draw)) for name, run in evaluation.runs.items()
    }
    tags = {
        tag: replace(stratum, figures=_of_some(evaluation, draw, stratum.rows))
        for tag, stratum in evaluation.strata.items()
    }
    method = interval_method(int(counts.sum()), of_draw=True)
    interval: IntervalSettings = {**evaluation.settings["interval"], "method": method, "resampled": False}
    settings: MeasuredHow = {**evaluation.settings, "interval": interval, "weights": how}
    return replace(evaluation, runs=runs, strata=tags, settings=settings, design=every)


@dataclass(frozen=True)
class _Draw:
    """The queries of the draw: (n,) their rows, and which of them count; their design; the level."""

    rows: Integers
    inside: Booleans
    design: Design
    level: float

    def of(self, values: Floats) -> Floats:
        """(n,) of the rows that count, NaN for the others."""
        return np.where(self.inside, values[self.rows], np.nan)


def _of_some(evaluation: Evaluation, draw: _Draw, rows: Integers) -> Mapping[str, RunFigures]:
    """The figures over these queries alone: the others are drawn as well, and outside the domain."""
    some = replace(draw, inside=draw.inside & np.isin(draw.rows, rows))
    return {name: _figures(evaluation, run, some) for name, run in evaluation.runs.items()}


def counted_once(evaluation: Evaluation, sample: Sample, *, today: date) -> Evaluation:
    """The same evaluation, which says that its means count each drawn query once."""
    how = _how(evaluation, sample, "queries", today=today)
    how |= {"target": "none", "words": "weights: none, each query counts once"}
    how["effective"] = float(evaluation.in_mean.sum())
    return replace(evaluation, settings={**evaluation.settings, "weights": how})


def _how(evaluation: Evaluation, sample: Sample, target: Target, *, today: date) -> WeightedHow:
    labelled = set(evaluation.labels.query_ids.to_list())
    age = sample.age(today)
    window = f" {sample.window}" if sample.window else ""
    if target == "traffic" and age is not None and age > OLD_DAYS:
        words = f"weights: as asked in{window}, {age} days ago, Hájek"
    else:
        words = f"weights: {target}{window}, Hájek"
    return {
        "target": target,
        "window": sample.window,
        "age_days": age,
        "words": words,
        "drawn": len(sample.queries),
        "effective": 0.0,
        "speaks_for": 0.0,
        "dropped": sample.dropped,
        "unlabelled": len(sample.queries.keys() - labelled),
        "strangers": len(labelled - sample.queries.keys()),
    }


def _figures(evaluation: Evaluation, run: RunEvaluation, draw: _Draw) -> RunFigures:
    column = {k: index for index, k in enumerate(evaluation.cutoffs.tolist())}
    values = [
        draw.of(run.whole[measure] if k is None else run.values[measure][:, column[k]])
        for measure, k in evaluation.keys
    ]
    table = np.stack(values, axis=1)
    means = weighted_means(table, draw.design)
    low, high = means.limits(draw.level)
    figures: dict[str, Figure] = {}
    for place, (measure, k) in enumerate(evaluation.keys):
        before = run.figures[key_of(measure, k)]
        figure: Figure = {
            "mean": plain(means.mean[place]),
            "low": plain(low[place]),
            "high": plain(high[place]),
            "queries": int(np.count_nonzero(~np.isnan(table[:, place]))),
        }
        if measure == "recall" and k is not None:
            figure |= _of_recall(run, draw, column[k])
        if "mean_of_retrieved" in before and k is not None:
            counts = run.counted.counts
            retrieved, judged = counts.retrieved[:, column[k]], counts.judged[:, column[k]]
            share = np.full(len(retrieved), np.nan)
            np.divide(judged, retrieved, out=share, where=(retrieved > 0) & run.scored)
            figure["mean_of_retrieved"] = _mean(draw.of(share), draw.design)
        figures[key_of(measure, k)] = figure
    return figures


def _of_recall(run: RunEvaluation, draw: _Draw, at: int) -> Figure:
    rows, design = draw.rows, draw.design
    counts, scored = run.counted.counts, run.scored[rows] & draw.inside
    hits = (counts.hits[rows, at] * scored).astype(np.float64)
    relevant = (counts.relevant[rows] * scored).astype(np.float64)
    more: Figure = {}  # type: ignore[typeddict-item]  # joined to a figure that has the rest
    more["micro"] = plain(ratio_means(hits[:, None], relevant[:, None], design).mean[0])
    lower, upper = run.bounds or (None, None)
    more["bounds"] = [None if one is None else _mean(draw.of(one[:, at]), design) for one in (lower, upper)]
    ties = run.counted.ties
    if ties is not None:
        shares = [
            _mean(np.where(scored, side[rows, at] / np.maximum(relevant, 1), np.nan), design)
            for side in (ties.least, ties.expected, ties.most)
        ]
        if shares[0] != shares[2]:
            more["ties"] = {"min": shares[0], "expected": shares[1], "max": shares[2]}
    return more


def _mean(values: Floats, design: Design) -> float | None:
    return plain(weighted_means(values[:, None], design).mean[0])


def weighted_notes(how: WeightedHow) -> Sequence[str]:
    """What a reader of means over drawn queries must know, one sentence each."""
    if how["target"] == "none":
        asked = "but people ask some more often than others"
        some = f"; {_outside(how['strangers'])}" if how["strangers"] else ""
        return [f"Each query counts once, {asked}: {how['drawn']} were drawn from a log{some}."]
    # How many distinct queries a table left out is not known.
    is_traffic = how["target"] == "traffic"
    unit = "the traffic of the log" if is_traffic else "the distinct queries of the log's table"
    rest = "it" if is_traffic else "them, and for none that the table left out"
    notes = [
        f"Weighted to {unit} ({how['words'].removeprefix('weights: ')}): {how['drawn']} drawn "
        f"queries, worth {how['effective']:.0f} of equal weight; those with a value speak for "
        f"{100 * how['speaks_for']:.0f} % of {rest}."
    ]
    if how["age_days"] is None:
        notes.append("The draw does not tell the days of its log, so its age is unknown.")
    elif how["age_days"] > OLD_DAYS:
        notes.append(f"The log ended {how['age_days']} days ago; draw from a newer one.")
    if how["dropped"] or how["unlabelled"]:
        notes.append(
            f"{counted(how['dropped'], 'drawn query')} {plural(how['dropped'], 'was', 'were')} dropped and "
            f"{how['unlabelled']} {plural(how['unlabelled'], 'has', 'have')} no label; the others of their "
            "strata speak for them."
        )
    if how["strangers"]:
        notes.append(f"{_outside(how['strangers'])} and in no mean.")
    return notes


def _outside(count: int) -> str:
    is_or_are = plural(count, "is", "are")
    return f"{counted(count, 'labelled query')} {is_or_are} outside the draw"


# What would be over the drawn queries alone, next to means over the log.
_UNWEIGHTED = {"by": "--by", "html": "--html", "facts": "--facts", "spans": "--spans", "against": "--against"}


def refuse_with_weights(options: Mapping[str, Any]) -> None:
    """ValueError for --weights without its queries, and for what is not taken back to a log."""
    if options["weights"] is None:
        return
    if options["queries"] is None:
        raise ValueError(
            "--weights needs the drawn queries; name the file of draw_queries with --queries FILE."
        )
    for name, written in _UNWEIGHTED.items():
        if options[name]:
            raise ValueError(f"{written} is not weighted; leave it out, or --weights.")


def weighted_result(
    result: Evaluation, options: Mapping[str, Any], domain: Collection[str] | None
) -> Evaluation:
    """The result taken back to the log where the options ask for it, with notes. domain: of `weighted`."""
    if options["weights"] is None:
        return result

    sample = sample_of(read_queries(options["queries"]))
    today = datetime.now(UTC).date()
    made = weighted(result, sample, options["weights"], today=today, domain=domain)
    return replace(made, notes=(*made.notes, *weighted_notes(made.settings["weights"])))
